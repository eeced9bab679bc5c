import { durationMs } from '../../../api/fieldSchemas.ts';
import { DEFAULT_ROLLBACK, type RampPhase } from '../../../api/trafficweight/terms.ts';
import type {
  RampStatus,
  TrafficWeight,
  TrafficWeightSpec,
  TrafficWeightStatus,
} from '../../../api/trafficweight/trafficWeight.ts';
import { WeightCondition as Type, WeightReason as Reason } from '../../../api/trafficweight/reasons.ts';
import {
  findCondition,
  metaTime,
  type Condition,
  type PlannedEvent,
  cut,
} from '../../../runtime/controller/conditions.ts';
import { DEFAULT_TTL, longestTtl, type DnsEndpoint } from '../../../weights/records/endpoint.ts';
import {
  valueText,
  withNextStep,
  type GateResult,
  type RampScene,
  type RampSettings,
  type RampState,
  type RampStep,
} from '../../../weights/ramp/ramp.ts';

const SECOND_MS = 1_000;
/** Clients keep a record for its TTL, so the effect of a step shows only after it. */
const LEAST_INTERVAL_TTLS = 2;
/** Characters of a message about the gate: it may quote an error. */
const LONGEST_MESSAGE = 512;

/**
 * Returns the ramp of a spec, with its defaults; undefined without a ramp.
 *
 * @param publishedTtl the longest TTL of the records, seconds: the TTL of the other clusters may be longer than spec.recordTTL
 */
export function rampSettingsOf({ ramp, recordTTL }: TrafficWeightSpec, publishedTtl: number): RampSettings | undefined {
  if (ramp === undefined) return undefined;
  const leastMs = LEAST_INTERVAL_TTLS * Math.max(recordTTL ?? DEFAULT_TTL, publishedTtl) * SECOND_MS;
  return {
    step: ramp.step,
    intervalMs: Math.max(ramp.interval === undefined ? 0 : durationMs(ramp.interval), leastMs),
    isGated: ramp.gate !== undefined,
    failureLimit: ramp.gate?.failureLimit ?? 0,
    rollback: ramp.rollback ?? DEFAULT_ROLLBACK,
    direction: ramp.direction ?? 'Both',
  };
}

/** The inputs of `rampSceneOf` besides the status. */
export interface RampRequest {
  readonly spec: TrafficWeightSpec;
  /** The weight that the backend requests. */
  readonly desired: number;
  /** The longest TTL of the records, seconds: see `rampSettingsOf`. */
  readonly publishedTtl: number;
  /** Whether a hosted zone cannot be read. */
  readonly isUnverified: boolean;
  /** ms since 1970. */
  readonly now: number;
}

/** Collects the inputs of `nextStep`. */
export function rampSceneOf({ status }: TrafficWeight, request: RampRequest): RampScene {
  const { spec, desired, publishedTtl, isUnverified, now } = request;
  const state = status?.ramp && stateOf(status.ramp);
  const last = state?.weight ?? status?.appliedWeight;
  const isInForce = last !== undefined && status?.currentWeight === last;
  const lastStepAt = status?.lastStepTime === undefined ? undefined : Date.parse(status.lastStepTime);
  const settings = rampSettingsOf(spec, publishedTtl);
  return {
    settings,
    desired,
    last,
    state,
    isInForce,
    isStillInForce: isStill(status, spec.acknowledge),
    isUnverified,
    lastStepAt,
    now,
  };
}

/**
 * Reasons of conditions with which a step is not active: it was not written or read yet, or hosted zones are not known to have it. A
 * ramp does not wait for records that cannot be written, or that a zone does not get: see statusOf().
 */
const NOT_ACTIVE: ReadonlySet<string> = new Set([
  Reason.NotAppliedYet,
  Reason.NotObservedYet,
  Reason.NotPublishedYet,
  Reason.ZonesNotReadYet,
]);

/** Returns whether the last reconcile found every record with its weight. */
function isStill(status: TrafficWeightStatus | undefined, acknowledge: TrafficWeightSpec['acknowledge']): boolean {
  const needed = [Type.Applied, ...(acknowledge === 'Applied' ? [] : [Type.Observed]), Type.Published];
  return needed.every((type) => !NOT_ACTIVE.has(findCondition(status?.conditions, type)?.reason ?? ''));
}

function stateOf({ nextStepTime, gate, from, target, weight, phase, failures }: RampStatus): RampState {
  return {
    ...{ from, target, weight, phase, failures },
    ...(nextStepTime !== undefined && { nextStepAt: Date.parse(nextStepTime) }),
    ...(gate !== undefined && { gate: gateOf(gate) }),
  };
}

function gateOf({ result, value, message = '' }: NonNullable<RampStatus['gate']>): GateResult {
  return result === 'NoData' ? { result, message } : { result, value: Number(value) };
}

/** The records after the writes of a step. */
export interface RampOutcome {
  readonly isInForce: boolean;
  readonly endpoints: Iterable<DnsEndpoint | undefined>;
  /** The first hosted zone that cannot be read; undefined if all can be. */
  readonly unreadZone: string | undefined;
  /** ms since 1970. */
  readonly nowMs: number;
}

/** Returns the ramp for the status after the writes of a step; undefined if no change is in progress. */
export function rampAfter(
  spec: TrafficWeightSpec,
  { state }: RampStep,
  { isInForce, endpoints, unreadZone, nowMs }: RampOutcome,
): RampStatus | undefined {
  // There may be thousands of records, which only a ramp has to look at.
  if (state === undefined) return undefined;
  const settings = rampSettingsOf(spec, longestTtl(endpoints));
  if (settings === undefined) return undefined;
  return rampStatusOf(withNextStep(state, settings, { isInForce, now: nowMs }), spec, unreadZone);
}

/** Returns when the weight of the records last changed. @param nowMs since 1970 */
export function lastStepTime(
  { status }: TrafficWeight,
  { weight }: RampStep,
  nowMs: number,
): Pick<TrafficWeightStatus, 'lastStepTime'> {
  const time = weight === status?.appliedWeight ? status.lastStepTime : timeOf(nowMs);
  return time === undefined ? {} : { lastStepTime: time };
}

const PHASE_REASONS = {
  Progressing: Reason.Ramping,
  RollingBack: Reason.RollingBack,
  RolledBack: Reason.RolledBack,
  Held: Reason.Held,
} as const satisfies Record<RampPhase, Reason>;

/** Whether a ramp waits because its gate has no data. */
export function isWaiting({ phase, gate }: RampStatus): boolean {
  return phase === 'Progressing' && gate?.result === 'NoData';
}

/** Returns the condition Ramped; undefined without a ramp in the spec. */
export function rampedState(
  { ramp: asked }: TrafficWeightSpec,
  ramp: RampStatus | undefined,
  desiredWeight: number,
): Pick<Condition, 'status' | 'reason' | 'message'> | undefined {
  if (asked === undefined) return undefined;
  if (ramp === undefined) {
    const message = `The desired weight ${desiredWeight} was reached.`;
    return { status: 'True', reason: Reason.DesiredWeightReached, message };
  }
  const reason = isWaiting(ramp) ? Reason.GateWithoutData : PHASE_REASONS[ramp.phase];
  return { status: 'False', reason, message: ramp.message };
}

function rampStatusOf(state: RampState, spec: TrafficWeightSpec, unreadZone: string | undefined): RampStatus {
  const { nextStepAt, gate, from, target, weight, phase, failures } = state;
  return {
    ...{ from, target, weight, phase, failures },
    // The status has no fractions of a second. Rounded down, the step would be too early.
    ...(nextStepAt !== undefined && { nextStepTime: timeOf(nextStepAt) }),
    ...(gate !== undefined && { gate: shownGate(gate) }),
    message: messageOf(state, spec, unreadZone),
  };
}

function timeOf(ms: number): string {
  return metaTime(Math.ceil(ms / SECOND_MS) * SECOND_MS);
}

function shownGate(gate: GateResult): NonNullable<RampStatus['gate']> {
  if (gate.result !== 'NoData') return { result: gate.result, value: String(gate.value) };
  return { result: gate.result, message: cut(gate.message, LONGEST_MESSAGE) };
}

/** Returns the message about the ramp: its weight, and its next step. */
function messageOf(
  { from, target, weight, phase, gate, nextStepAt, failures }: RampState,
  spec: TrafficWeightSpec,
  unreadZone: string | undefined,
): string {
  const { condition = '', failureLimit = 0 } = spec.ramp?.gate ?? {};
  const why =
    gate?.result === 'Failed' ? `gate returned ${valueText(gate.value, condition)}, required ${condition}` : '';
  const due = nextStepAt === undefined ? 'it is not in force yet' : `the next step is due at ${timeOf(nextStepAt)}`;
  const isHeld = unreadZone !== undefined && phase === 'Progressing';
  const next = isHeld ? `no step follows until the hosted zone ${unreadZone} can be read` : due;
  switch (phase) {
    case 'RolledBack':
      return `Rolled back to ${weight}: ${why}. Request a weight other than ${target} to retry`;
    case 'Held':
      return `Held at ${weight} on the way from ${from} to ${target}: ${why}. Request a weight other than ${target} to retry`;
    case 'RollingBack':
      return `Rolling back to ${from}, now at ${weight}: ${why}; ${next}`;
    case 'Progressing': {
      const way = `The weight is ${weight} on its way from ${from} to ${target}`;
      if (gate?.result === 'NoData')
        return `${way}; the gate has no data, so it waits: ${cut(gate.message, LONGEST_MESSAGE)}`;
      if (why !== '') return `${way}; ${why} (${failures} of ${failureLimit} allowed failures); ${next}`;
      return `${way}; ${next}`;
    }
  }
}

/** Returns an event for each step, since it moves traffic. The condition Ready has the events about waiting and rollback. */
export function rampEvents(before: TrafficWeightStatus | undefined, { ramp }: TrafficWeightStatus): PlannedEvent[] {
  const was = before?.appliedWeight;
  if (ramp === undefined || ramp.weight === was) return [];
  const { phase, from, target, weight } = ramp;
  const way = phase === 'Progressing' ? `on the way to ${target}` : `rollback to ${from}`;
  return [{ type: 'Normal', reason: 'RampStep', note: `Weight ${was} -> ${weight} (${way})` }];
}
