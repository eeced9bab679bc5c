import type { NodeVerdict } from './nodeVerdict.ts';
import { PLAIN_POLICIES, POLICIES, type VerdictInput } from './policies.ts';
import { missingDataOf, passesOf, recoveryOf, thresholdOf } from '../../../../api/trafficwatch/spec/verdict.ts';
import type { Observation } from '../../observe/observation.ts';
import type { Side } from '../../model/label.ts';
import type { Snapshot } from '../../../../usage/evaluate/snapshot.ts';
import { cooldownOf } from '../../../../api/trafficwatch/spec/nodeCount.ts';
import { ConditionType } from '../../../../api/trafficwatch/reasons.ts';
import { findCondition } from '../../../../runtime/controller/conditions.ts';
import { createLabelHold, isWrittenOver, createLastSide } from '../labels/lastVerdict.ts';
import type { Plan } from '../plan.ts';
import { applyBreaker, limitOf, type Cooldown } from './breaker.ts';

const UNREACHABLE = 'unreachable: the last policy applies to every node';

/**
 * Decides the verdict of one node: the first policy that applies gives it.
 *
 * | newest pass     | pass before | label  | verdict       | label written | policy      |
 * |-----------------|-------------|--------|---------------|---------------|-------------|
 * | failed          | any         | any    | Unknown       | stays         | passFailed  |
 * | would change the label within minHold | any | any | as the label | stays | heldByMinHold |
 * | no figure, for longer than missingData.holdFor | any | any | Unfit or Fit | "true" or "false" | missingData |
 * | no figure       | any         | any    | Unknown       | stays         | noFigure    |
 * | would change the label while the rate window fills after an outage | any | any | as the label | stays | warmingUp |
 * | above           | above       | any    | Unfit         | "true"        | passesAgree |
 * | not above       | not above   | any    | Fit           | "false"       | passesAgree |
 * | above/not above | other side or no figure | "true"/"false" | as the label | stays | labelStands |
 * | above/not above | other side or no figure | none | Unknown | stays (none) | undecided |
 *
 * "pass before" stands for as many passes as passesToAgree requires, two by default. thresholdFor gives the threshold: it
 * is lower for a node that is unfit, by default 80 % of maxBandwidthPercent.
 *
 * Exactly the threshold is fit: unfit is percent > maxBandwidthPercent, as in PKopel/traffic-operator.
 */
export function decideVerdict(input: VerdictInput): NodeVerdict {
  for (const policy of POLICIES) {
    const verdict = policy(input);
    if (verdict) return verdict;
  }
  throw new Error(UNREACHABLE);
}

/**
 * The same for an input without heldUntil, missingAs and isWindowFilling. The loop is written twice, since a compiler
 * inlines the policies of a constant list only: it takes a fifth off a pass.
 */
function decidePlainVerdict(input: VerdictInput): NodeVerdict {
  for (const policy of PLAIN_POLICIES) {
    const verdict = policy(input);
    if (verdict) return verdict;
  }
  throw new Error(UNREACHABLE);
}

/**
 * Returns a function that says as which side a node counts that has had no figure for holdFor; undefined if no node is decided
 * that way: with the policy Hold, after a pass without a figure of any node, and after one with a warning, which may lack
 * nodes that have figures.
 */
function createMissingAs({
  watch,
  view,
  missingSince,
  now,
}: Observation): ((node: string) => Side | undefined) | undefined {
  const missingData = missingDataOf(watch.spec);
  if (missingData === undefined || missingSince === undefined || view.figures.passesWithData === 0) return undefined;
  if (view.passes[0] === undefined || view.passes[0].warnings.length > 0) return undefined;
  const { countsAs, holdForMs } = missingData;
  const side = countsAs === 'Unfit' ? 'above' : 'notAbove';
  return (node) => {
    const since = missingSince.get(node);
    return since !== undefined && now - since >= holdForMs ? side : undefined;
  };
}

/** The reason of a failed pass in conditions, events and node verdicts, such as PrometheusUnreachable. */
export function passFailureReason(snapshot: Snapshot): string {
  return `Prometheus${snapshot.error?.reason ?? 'Unreachable'}`;
}

/** Why the pass failed; undefined if it succeeded or has not ended yet. */
function passFailureOf(snapshot: Snapshot | undefined): { reason: string; message: string } | undefined {
  if (!snapshot || snapshot.ok) return undefined;
  return { reason: passFailureReason(snapshot), message: snapshot.error?.message ?? 'no answer from Prometheus' };
}

/** Decides the verdicts of all nodes, in their order, within the limit of the spec for unfit nodes. */
export function decideVerdicts(o: Observation): Pick<Plan, 'verdicts' | 'breaker'> {
  const maxPercent = thresholdOf(o.watch.spec);
  const recoverPercent = recoveryOf(o.watch.spec);
  const passesToAgree = passesOf(o.watch.spec);
  const passError = passFailureOf(o.view.passes[0]);
  // The map is usually empty. Skip the look-up then: it would run for each node of each TrafficWatch.
  const someNotMeasurable = o.notMeasurable.size > 0;
  const { measured } = o.view.figures;
  const lastSide = createLastSide(o);
  const hold = createLabelHold(o);
  const missing = createMissingAs(o);
  const { isWindowFilling = false } = o;
  const isPlain = hold === undefined && missing === undefined && !isWindowFilling;
  const limit = limitOf(o.watch.spec, measurable(o));
  // Looked up once for each node: the limit needs it again.
  const sides: (Side | undefined)[] | undefined = limit === undefined ? undefined : [];
  const verdicts = measured.map(({ node, passes }) => {
    const notMeasurable = someNotMeasurable ? o.notMeasurable.get(node.name) : undefined;
    const labelled = lastSide(node);
    sides?.push(labelled);
    const input = { maxPercent, recoverPercent, passesToAgree, passError, labelled, passes, notMeasurable };
    if (isPlain) return decidePlainVerdict(input);
    const missingAs = passes[0]?.percent === undefined ? missing?.(node.name) : undefined;
    const waits = isWindowFilling && !isWrittenOver(o, node);
    return decideVerdict({ ...input, heldUntil: hold?.(node), missingAs, isWindowFilling: waits });
  });
  if (limit === undefined) return { verdicts, breaker: undefined };
  if (!showsNumber(o)) return { verdicts, breaker: 'Unchanged' };
  const candidates = verdicts.map((verdict, place) => ({
    verdict,
    labelled: sides?.[place],
    percent: measured[place]?.passes[0]?.percent,
  }));
  return applyBreaker(candidates, limit, cooldownNow(o));
}

/**
 * Whether the newest pass says how many nodes are above the threshold: not if it failed, or has a figure of no node, such
 * as after Prometheus lost its data. Without nodes there are none above.
 */
function showsNumber({ view: { nodes, passes, figures } }: Observation): boolean {
  return passes[0]?.ok === true && (nodes.length === 0 || figures.passesWithData > 0);
}

/** The state of the cooldown: it is in the status, and outlasts the process. */
function cooldownNow({ watch: { spec, status }, now }: Observation): Cooldown | undefined {
  const ms = cooldownOf(spec);
  if (ms === undefined) return undefined;
  const { breakerCoolingSince: since } = status ?? {};
  const wasOpen = findCondition(status?.conditions, ConditionType.BreakerOpen)?.status === 'True';
  return { ms, wasOpen, coolingSince: since === undefined ? undefined : Date.parse(since), now };
}

/** How many of the nodes that are there can be measured. */
function measurable({ view, notMeasurable }: Observation): number {
  if (notMeasurable.size === 0) return view.nodes.length;
  return view.nodes.filter(({ name }) => !notMeasurable.has(name)).length;
}
