import { modeOf } from '../../../../api/trafficwatch/spec/mode.ts';
import { directionOf } from '../../../../api/trafficwatch/spec/reading.ts';
import { ConditionType, Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { TrafficWatch, TrafficWatchStatus } from '../../../../api/trafficwatch/schema.ts';
import { recoveryOf, thresholdOf } from '../../../../api/trafficwatch/spec/verdict.ts';
import {
  conditionEvents,
  STANDARD_TYPES,
  type ConditionRules,
  type PlannedEvent,
  firstOf,
} from '../../../../runtime/controller/conditions.ts';
import type { Observation } from '../../observe/observation.ts';
import type { Failure } from '../../../../runtime/process/problem.ts';
import { sideOfLabel } from '../../model/label.ts';
import type { Plan } from '../plan.ts';
import { HELD_BY_BREAKER } from '../verdict/breaker.ts';
import { NO_DATA_FIT, NO_DATA_UNFIT } from '../verdict/policies.ts';
import { podSelectorOf } from '../workload/podPlacement.ts';
import { MAX_NODES_IN_FULL } from './statusNodes.ts';
import { placementOf } from '../../../../api/trafficwatch/spec/placement.ts';
import { formatCapacity } from '../../../../usage/evaluate/capacity.ts';
import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';

/** If more nodes than this change their verdict in one pass, one event counts them instead of one event for each. */
const NODE_EVENTS_AT_MOST = 10;

/** Which condition changes emit events. */
const CONDITION_RULES: ConditionRules = {
  types: {
    ...STANDARD_TYPES,
    // A broken Prometheus may refuse connections in one pass and time out in the next. That is one outage and one
    // event; the condition shows the newest reason.
    [ConditionType.PrometheusReachable]: { healthy: 'True', whileUnhealthy: 'nothing' },
    [ConditionType.MetricsAvailable]: { healthy: 'True' },
    // A number of nodes that moves around the limit is one opening: the cooldown is to be quiet.
    [ConditionType.BreakerOpen]: { healthy: 'False', whileUnhealthy: 'nothing' },
    [ConditionType.TargetFound]: { healthy: 'True' },
    [ConditionType.InjectionUnavailable]: { healthy: 'False' },
    [ConditionType.NoFitNode]: { healthy: 'False' },
  },
  silent: new Set([Reason.Deciding, Reason.PlacementPending]),
};

interface Turned {
  readonly name: string;
  /** The reason of the new verdict. */
  readonly reason: string;
}

/** Reasons of nodes that turned without a figure. */
const WITHOUT_FIGURE: ReadonlySet<string> = new Set([NO_DATA_UNFIT, NO_DATA_FIT]);

type Side = 'Fit' | 'Unfit';

/** Up to MAX_NODES_IN_FULL nodes, the previous status says which nodes were unfit. */
function turnedByStatus(before: TrafficWatchStatus | undefined, after: TrafficWatchStatus, to: Side): Turned[] {
  return Object.entries(after.nodes ?? {}).flatMap(([name, node]) => {
    // Compare labels, not verdicts: a node that was Unknown in between did not turn. A first Fit is no event.
    const wasUnfit = before?.nodes?.[name]?.unfit ?? false;
    return node.verdict === to && node.reason !== HELD_BY_BREAKER && wasUnfit !== (to === 'Unfit')
      ? [{ name, reason: node.reason }]
      : [];
  });
}

/** In a larger cluster, the status lists only some nodes. Compare the new labels with the present ones. */
function turnedByLabel(o: Observation, plan: Plan, to: Side): Turned[] {
  const contested = new Set(plan.contended.map(({ node }) => node));
  return [...plan.labels.keys()].flatMap((name) => {
    // A contended label was changed by another client. It does not show the previous verdict.
    if (contested.has(name)) return [];
    const place = o.view.figures.places.get(name) ?? -1;
    const verdict = plan.verdicts[place];
    const labels = o.view.nodes[place]?.labels ?? {};
    const wasUnfit = o.keys.claimed.some((key) => sideOfLabel(labels[key]) === 'above');
    // The condition BreakerOpen reports the nodes that are held back.
    if (verdict?.side === undefined || verdict.reason === HELD_BY_BREAKER) return [];
    if (verdict.verdict !== to || wasUnfit === (to === 'Unfit')) return [];
    return [{ name, reason: verdict.reason }];
  });
}

function turned({ o, plan, after, failures }: Reported, to: Side): Turned[] {
  if (o.view.nodes.length <= MAX_NODES_IN_FULL) return turnedByStatus(o.watch.status, after, to);
  // A label whose write failed is written again, and would emit the event twice.
  return failures.length > 0 ? [] : turnedByLabel(o, plan, to);
}

function nodeEvents(reported: Reported, to: Side): PlannedEvent[] {
  const nodes = turned(reported, to);
  const reason = to === 'Unfit' ? Reason.NodeUnfit : Reason.NodeFit;
  const type = to === 'Unfit' ? 'Warning' : 'Normal';
  return notesOf(reported.o, nodes, to).map((note) => ({ type, reason, note }));
}

function notesOf({ watch, view }: Observation, nodes: readonly Turned[], to: Side): string[] {
  const max = thresholdOf(watch.spec);
  const limit = to === 'Unfit' ? max : recoveryOf(watch.spec);
  const dry = modeOf(watch.spec) === 'Observe' ? 'dry run: ' : '';
  const turnedTo = `turned ${to.toLowerCase()}`;
  if (nodes.length > NODE_EVENTS_AT_MOST) {
    const side = to === 'Unfit' ? 'above' : 'not above';
    const lacking = nodes.some((node) => WITHOUT_FIGURE.has(node.reason)) ? ', or without a figure (missingData)' : '';
    return [`${dry}${nodes.length} nodes ${turnedTo}: ${side} ${limit} %${lacking}`];
  }
  const threshold = limit === max ? `threshold ${limit} %` : `recovery threshold ${limit} %`;
  return nodes.map(({ name, reason }) => {
    const node = `${dry}node ${name} ${turnedTo}`;
    if (WITHOUT_FIGURE.has(reason)) return `${node}: no figure (missingData)`;
    const figure = figureText(view.passes[0]?.nodes.get(name), limit);
    return figure === '' ? `${node} (${threshold})` : `${node}: ${figure} (${threshold})`;
  });
}

function allUnfit(status: TrafficWatchStatus | undefined): boolean {
  return (status?.unfitNodes ?? 0) > 0 && status?.fitNodes === 0 && status.unknownNodes === 0;
}

function specEvents(watch: TrafficWatch, after: TrafficWatchStatus): PlannedEvent[] {
  const changed = watch.status?.observedGeneration !== after.observedGeneration;
  // Both directions of a full-duplex link together are up to 200 % of its speed.
  const full = directionOf(watch.spec) === 'Sum' ? 200 : 100;
  if (!changed || !(thresholdOf(watch.spec) >= full)) return [];
  // A figure above 100 is possible: counters are sampled, and an annotated capacity may be too low.
  const note = `maxBandwidthPercent is ${watch.spec.maxBandwidthPercent}: a node whose traffic is within its capacity will never be unfit, only a node that is measured above its capacity`;
  return [{ type: 'Warning', reason: Reason.ThresholdAtCapacity, note }];
}

/** The observation, the plan, the failed writes, and the new status. */
interface Reported {
  readonly o: Observation;
  readonly plan: Plan;
  readonly after: TrafficWatchStatus;
  readonly failures: readonly Failure[];
}

/** The events for the changes from the present status of the object to the new one. None if nothing changed. */
export function decideEvents(reported: Reported): PlannedEvent[] {
  const { after, o } = reported;
  const before = o.watch.status;
  const everything = allUnfit(after) && !allUnfit(before);
  const note = describeAllUnfit(o, reported.plan);
  return [
    ...conditionEvents(before?.conditions, after.conditions, CONDITION_RULES),
    ...specEvents(o.watch, after),
    ...nodeEvents(reported, 'Unfit'),
    ...nodeEvents(reported, 'Fit'),
    ...(everything ? [{ type: 'Warning', reason: Reason.AllNodesUnfit, note } as const] : []),
  ];
}

/**
 * Says what it means for pods that every node is unfit.
 *
 * | mode    | pods get the affinity                   | placement  | new pods                     |
 * |---------|-----------------------------------------|------------|------------------------------|
 * | Observe | any                                     | any        | run on any node: no label is written |
 * | Enforce | no: neither policy nor webhook, no room for the TrafficWatch, its entry is not written, or no pods of its target are known | any | run on any node |
 * | Enforce | yes, or not known                       | Preferred  | run on unfit nodes           |
 * | Enforce | yes                                     | AtCreation, with a policy that is older, or with more unfit nodes than the list holds | the same |
 * | Enforce | yes, or not known                       | Required, AtCreation | find no node       |
 *
 * With a selector, the nodes that it leaves out take pods.
 */
function describeAllUnfit(o: Observation, plan: Pick<Plan, 'avoided'>): string {
  const which = o.view.outside.length === 0 ? 'every node' : 'every selected node';
  if (modeOf(o.watch.spec) === 'Observe') {
    return `${which} would be unfit: mode Observe writes no label, so pods run on any node`;
  }
  return `${which} is unfit: running pods are not moved, ${newPods(o, plan)}`;
}

function newPods(o: Observation, plan: Pick<Plan, 'avoided'>): string {
  const hasOthers = o.view.outside.length > 0;
  const why = withoutAffinity(o);
  if (why !== undefined) return `new pods run on any node, since ${why}`;
  if (onlyPrefers(o, plan)) {
    return hasOthers
      ? 'new pods prefer nodes that spec.nodeSelector leaves out, and may run on unfit nodes'
      : 'new pods run on unfit nodes, since they only prefer fit ones';
  }
  return `new pods find ${hasOthers ? 'only nodes that spec.nodeSelector leaves out' : 'no node'}`;
}

/** Why pods of a workload that the operator does not own are known to get no affinity. Undefined if they get it, or if it is not known. */
function withoutAffinity(o: Observation): string | undefined {
  const { workload, watch } = o;
  if (workload === undefined) return undefined;
  const { policy, placed } = workload;
  if (policy.reason === Reason.WebhookNotReady) return 'the placement webhook cannot be called';
  if (policy.reason === Reason.PolicyNotServed || policy.reason === Reason.PolicyMissing) {
    return 'neither an admission policy nor the webhook adds the node affinity';
  }
  const { kind, name } = watch.spec.targetRef ?? {};
  if (podSelectorOf(o) === undefined) return `no pods of ${kind} ${name} are known`;
  if (placed.isOmitted === true) return 'the PodPlacement has no room for this TrafficWatch';
  const isUnwritten = placed.problem !== undefined && placed.entry === undefined;
  return isUnwritten ? 'the PodPlacement does not have this TrafficWatch' : undefined;
}

function onlyPrefers({ watch, workload }: Observation, { avoided }: Pick<Plan, 'avoided'>): boolean {
  const placement = placementOf(watch.spec);
  if (placement !== 'AtCreation') return placement === 'Preferred';
  return workload?.policy.isOutdated === true || avoided?.isComplete === false;
}

/** Maximum number of decimals. A percent that still rounds to the threshold is as good as the threshold. */
const DECIMALS_AT_MOST = 6;

/**
 * A percent for people: one decimal, or as many as show on which side of the threshold it is.
 *
 * | percent             | threshold | text            |
 * |---------------------|-----------|-----------------|
 * | 95.60602856761446   | 60        | 95.6 %          |
 * | 60.004              | 60        | 60.004 %        |
 * | 0.0037              | 20        | less than 0.1 % |
 * | 0                   | 20        | 0 %             |
 */
export function percentText(percent: number, threshold: number): string {
  if (percent > 0 && percent < 0.1 && threshold >= 0.1) return 'less than 0.1 %';
  const side = Math.sign(percent - threshold);
  for (let decimals = 1; decimals <= DECIMALS_AT_MOST; decimals += 1) {
    const rounded = Number(percent.toFixed(decimals));
    if (Math.sign(rounded - threshold) === side && (rounded !== 0 || percent === 0)) return `${rounded} %`;
  }
  return `${percent} %`;
}

/** The figure of a node for people: "95.6 % of 100 Mbit/s". '' without a percent. */
export function figureText(usage: NodeUsage | undefined, threshold: number): string {
  if (usage?.percent === undefined) return '';
  const { percent, capacityBytesPerSecond: capacity } = usage;
  const of = capacity === undefined ? '' : ` of ${formatCapacity(capacity).replace(/([A-Za-z]+)$/, ' $1/s')}`;
  return `${percentText(percent, threshold)}${of}`;
}

/** A pod of the TrafficWatch's workload that a kubelet rejected, and that requires that its node is not unfit. */
export interface Rejection {
  readonly uid: string;
  readonly pod: string;
  readonly node: string;
  /** When the pod failed, ms since the epoch by the node's clock; undefined where the kubelet did not say. */
  readonly failedAt: number | undefined;
}

/** The events for rejected pods. */
interface RejectionDecision {
  readonly events: readonly PlannedEvent[];
  /** UIDs of all rejected pods: the input `seen` of the next decision. */
  readonly seen: ReadonlySet<string>;
}

/**
 * Rejections older than this get no event: ms. A failed pod stays until the pod garbage collector deletes it, and an
 * operator that starts must not report old pods again. A new leader that takes over within 30 s still reports them.
 */
export const NEWS_FOR_MS = 5 * 60_000;
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
