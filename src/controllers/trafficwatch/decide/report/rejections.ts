import { Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { PlannedEvent } from '../../../../runtime/status/conditionEvents.ts';

/** A pod of the TrafficWatch's Deployment that a kubelet rejected for its node affinity. */
export interface Rejection {
  readonly uid: string;
  readonly pod: string;
  readonly node: string;
  /** When the pod failed, ms since the epoch by the node's clock; undefined where the kubelet did not say. */
  readonly failedAt: number | undefined;
}

/** What there is to tell of rejections. */
export interface RejectionDecision {
  readonly events: readonly PlannedEvent[];
  /** UIDs of all pods that were looked at: the `seen` of the next decision. */
  readonly seen: ReadonlySet<string>;
}

/**
 * A failed pod stays until the pod garbage collector takes it. An operator that starts does not tell of old ones again;
 * one that takes over within the promised 30 s still does.
 */
const NEWS_FOR_MS = 5 * 60_000;
/** An event's note has room for 1 KiB, a pod's name has up to 253 characters, mostly far fewer. */
const NAMED_AT_MOST = 5;

/**
 * One event for each unfit node whose kubelet has rejected pods that were not looked at before.
 *
 * | Pod was looked at before | node is unfit | failed within 5 minutes | then      |
 * |--------------------------|---------------|-------------------------|-----------|
 * | yes                      | any           | any                     | silent    |
 * | no                       | no            | any                     | silent: the affinity that failed is the user's own |
 * | no                       | yes           | no                      | silent    |
 * | no                       | yes           | yes, or not known       | told      |
 */
export function decideRejections(input: {
  rejections: readonly Rejection[];
  seen: ReadonlySet<string>;
  unfitNodes: ReadonlySet<string>;
  now: number;
}): RejectionDecision {
  const news = input.rejections.filter(
    ({ uid, node, failedAt = input.now }) =>
      !input.seen.has(uid) && input.unfitNodes.has(node) && input.now - failedAt <= NEWS_FOR_MS,
  );
  const nodes = [...new Set(news.map(({ node }) => node))].sort();
  const podsOn = (of: string): string[] => news.filter(({ node }) => node === of).map(({ pod }) => pod);
  return {
    events: nodes.map((node) => eventOf(node, podsOn(node).sort())),
    seen: new Set(input.rejections.map(({ uid }) => uid)),
  };
}

function eventOf(node: string, pods: readonly string[]): PlannedEvent {
  const more = pods.length - NAMED_AT_MOST;
  const named = `${pods.slice(0, NAMED_AT_MOST).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const note =
    `the kubelet of node ${node} restarted while the node was unfit and rejected ${pods.length} ` +
    `pod${pods.length === 1 ? '' : 's'}, whose required node affinity did not hold any more: ${named}; ` +
    'set spec.placement to Preferred, or move pods before maintenance (kubectl drain)';
  return { type: 'Warning', reason: Reason.PodsRejected, note };
}
