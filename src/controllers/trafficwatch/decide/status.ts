import { ConditionType } from '../../../api/reasons.ts';
import { labelKeyOf, type NodeStatus, type TrafficWatch, type TrafficWatchStatus } from '../../../api/trafficwatch.ts';
import { formatPercent } from '../../../usage/percent.ts';
import type { NodeView, Observation } from '../observation.ts';
import { decideConditions } from './conditions.ts';
import type { Failure } from './failure.ts';
import { measuredNodes } from './measuredNodes.ts';
import { wasDecided, type Plan } from './plan.ts';
import { alwaysListed, MAX_NODES_IN_FULL, selectNodes } from './statusNodes.ts';
import { countVerdicts, type NodeVerdict } from './verdict.ts';

/** Beyond MAX_NODES_IN_FULL nodes, figures that changed alone are written at most this often: seconds. */
const FIGURES_INTERVAL_SECONDS = 60;

function toTimestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** What the scheduler goes by: the label that the node gets now, or else the one it has. */
function isUnfit(node: NodeView, verdict: NodeVerdict, labelKey: string): boolean {
  return (verdict.label ?? node.labels[labelKey]) === 'true';
}

/**
 * When the verdict became what it is. Known from the status while the node is listed there, and when it turns; of a
 * node that a long list had no room for, and whose label says the same as before, nobody knows any more.
 */
function sinceOf(o: Observation, node: NodeView, verdict: NodeVerdict): string | undefined {
  const before = o.watch.status?.nodes?.[node.name];
  if (before) return before.verdict === verdict.verdict ? before.since : toTimestamp(o.now);
  const unchanged = verdict.label !== undefined && node.labels[labelKeyOf(o.watch)] === verdict.label;
  return unchanged && o.nodes.length > MAX_NODES_IN_FULL ? undefined : toTimestamp(o.now);
}

function nodeStatus(o: Observation, node: NodeView, verdict: NodeVerdict): NodeStatus {
  const usage = o.current?.nodes.get(node.name);
  const since = sinceOf(o, node, verdict);
  return {
    currentBandwidthPercent: usage?.percent === undefined ? '' : formatPercent(usage.percent),
    ...(usage?.transmitBytesTotal === undefined ? {} : { currentTransmitTotal: usage.transmitBytesTotal }),
    ...(usage?.percent === undefined ? {} : { time: Math.trunc(usage.timeSeconds) }),
    unfit: isUnfit(node, verdict, labelKeyOf(o.watch)),
    verdict: verdict.verdict,
    reason: verdict.reason,
    ...(since === undefined ? {} : { since }),
  };
}

/** In a large cluster the figures of the last status stand until they are a minute old. */
function keepsFigures(watch: TrafficWatch, total: number, nowMs: number): boolean {
  if (total <= MAX_NODES_IN_FULL) return false;
  const times = Object.values(watch.status?.nodes ?? {}).map((n) => n.time ?? 0);
  const newest = times.reduce((a, b) => Math.max(a, b), 0);
  return nowMs / 1000 - newest < FIGURES_INTERVAL_SECONDS;
}

/**
 * Whether the nodes of the last status may stand for now: the verdict of each is as it was, and none is missing that a
 * new list would have whatever the figures say. Which of the others are the hottest can wait.
 */
function stillHolds(before: Record<string, NodeStatus>, o: Observation, { verdicts }: Plan): boolean {
  const candidates = measuredNodes(o);
  const gone = new Set(Object.keys(before));
  for (const { node, place } of candidates) {
    const was = before[node.name];
    if (was === undefined) continue;
    const verdict = verdicts[place];
    if (verdict?.verdict !== was.verdict || verdict.reason !== was.reason) return false;
    if (isUnfit(node, verdict, labelKeyOf(o.watch)) !== was.unfit) return false;
    gone.delete(node.name);
  }
  return gone.size === 0 && alwaysListed(candidates, verdicts).every((name) => Object.hasOwn(before, name));
}

/** Nothing is worked out for a node before it is known to be listed: a long list names but a few. */
function listedNodes(o: Observation, plan: Plan): Record<string, NodeStatus> {
  const before = o.watch.status?.nodes;
  if (before && keepsFigures(o.watch, plan.verdicts.length, o.now) && stillHolds(before, o, plan)) return before;
  const listed: Record<string, NodeStatus> = {};
  for (const { node, verdict } of selectNodes(measuredNodes(o), plan.verdicts)) {
    listed[node.name] = nodeStatus(o, node, verdict);
  }
  return listed;
}

/**
 * The whole status as it should be. A stalled TrafficWatch that touches nothing keeps the counts and nodes it had; so
 * does any until the first pass after a start of the operator, which is no reason to forget what was known.
 * The figures of `nodes` move every pass up to 100 nodes, at most once a minute beyond; verdicts move at once.
 */
export function decideStatus(o: Observation, plan: Plan, failures: readonly Failure[]): TrafficWatchStatus {
  const conditions = decideConditions(o, plan, failures, toTimestamp(o.now));
  const ready = conditions.find((c) => c.type === ConditionType.Ready)?.status === 'True';
  const decided = plan.decided || wasDecided(o.watch.status);
  const status = { ready, ...(decided && { decided }), conditions, observedGeneration: o.watch.metadata?.generation };
  const touchesNothing = plan.verdicts.length === 0 && plan.stall !== undefined;
  const knowsNothingYet = o.current === undefined && o.watch.status?.nodes !== undefined;
  if (touchesNothing || knowsNothingYet) return { ...o.watch.status, ...status };
  const counts = countVerdicts(plan.verdicts);
  return {
    ...status,
    ...(plan.labelKey === undefined ? {} : { labelKey: plan.labelKey }),
    fitNodes: counts.Fit,
    unfitNodes: counts.Unfit,
    unknownNodes: counts.Unknown,
    nodes: listedNodes(o, plan),
  };
}
