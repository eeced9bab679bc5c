import { nodeChanged, type CachedNode } from '../../nodes/cachedNode.ts';
import type { InformerEvent } from '../../runtime/informer.ts';
import type { WrittenObjects } from '../../runtime/writtenObjects.ts';
import { orphanedKeys } from './decide/orphans.ts';

/**
 * Whether an event tells something of a Node that this process does not know yet: neither is a heartbeat news, nor what
 * itself has written there. Without that, labelling ten thousand nodes would be ten thousand reasons to look again.
 */
export function isNews(event: InformerEvent<CachedNode>, written: WrittenObjects<CachedNode>): boolean {
  if (event.type !== 'update' || event.old === undefined) return true;
  const known = written.latest(event.object.name, event.old) ?? event.old;
  // The answer to a write of labels is metadata alone, and knows no addresses.
  return nodeChanged({ ...known, addresses: event.old.addresses }, event.object);
}

/**
 * Whether a Node carries a label of ours that nobody answers for.
 * @param isClaimed whether a TrafficWatch uses this label key
 */
export function carriesOrphan(node: CachedNode, isClaimed: (key: string) => boolean): boolean {
  return orphanedKeys(node, isClaimed).length > 0;
}
