import { nodeChanged, type CachedNode } from '../../../nodes/cachedNode.ts';
import type { InformerEvent } from '../../../runtime/cache/informer.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import { orphanedKeys } from '../decide/labels/orphans.ts';

/**
 * Whether an event tells something of a Node that this process does not know yet: neither is a heartbeat news, nor what
 * itself has written there, nor how a Node was before that. Without it, labelling ten thousand nodes would be ten
 * thousand reasons to look again. True of the event that a write leads to when it comes before the answer.
 */
function isNews(event: InformerEvent<CachedNode>, nodes: Known['nodes']): boolean {
  if (event.type !== 'update' || event.old === undefined) return true;
  const { addresses } = event.object;
  const known = nodes.newest(event.old);
  const newest = nodes.newest(event.object);
  // The answer to a write of labels is metadata alone, and knows no addresses.
  return nodeChanged({ ...known, addresses: event.old.addresses }, { ...newest, addresses });
}

/** What tells whether an event is news. */
export interface Known {
  /** The Nodes, with what this process wrote over them. */
  readonly nodes: Pick<Overlay<CachedNode>, 'newest'>;
  /** Resolves with the answer to the patch of this Node that is under way; undefined when there is none. */
  readonly underWay: (node: string) => Promise<unknown> | undefined;
}

/**
 * Calls `look` when an event is news: at once, or, while a patch of that Node is under way, when the answer to it is
 * there, and only if that does not tell the same.
 */
export function lookIfNews(event: InformerEvent<CachedNode>, { nodes, underWay }: Known, look: () => void): void {
  const decide = (): void => {
    if (isNews(event, nodes)) look();
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
