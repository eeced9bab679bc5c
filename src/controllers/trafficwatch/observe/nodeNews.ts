import { nodeChanged, type CachedNode } from '../../../nodes/cachedNode.ts';
import type { InformerEvent } from '../../../runtime/cache/informer.ts';
import type { WrittenObjects } from '../../../runtime/cache/writtenObjects.ts';
import { orphanedKeys } from '../decide/labels/orphans.ts';

/**
 * Whether an event tells something of a Node that this process does not know yet: neither is a heartbeat news, nor what
 * itself has written there, nor how a Node was before that. Without it, labelling ten thousand nodes would be ten
 * thousand reasons to look again. True of the event that a write leads to when it comes before the answer.
 */
function isNews(event: InformerEvent<CachedNode>, written: WrittenObjects<CachedNode>): boolean {
  if (event.type !== 'update' || event.old === undefined) return true;
  const { name, addresses } = event.object;
  const known = written.latest(name, event.old) ?? event.old;
  const newest = written.latest(name, event.object) ?? event.object;
  // The answer to a write of labels is metadata alone, and knows no addresses.
  return nodeChanged({ ...known, addresses: event.old.addresses }, { ...newest, addresses });
}

/** What tells whether an event is news. */
export interface Known {
  /** What this process wrote. */
  readonly written: WrittenObjects<CachedNode>;
  /** Resolves with the answer to the patch of this Node that is under way; undefined when there is none. */
  readonly underWay: (node: string) => Promise<unknown> | undefined;
}

/**
 * Calls `look` when an event is news: at once, or, while a patch of that Node is under way, when the answer to it is
 * there, and only if that does not tell the same.
 */
export function lookIfNews(event: InformerEvent<CachedNode>, { written, underWay }: Known, look: () => void): void {
  const decide = (): void => {
    if (isNews(event, written)) look();
  };
  const answer = event.type === 'update' ? underWay(event.object.name) : undefined;
  if (answer === undefined) decide();
  else void answer.then(decide);
}

/**
 * Whether a Node carries a label of ours that nobody answers for.
 * @param isClaimed whether a TrafficWatch uses this label key
 */
export function carriesOrphan(node: CachedNode, isClaimed: (key: string) => boolean): boolean {
  return orphanedKeys(node, isClaimed).length > 0;
}
