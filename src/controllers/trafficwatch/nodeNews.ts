import { nodeChanged, type CachedNode } from '../../nodes/cachedNode.ts';
import type { InformerEvent } from '../../runtime/informer.ts';
import type { WrittenObjects } from '../../runtime/writtenObjects.ts';
import { orphanedKeys } from './decide/orphans.ts';

/**
 * Whether an event tells something of a Node that this process does not know yet: neither is a heartbeat news, nor what
 * itself has written there, nor how a Node was before that. Without it, labelling ten thousand nodes would be ten
 * thousand reasons to look again. To be asked when no answer to a write of that Node is awaited: the event that the write
 * leads to may come before it.
 */
export function isNews(event: InformerEvent<CachedNode>, written: WrittenObjects<CachedNode>): boolean {
  if (event.type !== 'update' || event.old === undefined) return true;
  const { name, addresses } = event.object;
  const known = written.latest(name, event.old) ?? event.old;
  const newest = written.latest(name, event.object) ?? event.object;
  // The answer to a write of labels is metadata alone, and knows no addresses.
  return nodeChanged({ ...known, addresses: event.old.addresses }, { ...newest, addresses });
}

/**
 * Whether a Node carries a label of ours that nobody answers for.
 * @param isClaimed whether a TrafficWatch uses this label key
 */
export function carriesOrphan(node: CachedNode, isClaimed: (key: string) => boolean): boolean {
  return orphanedKeys(node, isClaimed).length > 0;
}
