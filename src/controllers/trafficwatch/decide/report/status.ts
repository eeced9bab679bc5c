import { modeOf } from '../../../../api/trafficwatch/spec/mode.ts';
import { isLabelKey } from '../../../../api/trafficwatch/labelKey.ts';
import { ConditionType, Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { BlockedPods, NodeStatus } from '../../../../api/trafficwatch/statusSchema.ts';
import type { TrafficWatch, TrafficWatchStatus } from '../../../../api/trafficwatch/schema.ts';
import { thresholdOf } from '../../../../api/trafficwatch/spec/verdict.ts';
import { formatCapacity } from '../../../../usage/evaluate/capacity.ts';
import { formatPercent, type NodeUsage } from '../../../../usage/evaluate/percent.ts';
import type { NodeView, Observation } from '../../observe/observation.ts';
import { metaTime, setCondition, cut, terminatingConditions } from '../../../../runtime/controller/conditions.ts';
import { decideConditions, withSteadyBreaker } from './conditions.ts';
import type { Failure } from '../../../../runtime/process/problem.ts';
import { sideOfLabel } from '../../model/label.ts';
import { changedAt, createLastSide } from '../labels/lastVerdict.ts';
import { wasDecided, type Plan } from '../plan.ts';
import { alwaysListed, MAX_NODES_IN_FULL, mostUrgent, selectNodes, type Listing } from './statusNodes.ts';
import type { NodeVerdict } from '../verdict/nodeVerdict.ts';
import { LONGEST_PROBLEM } from './measurementConditions.ts';
import { mayHaveLabels } from '../../model/labelKeys.ts';

/** Beyond MAX_NODES_IN_FULL nodes, the interval between writes if only figures changed: seconds. */
const FIGURES_INTERVAL_SECONDS = 60;

/**
 * Whether the scheduler sees the node as unfit: by the label that is written now, or else by the present label. With
 * mode Observe: whether it would.
 */
function isUnfit(o: Observation, node: NodeView, verdict: NodeVerdict): boolean {
  const isDryRun = modeOf(o.watch.spec) === 'Observe';
  const last = isDryRun ? createLastSide(o)(node) : sideOfLabel(node.labels[o.keys.spec ?? '']);
  return (verdict.side ?? last) === 'above';
}

/**
 * Since when the node has its verdict. For a node that the last status lists, that is its `since`, or now if the
 * verdict changed. Undefined if the last status omitted the node for size and its label agrees with the verdict: the
 * time is not known then.
 */
function sinceOf(o: Observation, node: NodeView, verdict: NodeVerdict): string | undefined {
  const before = o.watch.status?.nodes?.[node.name];
  if (before) return before.verdict === verdict.verdict ? before.since : metaTime(o.now);
  const unchanged = verdict.side !== undefined && sideOfLabel(node.labels[o.keys.spec ?? '']) === verdict.side;
  return unchanged && o.view.nodes.length > MAX_NODES_IN_FULL ? undefined : metaTime(o.now);
}

/** With mode Observe: since when the node would have its label. Undefined without a label, or if that is not known. */
function labelSinceOf(o: Observation, node: NodeView, verdict: NodeVerdict): string | undefined {
  if (modeOf(o.watch.spec) !== 'Observe') return undefined;
  const last = createLastSide(o)(node);
  if (verdict.side !== undefined && verdict.side !== last) return metaTime(o.now);
  const at = last === undefined ? undefined : changedAt(o, node);
  return at === undefined ? undefined : metaTime(at);
}

/** True if the node has a transmit rate. A node of unknown capacity has a rate, but no percent. */
function hasRate(usage: NodeUsage | undefined): usage is NodeUsage {
  return usage?.percent !== undefined || usage?.bytesPerSecond !== undefined;
}

/** The capacity that the percent refers to. A node whose samples are missing has no known capacity either. */
function capacityOf(usage: NodeUsage | undefined): Pick<NodeStatus, 'capacity' | 'capacitySource'> {
  const { capacityBytesPerSecond, capacitySource } = usage ?? {};
  if (capacityBytesPerSecond === undefined || capacitySource === undefined) return {};
  return { capacity: formatCapacity(capacityBytesPerSecond), capacitySource };
}

function nodeStatus(o: Observation, node: NodeView, verdict: NodeVerdict): NodeStatus {
  const usage = o.view.passes[0]?.nodes.get(node.name);
  const since = sinceOf(o, node, verdict);
  const labelSince = labelSinceOf(o, node, verdict);
  const message = whyUnknown(usage, verdict) ?? describeFullDevice(usage, thresholdOf(o.watch.spec));
  return {
    currentBandwidthPercent: usage?.percent === undefined ? '' : formatPercent(usage.percent),
    ...(usage?.transmitBytesTotal === undefined ? {} : { currentTransmitTotal: usage.transmitBytesTotal }),
    ...capacityOf(usage),
    ...(hasRate(usage) ? { time: Math.trunc(usage.timeSeconds) } : {}),
    unfit: isUnfit(o, node, verdict),
    verdict: verdict.verdict,
    reason: verdict.reason,
    ...(message === undefined ? {} : { message }),
    ...(since === undefined ? {} : { since }),
    ...(labelSince === undefined ? {} : { labelSince }),
  };
}

/**
 * A constant offset for the TrafficWatch, below FIGURES_INTERVAL_SECONDS: seconds. The FNV-1a hash of its random UID.
 * http://www.isthe.com/chongo/tech/comp/fnv/
 */
function offsetOf({ metadata }: TrafficWatch): number {
  let hash = 0x811c9dc5;
  for (const char of metadata?.uid ?? '') hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193) >>> 0;
  return hash % FIGURES_INTERVAL_SECONDS;
}

/**
 * The number of the minute. Minutes begin at another second for each TrafficWatch. Otherwise all TrafficWatches would
 * write their status in the same pass, and the API server would receive fifty statuses at once.
 */
function minuteOf(watch: TrafficWatch, seconds: number): number {
  return Math.floor((seconds + offsetOf(watch)) / FIGURES_INTERVAL_SECONDS);
}

/**
 * In a large cluster, the figures of the last status stay until a new minute begins. Both times are from Prometheus,
 * because its clock may be minutes off ours. A difference of -1 counts as the same minute: of two Prometheus servers
 * behind one address, one may be behind the other.
 */
function keepsFigures({ watch, view }: Observation): boolean {
  const [newest] = view.passes;
  if (view.nodes.length <= MAX_NODES_IN_FULL || newest?.timeSeconds === undefined) return false;
  const times = Object.values(watch.status?.nodes ?? {}).map((n) => n.time ?? 0);
  const written = times.reduce((a, b) => Math.max(a, b), 0);
  const minutesSince = minuteOf(watch, newest.timeSeconds) - minuteOf(watch, written);
  return minutesSince === 0 || minutesSince === -1;
}

/**
 * Whether the nodes of the last status are still correct: each verdict is unchanged, and every node of alwaysListed is
 * in the list. A change among the hottest nodes can wait.
 */
function stillHolds(before: Record<string, NodeStatus>, o: Observation, listing: Listing): boolean {
  const { places } = o.view.figures;
  for (const [name, was] of Object.entries(before)) {
    const place = places.get(name);
    const node = place === undefined ? undefined : o.view.nodes[place];
    const verdict = place === undefined ? undefined : listing.verdicts[place];
    if (node === undefined || verdict?.verdict !== was.verdict || verdict.reason !== was.reason) return false;
    if (isUnfit(o, node, verdict) !== was.unfit) return false;
  }
  return alwaysListed(listing).every((name) => Object.hasOwn(before, name));
}

/** The nodes of the status. Computes a NodeStatus only for listed nodes, because a large cluster lists only a few. */
function listedNodes(o: Observation, { verdicts }: Plan): Record<string, NodeStatus> {
  const { measured: candidates, hottest } = o.view.figures;
  const listing = { candidates, verdicts, hottest, urgent: mostUrgent(candidates, verdicts) };
  const before = o.watch.status?.nodes;
  if (before && keepsFigures(o) && stillHolds(before, o, listing)) return before;
  const listed: Record<string, NodeStatus> = {};
  for (const { node, verdict } of selectNodes(listing)) {
    listed[node.name] = nodeStatus(o, node, verdict);
  }
  return listed;
}

/** The last blocked pods stay while the pods are not read. They are absent if the pods may not be read. */
function blockedPodsOf({ watch }: Observation, { blocked }: Plan): BlockedPods | undefined {
  if (blocked.kind === 'NotRead') return watch.status?.blockedPods;
  return blocked.kind === 'Known' ? blocked.pods : undefined;
}

/** The pods that the policy selects, and the target that they belong to. */
function selected({ watch }: Observation, { podSelector }: Plan): Pick<TrafficWatchStatus, 'podSelector' | 'target'> {
  const { targetRef } = watch.spec;
  if (podSelector === undefined) return {};
  return targetRef === undefined ? { podSelector } : { podSelector, target: targetRef };
}

/** With a status of PKopel/traffic-operator: its key, which nothing shows any longer once the status has a mode. */
function keyInUse({ keys: { inUse } }: Observation): Pick<TrafficWatchStatus, 'labelKey'> {
  return isLabelKey(inUse) ? { labelKey: inUse } : {};
}

/**
 * The desired status. The last counts and nodes stay if the TrafficWatch is stalled and writes no labels, and until
 * the first pass after a start of the operator. The figures in `nodes` change with every pass up to MAX_NODES_IN_FULL
 * nodes, and once a minute beyond; verdicts change at once.
 */
export function decideStatus(o: Observation, plan: Plan, failures: readonly Failure[]): TrafficWatchStatus {
  const decidedNow = decideConditions(o, plan, failures, metaTime(o.now));
  const conditions = keepsFigures(o) ? withSteadyBreaker(decidedNow, o.watch.status?.conditions) : decidedNow;
  const ready = conditions.find((c) => c.type === ConditionType.Ready)?.status === 'True';
  const decided = plan.decided || wasDecided(o.watch);
  const observedGeneration = o.watch.metadata?.generation;
  const mode = modeOf(o.watch.spec);
  const status = {
    ready,
    ...(decided && { decided }),
    conditions,
    observedGeneration,
    mode,
    plan: plan.planned,
    blockedPods: blockedPodsOf(o, plan),
  };
  const touchesNothing = plan.verdicts.length === 0 && plan.stall !== undefined;
  const knowsNothingYet = o.view.passes.length === 0 && o.watch.status?.nodes !== undefined;
  if (touchesNothing || knowsNothingYet) return { ...o.watch.status, ...keyInUse(o), ...status };
  const coolingSince = typeof plan.breaker === 'object' ? plan.breaker.coolingSince : undefined;
  return {
    ...status,
    ...(coolingSince === undefined ? {} : { breakerCoolingSince: metaTime(coolingSince) }),
    ...(plan.labelKey === undefined ? {} : { labelKey: plan.labelKey }),
    ...selected(o, plan),
    ...(plan.avoided?.names.length ? { avoidedNodes: [...plan.avoided.names] } : {}),
    fitNodes: plan.counts.Fit,
    unfitNodes: plan.counts.Unfit,
    unknownNodes: plan.counts.Unknown,
    nodes: listedNodes(o, plan),
  };
}

/**
 * Why a node has no figure, and what to do, for its entry in the status. Undefined if it has a figure and a verdict.
 *
 * @param usage of the newest pass; undefined if the pass failed
 */
export function whyUnknown(usage: NodeUsage | undefined, { verdict, message }: NodeVerdict): NodeStatus['message'] {
  if (usage?.percent === undefined && usage?.message !== undefined)
    return cut(usage.message, LONGEST_PROBLEM) + newestOf(usage);
  return verdict === 'Unknown' ? cut(message, LONGEST_PROBLEM) : undefined;
}

function newestOf({ newestSeconds }: NodeUsage): string {
  const newest = new Date((newestSeconds ?? NaN) * 1000);
  return Number.isNaN(newest.getTime()) ? '' : `; it is of ${newest.toISOString().slice(0, 19)}Z`;
}

type Usage = Pick<NodeUsage, 'percent' | 'fullest'>;

/**
 * Names the device that is above the threshold while its node is not: the measure Sum hides it behind idle devices.
 *
 * | node                                     | fullest device | message          |
 * |------------------------------------------|----------------|------------------|
 * | no figure, or only one device            | any            | none             |
 * | above the threshold                      | any            | none: the verdict says so |
 * | at or below                              | at or below    | none             |
 * | at or below                              | above          | device, percent and what to set |
 *
 * @param usage of the newest pass
 * @param maxPercent percent of the capacity
 */
export function describeFullDevice(usage: Usage | undefined, maxPercent: number): string | undefined {
  const { percent, fullest } = usage ?? {};
  if (percent === undefined || fullest === undefined) return undefined;
  if (percent > maxPercent || fullest.percent <= maxPercent) return undefined;
  const figures = `${fullest.device} is at ${rounded(fullest.percent)} %, the node at ${rounded(percent)} %`;
  return `${figures}; set spec.measure to Fullest to decide by the busiest device`;
}

function rounded(percent: number): string {
  return percent.toFixed(1);
}

/** How many nodes of a plan have been labelled. */
export interface Progress {
  /** Nodes whose labels were written, or whose write failed. */
  readonly done: number;
  readonly of: number;
}

/**
 * The status while labels are being written: only Reconciling changes. The verdicts follow when all labels are written.
 * @param now ms since the epoch
 */
export function progressStatus(watch: TrafficWatch, { done, of }: Progress, now: number): TrafficWatchStatus {
  const draft = {
    type: ConditionType.Reconciling,
    status: 'True',
    reason: Reason.Applying,
    message: `${done} of ${of} nodes are labelled`,
    observedGeneration: watch.metadata?.generation,
  } as const;
  const time = metaTime(now);
  return { ...watch.status, conditions: setCondition(watch.status?.conditions ?? [], draft, time) };
}

/**
 * The status while the TrafficWatch is being deleted: only Ready changes. Of several failures it names the first in
 * alphabetical order, so that the same failures cause no write.
 * @param now ms since the epoch
 */
export function terminatingStatus(watch: TrafficWatch, failures: readonly Failure[], now: number): TrafficWatchStatus {
  const [why] = failures.map(({ message }) => message).sort();
  const removing = `being deleted: its labels are removed from the nodes${why === undefined ? '' : `; ${why}`}`;
  const conditions = terminatingConditions(watch, now, mayHaveLabels({ watch }) ? removing : undefined);
  return { ...watch.status, ready: false, observedGeneration: watch.metadata?.generation, conditions };
}
