import { Reason } from '../../../../api/trafficwatch/reasons.ts';
import { firstOf } from '../../../../runtime/status/cut.ts';
import type { PlannedEvent } from '../../../../runtime/status/conditionEvents.ts';

/** A pod of the TrafficWatch's workload that a kubelet rejected, and that requires that its node is not unfit. */
export interface Rejection {
  readonly uid: string;
  readonly pod: string;
  readonly node: string;
  /** When the pod failed, ms since the epoch by the node's clock; undefined where the kubelet did not say. */
  readonly failedAt: number | undefined;
}

/** The events for rejected pods. */
export interface RejectionDecision {
  readonly events: readonly PlannedEvent[];
  /** UIDs of all rejected pods: the input `seen` of the next decision. */
  readonly seen: ReadonlySet<string>;
}

/**
 * Rejections older than this get no event: ms. A failed pod stays until the pod garbage collector deletes it, and an
 * operator that starts must not report old pods again. A new leader that takes over within 30 s still reports them.
 */
const NEWS_FOR_MS = 5 * 60_000;
/** Maximum number of pods that an event names. A note holds 1 KiB; a pod name rarely has the maximum of 253 bytes. */
const NAMED_AT_MOST = 5;

/**
 * One event for each unfit node whose kubelet rejected pods that were not seen before.
 *
 * | pod in `seen` | node is unfit | failed within 5 minutes | event                                           |
 * |---------------|---------------|-------------------------|-------------------------------------------------|
 * | yes           | any           | any                     | no                                              |
 * | no            | no            | any                     | no: the affinity that failed is the user's own  |
 * | no            | yes           | no                      | no                                              |
 * | no            | yes           | yes, or not known       | yes                                             |
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
  const note =
    `the kubelet of node ${node} restarted while the node was unfit and rejected ${pods.length} ` +
    `pod${pods.length === 1 ? '' : 's'}, whose required node affinity no longer matched: ${firstOf(pods, NAMED_AT_MOST)}; ` +
    'set spec.placement to Preferred, or move pods before maintenance (kubectl drain)';
  return { type: 'Warning', reason: Reason.PodsRejected, note };
}
