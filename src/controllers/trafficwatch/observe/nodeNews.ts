import type { LabelMatcher } from '../../../api/labelMatcher.ts';
import { labelOf, nodeChanged, type CachedNode } from '../../../nodes/cachedNode.ts';
import type { InformerEvent } from '../../../runtime/cache/informer.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import { orphanedKeys } from '../decide/labels/orphans.ts';

/**
 * Whether an event of a Node contains a change that this process does not know yet. Heartbeats, this process's own
 * writes and states from before these writes are no news. Otherwise labelling ten thousand nodes would enqueue the
 * TrafficWatches ten thousand times. Exception: the event of an own write counts as news if it arrives before the
 * response to that write.
 */
function isNews(event: InformerEvent<CachedNode>, { nodes, demands }: Pick<Known, 'nodes' | 'demands'>): boolean {
  if (event.type !== 'update' || event.old === undefined) return true;
  const { addresses } = event.object;
  const known = nodes.newest(event.old);
  const newest = nodes.newest(event.object);
  // The response to a label write contains only metadata, no addresses.
  const hasChanged = nodeChanged({ ...known, addresses: event.old.addresses }, { ...newest, addresses });
  return hasChanged || entersOrLeaves(demands.selectors, known, newest);
}

/** Whether a Node enters or leaves the selection of any selector between these two states. */
function entersOrLeaves(selectors: Iterable<LabelMatcher>, one: CachedNode, other: CachedNode): boolean {
  if (one.otherLabels === other.otherLabels && one.hostname === other.hostname) return false;
  for (const matches of selectors) {
    if (matches((key) => labelOf(one, key)) !== matches((key) => labelOf(other, key))) return true;
  }
  return false;
}

/** The state that decides whether an event is news. */
export interface Known {
  /** The Nodes, overlaid with this process's own writes. */
  readonly nodes: Pick<Overlay<CachedNode>, 'newest'>;
  /** Other labels are news only if a TrafficWatch selects nodes by them. */
  readonly demands: { readonly selectors: Iterable<LabelMatcher> };
  /** Resolves when the running patch of this Node has a response; undefined if no patch is running. */
  readonly underWay: (node: string) => Promise<unknown> | undefined;
}

/**
 * Calls `look` if an event is news. While a patch of the Node is running, decides only after its response, so that the
 * event of that patch does not count.
 */
export function lookIfNews(event: InformerEvent<CachedNode>, known: Known, look: () => void): void {
  const decide = (): void => {
    if (isNews(event, known)) look();
  };
  const answer = event.type === 'update' ? known.underWay(event.object.name) : undefined;
  if (answer === undefined) decide();
  else void answer.then(decide);
}

/**
 * Whether a Node has a label that the operator wrote and no TrafficWatch claims.
 * @param isClaimed whether a TrafficWatch claims this label key
 */
export function carriesOrphan(node: CachedNode, isClaimed: (key: string) => boolean): boolean {
  return orphanedKeys(node, isClaimed).length > 0;
}
