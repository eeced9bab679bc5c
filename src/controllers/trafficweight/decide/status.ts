import { WeightCondition as Type, WeightReason as Reason } from '../../../api/trafficweight/reasons.ts';
import type {
  TrafficWeight,
  TrafficWeightSpec,
  TrafficWeightStatus,
} from '../../../api/trafficweight/trafficWeight.ts';
import {
  findCondition,
  metaTime,
  setCondition,
  type Condition,
  cut,
  terminatingConditions,
} from '../../../runtime/controller/conditions.ts';
import type { Failure } from '../../../runtime/process/problem.ts';
import type { BackendView, ZoneView } from '../observe/observation.ts';
import { lastingDifferences, publishedState, unreadZoneOf, zonesState } from './zones.ts';
import { acceptedState, explained } from './hosts.ts';
import { lastStepTime, rampAfter, rampedState } from './ramp.ts';
import type { Outcome } from './outcome.ts';
import { appliedState, observedState, removalState } from './written.ts';

/** Characters of a condition's message. It may quote an error, or an annotation of an Ingress. */
const LONGEST_MESSAGE = 1_024;

/** Conditions that only a TrafficWeight with a backend, with hosted zones, or with a removal that waits has. */
const OPTIONAL_TYPES: ReadonlySet<string> = new Set([
  Type.BackendRead,
  Type.Acknowledged,
  Type.ZonesRead,
  Type.Published,
  Type.RemovalsConfirmed,
]);

type State = Pick<Condition, 'status' | 'reason' | 'message'>;

/** Conditions about the records. */
type RecordType = typeof Type.Applied | typeof Type.Observed | typeof Type.Published;

/**
 * Returns the conditions that make a weight active: every DNSEndpoint carries it, was read by external-dns unless `acknowledge` is
 * Applied, and the hosted zones of the spec have it.
 */
function neededFor({ acknowledge, hostedZoneIDs = [] }: TrafficWeightSpec): RecordType[] {
  return [
    Type.Applied,
    ...(acknowledge === 'Applied' ? [] : [Type.Observed]),
    ...(hostedZoneIDs.length === 0 ? [] : [Type.Published]),
  ];
}

/** Whether the desired weight is active: it is reached, and not only a step on the way to it. */
export function isInForce({ conditions, ramp }: TrafficWeightStatus, spec: TrafficWeightSpec): boolean {
  return ramp === undefined && neededFor(spec).every((type) => findCondition(conditions, type)?.status === 'True');
}

/**
 * Returns the status after a reconcile.
 *
 * | DNSEndpoints                               | Applied | `currentWeight`, acknowledgement | ramp     |
 * |--------------------------------------------|---------|----------------------------------|----------|
 * | all carry the weight                       | True    | the weight                       | goes on  |
 * | some are unchanged: see Outcome.stale      | False   | unchanged                        | goes on  |
 * | a write failed, or waits                   | False   | unchanged                        | waits, but for Outcome.behind |
 * | the removal of most namespaces waits: see Removal.holdsWeight | False | unchanged          | goes on  |
 * | the removal of other namespaces waits      | as without them | as without them          | goes on  |
 *
 * Ready sums up the conditions that the spec and the people who run the cluster control. A waiting removal that does not hold the weight, and an Ingress
 * that is not accepted, are of the users of a namespace: they have conditions of their own, and others that wait for Ready, such as stacks, must not depend on them.
 *
 * With hosted zones, the zones must have the weight (Published). A ramp does not wait for a host that has differed for long.
 * The namespace of a large object thus holds no ramp and no gate, and a cluster whose records may still have traffic is not reported
 * as drained.
 *
 * @param nowMs since 1970
 */
export function statusOf(weight: TrafficWeight, outcome: Outcome, nowMs: number): TrafficWeightStatus {
  const { desiredWeight, step, hosts, ingresses, endpoints, spec, zones = [] } = outcome;
  const now = metaTime(nowMs);
  const changed = lastStepTime(weight, step, nowMs);
  const written = statesOf(outcome, changed.lastStepTime, nowMs);
  const accepted = acceptedState(outcome);
  const read = backendStates(weight, outcome.backend, {
    desiredWeight,
    hasRecords: outcome.hasRecords ?? endpoints.size > 0,
  });
  const decisive = neededFor(spec).map((type) => written[type]);
  const steps = statesOf(withoutLasting(outcome), changed.lastStepTime, nowMs);
  const lastInForce = weight.status?.currentWeight ?? outcome.backend?.weights?.current;
  const isStepInForce = decisive.every(isTrue);
  const currentWeight = isStepInForce ? step.weight : lastInForce;
  const isStepDone = neededFor(spec).every((type) => isTrue(steps[type]));
  const unreadZone = unreadZoneOf(zones);
  const ramp = rampAfter(spec, step, { isInForce: isStepDone, endpoints: endpoints.values(), unreadZone, nowMs });
  const ramped = rampedState(spec, ramp, desiredWeight);
  const { BackendRead, Acknowledged } = read;
  const removal = outcome.unconfirmed && removalState(outcome.unconfirmed);
  const unready = [BackendRead, ...decisive, ramped, Acknowledged].find((state) => state && !isTrue(state));
  const ofNamespaces = { [Type.RemovalsConfirmed]: removal, [Type.IngressesAccepted]: accepted };
  const ready = unready ?? inForceState(desiredWeight, ofNamespaces);
  return {
    ...observedGeneration(weight),
    desiredWeight,
    ...(currentWeight !== undefined && { currentWeight }),
    appliedWeight: step.weight,
    ...(ramp !== undefined && { ramp }),
    ...changed,
    ...{ ingresses, hosts: hosts.length, dnsEndpoints: endpoints.size },
    conditions: conditionsOf(
      weight,
      [
        [Type.Ready, { ...ready, status: ready.status === 'True' ? 'True' : 'False' }],
        ...entriesOf(read),
        ...(ramped === undefined ? [] : [[Type.Ramped, ramped] as [Type, State]]),
        ...zonesEntry(zones),
        [Type.Applied, written.Applied],
        ...(removal === undefined ? [] : [[Type.RemovalsConfirmed, removal] as [Type, State]]),
        [Type.Observed, written.Observed],
        ...(zones.length === 0 ? [] : [[Type.Published, written.Published] as [Type, State]]),
        [Type.IngressesAccepted, accepted],
      ],
      now,
    ),
    explain: explained(hosts),
  };
}

/** Returns the condition Ready while the weight is in force. @param ofNamespaces the conditions about single namespaces */
function inForceState(weight: number, ofNamespaces: Readonly<Record<string, State | undefined>>): State {
  const types = Object.entries(ofNamespaces).flatMap(([type, state]) => (state && !isTrue(state) ? [type] : []));
  const note = types.length === 0 ? '' : ` Single namespaces have problems: see ${types.join(' and ')}.`;
  return { status: 'True', reason: Reason.InForce, message: `The weight ${weight} is in force.${note}` };
}

/** @param changedAt when the weight changed last, RFC 3339 */
function statesOf(outcome: Outcome, changedAt: string | undefined, now: number): Record<RecordType, State> {
  const { zones = [], comparison = { differences: [], since: new Map() } } = outcome;
  return {
    [Type.Applied]: appliedState(outcome),
    [Type.Observed]: observedState(outcome),
    [Type.Published]: publishedState(zones, comparison, {
      changedAt: changedAt === undefined ? undefined : Date.parse(changedAt),
      now,
    }),
  };
}

/** Returns the outcome without the DNSEndpoints, the namespaces, the hosts and the removal for which a ramp does not wait. */
function withoutLasting({ comparison, ...outcome }: Outcome): Outcome {
  const others = { ...outcome, ...outcome.behind?.others, behind: undefined, stale: [], unconfirmed: undefined };
  if (comparison === undefined) return others;
  const lasting = new Set(lastingDifferences(comparison, outcome.zones ?? []));
  const differences = comparison.differences.filter((each) => !lasting.has(each));
  return { ...others, comparison: { ...comparison, differences } };
}

/** The known facts about a weight that could not be decided. */
export interface KnownWeight {
  /** The weight of the cluster; undefined if it is not known, or the spec is invalid. */
  readonly desiredWeight?: number | undefined;
  /** Undefined with a static weight. */
  readonly backend?: BackendView | undefined;
  readonly zones?: readonly ZoneView[] | undefined;
}

/**
 * Returns the status if nothing could be decided. The records are unchanged, and so are their counts and the last weight
 * that was active; whether the records carry the requested weight is unknown.
 *
 * @param now RFC 3339
 */
export function undecidedStatus(
  weight: TrafficWeight,
  why: Failure,
  { desiredWeight, backend, zones, now }: KnownWeight & { readonly now: string },
): TrafficWeightStatus {
  const unknown: State = { status: 'Unknown', ...why };
  const states: [Type, State][] = [
    [Type.Ready, { status: 'False', ...why }],
    ...entriesOf(backendStates(weight, backend, { desiredWeight, hasRecords: true })),
    ...zonesEntry(zones),
    [Type.Applied, unknown],
    [Type.Observed, unknown],
    ...((zones ?? []).length === 0 ? [] : [[Type.Published, unknown] as [Type, State]]),
    ...(waitedForRemoval(weight) ? [[Type.RemovalsConfirmed, unknown] as [Type, State]] : []),
    [Type.IngressesAccepted, unknown],
  ];
  const status = { ...weight.status, ...observedGeneration(weight), conditions: conditionsOf(weight, states, now) };
  if (desiredWeight === undefined) delete status.desiredWeight;
  else status.desiredWeight = desiredWeight;
  return status;
}

function waitedForRemoval({ status }: TrafficWeight): boolean {
  return findCondition(status?.conditions, Type.RemovalsConfirmed) !== undefined;
}

/** Returns the status while finalizers of other controllers keep a deleted TrafficWeight: only Ready changes. @param nowMs since 1970 */
export function terminatingStatus(weight: TrafficWeight, nowMs: number): TrafficWeightStatus {
  return { ...weight.status, ...observedGeneration(weight), conditions: terminatingConditions(weight, nowMs) };
}

function observedGeneration({ metadata }: TrafficWeight): Pick<TrafficWeightStatus, 'observedGeneration'> {
  return metadata?.generation === undefined ? {} : { observedGeneration: metadata.generation };
}

function conditionsOf(weight: TrafficWeight, states: readonly [Type, State][], now: string): Condition[] {
  return states.reduce<Condition[]>(
    (list, [type, { message, ...state }]) =>
      setCondition(
        list,
        { type, ...state, message: cut(message, LONGEST_MESSAGE), ...observedGeneration(weight) },
        now,
      ),
    withoutStale(weight, states),
  );
}

/** Drops conditions about a backend, a ramp or hosted zones that the spec no longer has. */
function withoutStale({ spec, status }: TrafficWeight, states: readonly [Type, State][]): Condition[] {
  return (status?.conditions ?? []).filter(({ type }) => {
    if (type === Type.Ramped) return spec.ramp !== undefined;
    return !OPTIONAL_TYPES.has(type) || states.some(([used]) => used === type);
  });
}

type BackendStates = Partial<Record<typeof Type.BackendRead | typeof Type.Acknowledged, State>>;

function entriesOf(states: BackendStates): [Type, State][] {
  return Object.entries(states) as [Type, State][];
}

/** The weight that may be acknowledged. */
interface Acknowledgeable {
  /** Undefined if it is not known. */
  readonly desiredWeight: number | undefined;
  /** Whether there is a DNSEndpoint. */
  readonly hasRecords: boolean;
}

/** Returns none with a static weight. Only a table gets acknowledgements. */
function backendStates(
  { spec }: TrafficWeight,
  backend: BackendView | undefined,
  { desiredWeight, hasRecords }: Acknowledgeable,
): BackendStates {
  if (backend === undefined) return {};
  return {
    [Type.BackendRead]: backendReadState(backend, desiredWeight),
    ...(spec.backend.dynamodb && { [Type.Acknowledged]: acknowledgedState(backend, { desiredWeight, hasRecords }) }),
  };
}

function backendReadState({ weights, failure }: BackendView, desiredWeight: number | undefined): State {
  if (failure === undefined) {
    return { status: 'True', reason: Reason.WeightRead, message: `The backend has the weight ${weights?.desired}.` };
  }
  const held = desiredWeight === undefined ? '' : '; the last weight stays';
  return { status: 'False', reason: failure.reason, message: `${failure.message}${held}` };
}

function acknowledgedState(
  { weights, failure, unacknowledged }: BackendView,
  { desiredWeight, hasRecords }: Acknowledgeable,
): State {
  if (weights === undefined || desiredWeight === undefined) {
    const message = failure?.message ?? 'the weight is not known';
    return { status: 'Unknown', reason: failure?.reason ?? Reason.BackendUnavailable, message };
  }
  if (weights.current === desiredWeight) {
    const message = `The backend says that the weight ${desiredWeight} is in force.`;
    return { status: 'True', reason: Reason.WeightAcknowledged, message };
  }
  if (desiredWeight > 0 && !hasRecords) {
    const message = `No host has a record. The weight ${desiredWeight} is acknowledged once a host of the cluster has one: until then, no other cluster goes to 0 because of it.`;
    return { status: 'False', reason: Reason.NoRecords, message };
  }
  if (unacknowledged !== undefined) {
    return { status: 'False', reason: Reason.AcknowledgeFailed, message: unacknowledged.message };
  }
  const message = `The backend does not say yet that the weight ${desiredWeight} is in force.`;
  return { status: 'False', reason: Reason.NotAcknowledgedYet, message };
}

/** Returns the condition ZonesRead; none without hosted zones. */
function zonesEntry(zones: readonly ZoneView[] = []): [Type, State][] {
  return zones.length === 0 ? [] : [[Type.ZonesRead, zonesState(zones)]];
}

function isTrue({ status }: State): boolean {
  return status === 'True';
}
