import { IN_PROGRESS_REASONS, WeightCondition, WeightReason } from '../../api/trafficweight/reasons.ts';
import {
  parseTrafficWeightSpec,
  TRAFFIC_WEIGHTS,
  type TrafficWeight,
  type TrafficWeightSpec,
  type TrafficWeightStatus,
} from '../../api/trafficweight/trafficWeight.ts';
import { isWithoutBody } from '../../runtime/cache/bodyBudget.ts';
import type { Overlay } from '../../runtime/cache/overlay.ts';
import { IncompleteError, WaitingError } from '../../runtime/client/errors.ts';
import { keyOf } from '../../runtime/client/resource.ts';
import {
  metaTime,
  conditionEvents,
  findCondition,
  STANDARD_TYPES,
  type ConditionRules,
  type PlannedEvent,
  isTerminating,
} from '../../runtime/controller/conditions.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Failure } from '../../runtime/process/problem.ts';
import { report } from '../../runtime/status/statusWriter.ts';
import { createFailureOf, OVERTAKEN_RETRY_MS } from '../../runtime/status/writeFailures.ts';
import { ownEndpointOf, ownerOf, planRecords, type RecordsPlan } from '../../weights/plan/plan.ts';
import { NO_REMOVALS, UNKNOWN_REMOVALS } from '../../weights/plan/removal.ts';
import { ASK_GATE, nextStep, type RampStep } from '../../weights/ramp/ramp.ts';
import { differencesIn, unmarkable } from '../../weights/zone/differences.ts';
import { longestTtl, type DnsEndpoint } from '../../weights/records/endpoint.ts';
import { endpointKeyOf, type Source } from '../../weights/records/source.ts';
import {
  NOTHING_BEFORE,
  writeRecords,
  type Before,
  type RecordWriters,
  type Written,
} from '../../weights/write/writeRecords.ts';
import { decideWeight } from './decide/desired.ts';
import { divide, settingsOf } from './decide/divide.ts';
import { explain, waitingOf, withCurrent, withDifferences } from './decide/hosts.ts';
import { behindOf, lateSince, type LateSince } from './decide/late.ts';
import { rampEvents, rampSceneOf } from './decide/ramp.ts';
import { isInForce, statusOf, terminatingStatus, undecidedStatus, type KnownWeight } from './decide/status.ts';
import type { Outcome } from './decide/outcome.ts';
import { removalEvents } from './decide/written.ts';
import { comparisonOf, knownZones, lastingDifferences, unreadZoneOf, type Comparison } from './decide/zones.ts';
import type { IngressEvents } from './events.ts';
import type { TrafficWeightMetrics } from './metrics.ts';
import type { WeightObjects } from './weightObjects.ts';
import { BY_OWNER, problemOf, type Caches } from './observe/caches.ts';
import { ASK_AGAIN_MS, type Gates } from './observe/gates.ts';
import type { BackendView, Candidate, Observation, ZoneView } from './observe/observation.ts';
import { observe } from './observe/observe.ts';

/** Whether a weight is active, and a host has a record with it. */
interface InForceState {
  readonly isInForce: boolean;
  readonly hasRecords: boolean;
}

/** The dependencies of a reconcile. */
export interface Dependencies {
  readonly caches: Caches;
  readonly weights: WeightObjects['lister'];
  /** Returns the last results of the backend of a spec; undefined before its first read, and with a static weight. */
  readonly backendOf: (spec: TrafficWeightSpec) => BackendView | undefined;
  /** Returns the last results of the hosted zones of a spec. */
  readonly zonesOf: (spec: TrafficWeightSpec) => readonly ZoneView[];
  /** Stores whether the weight of this view is active in a TrafficWeight. */
  readonly setInForce: (weight: TrafficWeight, view: BackendView, state: InForceState) => void;
  readonly statuses: WeightObjects['statuses'];
  readonly endpoints: Overlay<DnsEndpoint>;
  readonly gates: Pick<Gates, 'ask' | 'forget'>;
  readonly writers: RecordWriters;
  readonly events: WeightObjects['events'];
  readonly ingressEvents: IngressEvents;
  readonly metrics: TrafficWeightMetrics;
  readonly clock: Pick<Clock, 'now'>;
  /** The namespaces that have its hosts by its last plan, by the name of the TrafficWeight. */
  readonly held: Map<string, RecordsPlan['held']>;
  /** The decisions about removals in the last plan of each TrafficWeight, by its name. */
  readonly removals: Map<string, RecordsPlan['removals']>;
  /** By the name of the TrafficWeight: the writes that failed in the rounds since all were tried, and the slow namespaces. */
  readonly rounds: Map<string, Before>;
  /** By the name of the TrafficWeight: since when a ramp waits for each namespace. */
  readonly late: Map<string, LateSince>;
  /** By the name of the TrafficWeight: since when its hosts differ from the hosted zones. */
  readonly differing: Map<string, Comparison['since']>;
  readonly isLeader: () => boolean;
}

/** Delay before the next try while something cannot be read: a cache that was read, and is empty, causes no event. */
const REQUEUE_MS = 5_000;
/** Corrects what others have changed without an event, such as the status. */
const RESYNC_MS = 300_000;
const TOO_LARGE = {
  reason: WeightReason.NotRead,
  message:
    'the TrafficWeights of the cluster take more memory than the operator has for them, and this is one of the largest: the records are unchanged; make this one smaller, or delete others, then change this one',
};
/** Delay before the writes that a round has left. The queue serves other TrafficWeights in between. */
const NEXT_ROUND_MS = 1;

const failureOf = createFailureOf(TRAFFIC_WEIGHTS, {
  forbidden: WeightReason.WriteFailed,
  refused: WeightReason.WriteFailed,
  unreachable: WeightReason.WriteFailed,
  failed: WeightReason.WriteFailed,
});

/** Suppresses events about the moment that external-dns and the backend need after each change. */
const EVENTS: ConditionRules = {
  types: { ...STANDARD_TYPES, ZonesRead: { healthy: 'True' }, IngressesAccepted: { healthy: 'True' } },
  silent: IN_PROGRESS_REASONS,
};

/**
 * Reconciles one TrafficWeight: observe, decide, act, report. Level-based: the triggering event does not matter. Writes
 * nothing while something cannot be read: the records are unchanged.
 *
 * @param key the name of the TrafficWeight
 * @throws IncompleteError if a write failed, and WaitingError if another client wrote a DNSEndpoint meanwhile, after the status says so;
 *   WaitingError if another client wrote the object; ApiError, TransportError
 */
export async function reconcile(
  d: Dependencies,
  key: string,
  signal?: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const weight = d.statuses.newest(key);
  if (weight === undefined || !d.isLeader()) {
    d.metrics.forget(key);
    d.ingressEvents.forget(key);
    d.gates.forget(key);
    d.held.delete(key);
    d.removals.delete(key);
    d.rounds.delete(key);
    d.late.delete(key);
    d.differing.delete(key);
    if (weight === undefined) d.statuses.forget(key);
    return undefined;
  }
  if (isTerminating(weight)) {
    const status = terminatingStatus(weight, d.clock.now());
    d.metrics.record(key, status);
    await d.statuses.write(weight, status, signal === undefined ? {} : { signal });
    return undefined;
  }
  if (isWithoutBody(weight)) {
    await reportUndecided(d, weight, { why: TOO_LARGE }, signal);
    return undefined;
  }
  // Before a report of this process replaces the conditions.
  if (!d.removals.has(key)) d.removals.set(key, removalsBefore(weight));
  const problem = problemOf(d.caches);
  const parsed = parseTrafficWeightSpec(weight);
  if ('problems' in parsed) {
    const why = { reason: WeightReason.InvalidSpec, message: parsed.problems.join('; ') };
    await reportUndecided(d, weight, { why }, signal);
    return undefined;
  }
  const { spec } = parsed;
  const backend = d.backendOf(spec);
  // Until this reconcile has ended, its weight may not be active.
  if (backend !== undefined) d.setInForce(weight, backend, { isInForce: false, hasRecords: false });
  const zones = d.zonesOf(spec);
  const desired = decideWeight({ spec, weight, backend, problem });
  // The end of the first read enqueues, but not a TrafficWeight that was created meanwhile.
  if (desired.kind === 'Waiting') return { requeueAfterMs: REQUEUE_MS };
  if (desired.kind === 'Undecided') {
    await reportUndecided(d, weight, { ...desired, backend, zones }, signal);
    return { requeueAfterMs: REQUEUE_MS };
  }
  const { desiredWeight } = desired;
  const step = await rampStepOf(d, weight, { spec, desired: desiredWeight, zones }, signal);
  return applyWeight(d, weight, { spec, desiredWeight, step, backend, zones }, signal);
}

/**
 * Returns what earlier processes decided about removals, as far as the status tells. Versions without RemovalsConfirmed wrote it into Applied, where
 * another reason, such as a failed write, may replace RemovalNotConfirmed.
 */
function removalsBefore({ status }: TrafficWeight): RecordsPlan['removals'] {
  const { Applied, RemovalsConfirmed } = WeightCondition;
  const states = [Applied, RemovalsConfirmed].map((type) => findCondition(status?.conditions, type)?.status ?? 'True');
  return states.every((state) => state === 'True') ? NO_REMOVALS : UNKNOWN_REMOVALS;
}

async function applyWeight(
  d: Dependencies,
  weight: TrafficWeight,
  { spec, desiredWeight, step, backend, zones }: Pick<Outcome, 'spec' | 'desiredWeight' | 'step' | 'backend' | 'zones'>,
  signal?: AbortSignal,
): Promise<ReconcileResult> {
  const name = weight.metadata?.name ?? '';
  const { candidates, weights, ...scene } = observe(weight, d);
  const settings = settingsOf(spec, step.weight);
  const { selected: sources, ...division } = divide(weight, { weights, candidates }, scene.labelOf);
  const heldBefore = d.held.get(name) ?? new Map<string, string>();
  const beyond = beyondOf(candidates, spec);
  const known = { settings, sources, zones: knownZones(zones), heldBefore };
  const before = d.rounds.get(name) ?? NOTHING_BEFORE;
  const removedBefore = d.removals.get(name) ?? NO_REMOVALS;
  const removals = { allowed: spec.allowRemoval, before: removedBefore, now: d.clock.now() };
  const stale = staleOf(beyond, name, scene);
  const leftOut = new Set([...beyond.map(endpointKeyOf), ...stale]);
  const plan = planRecords({ ...scene, ...division, ...known, removals, leftOut, owner: name });
  d.held.set(name, plan.held);
  d.removals.set(name, plan.removals);
  const result = await writeRecords(plan, { ...d.writers, signal }, before);
  const { failures, left, unwritten, slow, overtaken } = result;
  d.rounds.set(name, { failed: new Set([...failures.keys(), ...(left > 0 ? before.failed : [])]), slow });
  signal?.throwIfAborted();
  const explained = plan.sources.map((planned) => [planned, explain(planned, step)] as const);
  d.ingressEvents.record(name, explained);
  const endpoints = endpointsNow(plan, d.endpoints);
  const comparison = compare(d, name, { zones, endpoints });
  const marks = (zones ?? []).length === 0 ? unmarkable(endpoints.values()) : [];
  const hosts = withDifferences(
    explained.flatMap(([, each]) => each),
    [...lastingDifferences(comparison, zones ?? []), ...marks],
  );
  const writes = {
    failures: [...failures].map(([key, error]) => ({ key, ...failureOf(`DNSEndpoint ${key}`, error) })),
    // A DNSEndpoint that another client changed is not written yet.
    left: [...unwritten].filter((key) => !failures.has(key)),
  };
  const since = lateSince({ endpoints, unwritten }, spec, { before: d.late.get(name), now: d.clock.now() });
  d.late.set(name, since);
  const outcome = {
    ...{ spec, desiredWeight, step, backend, zones, comparison, unmarkable: marks, hosts, endpoints },
    ingresses: plan.sources.length,
    beyond: beyond.map(({ namespace }) => namespace),
    waiting: waitingOf(candidates, spec),
    stale: [...plan.stale, ...stale].sort(),
    ...{ failures: writes.failures, left: writes.left.length },
    behind: behindOf({ endpoints, ...writes }, since, d.clock.now()),
    hasRecords: plan.sources.some(({ desired }) => desired !== undefined),
    unconfirmed: plan.unconfirmed,
    orphans: plan.remaining.filter(({ isOrphan }) => isOrphan).map(({ key }) => key),
  };
  const status = statusOf(weight, outcome, d.clock.now());
  const { unconfirmed } = outcome;
  d.metrics.record(name, status, { hosts: withCurrent(explained, outcome.endpoints), unconfirmed });
  await reportStatus(d, weight, { status, events: removalEvents(unconfirmed, removedBefore) }, signal);
  const state = { isInForce: isInForce(status, spec), hasRecords: outcome.hasRecords };
  if (backend !== undefined) d.setInForce(weight, backend, state);
  if (hasNextRound(result)) return { requeueAfterMs: NEXT_ROUND_MS };
  if (failures.size > 0) throw new IncompleteError(outcome.failures);
  if (overtaken !== undefined)
    throw new WaitingError('Conflict', `DNSEndpoint ${overtaken} was written by another client`, OVERTAKEN_RETRY_MS);
  return { requeueAfterMs: Math.min(untilPublished(status), untilNextStep(status, d.clock.now())) };
}

/** Compares the DNSEndpoints with the hosted zones, and remembers since when each host differs. */
function compare(
  { differing, clock }: Pick<Dependencies, 'differing' | 'clock'>,
  name: string,
  { zones = [], endpoints }: Pick<Outcome, 'zones' | 'endpoints'>,
): Comparison {
  const differences = zones.length === 0 ? [] : differencesIn(endpoints.values(), knownZones(zones).zones);
  const comparison = comparisonOf(differences, differing.get(name), clock.now());
  differing.set(name, comparison.since);
  return comparison;
}

/** Reasons of Published for which time alone decides: a read that finds a zone unchanged causes no reconcile, and a failed one that says the same neither. */
const BY_TIME: ReadonlySet<string> = new Set([WeightReason.NotPublishedYet, WeightReason.ZoneUnavailable]);

/** Returns the milliseconds until the next reconcile. */
function untilPublished({ conditions }: TrafficWeightStatus): number {
  const published = findCondition(conditions, WeightCondition.Published);
  return BY_TIME.has(published?.reason ?? '') ? ASK_AGAIN_MS : RESYNC_MS;
}

/** Whether the writes that a round has left follow at once. If all writes of the round failed, they wait for the backoff. */
export function hasNextRound({ written, failures, left }: Pick<Written, 'written' | 'failures' | 'left'>): boolean {
  return left > 0 && (written > 0 || failures.size === 0);
}

/** Returns the sources that the TrafficWeight might select if the cache had room for them. */
function beyondOf(candidates: readonly Candidate[], { sources }: TrafficWeightSpec): Source[] {
  const beyond = candidates.filter(({ isBeyond, source }) => isBeyond && sources?.includes(source.kind) !== false);
  return beyond.map(({ source }) => source);
}

/**
 * Returns the keys of the DNSEndpoints that sources beyond the memory have, unless another TrafficWeight has written them, and of those
 * of this TrafficWeight that are beyond the memory.
 */
export function staleOf(
  beyond: readonly Source[],
  name: string,
  { endpointOf, owned }: Pick<Observation, 'endpointOf' | 'owned'>,
): string[] {
  const ofSources = beyond.filter((source) => {
    const own = ownEndpointOf(source, endpointOf);
    return own !== undefined && (ownerOf(own) ?? name) === name;
  });
  const reduced = owned.filter((endpoint) => ownerOf(endpoint) === name && isWithoutBody(endpoint));
  return [...new Set([...ofSources.map(endpointKeyOf), ...reduced.map(keyOf)])];
}

/** Returns the desired DNSEndpoints of a plan, and those that stay, in their state after its writes. */
function endpointsNow({ sources, remaining }: RecordsPlan, endpoints: Overlay<DnsEndpoint>) {
  const planned = sources.filter(({ desired }) => desired !== undefined).map(({ source }) => endpointKeyOf(source));
  return new Map([...planned, ...remaining.map(({ key }) => key)].map((key) => [key, endpoints.get(key)]));
}

async function reportUndecided(
  d: Dependencies,
  weight: TrafficWeight,
  { why, ...known }: { readonly why: Failure } & KnownWeight,
  signal?: AbortSignal,
): Promise<void> {
  const status = undecidedStatus(weight, why, { ...known, now: metaTime(d.clock.now()) });
  d.metrics.record(weight.metadata?.name ?? '', status);
  await reportStatus(d, weight, { status }, signal);
}

async function reportStatus(
  d: Dependencies,
  weight: TrafficWeight,
  { status, events = [] }: { readonly status: TrafficWeightStatus; readonly events?: readonly PlannedEvent[] },
  signal?: AbortSignal,
): Promise<void> {
  const all = [
    ...conditionEvents(weight.status?.conditions, status.conditions, EVENTS),
    ...rampEvents(weight.status, status),
    ...events,
  ];
  await report(d, { about: weight, status, events: all }, signal === undefined ? {} : { signal });
}

/** The dependencies of `rampStepOf`. */
interface StepDependencies {
  readonly gates: Pick<Gates, 'ask'>;
  readonly endpoints: Pick<Overlay<DnsEndpoint>, 'byIndex'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Decides the step of the records, and queries the gate before a step that is due. @param desired the weight that the backend requests */
export async function rampStepOf(
  { gates, endpoints, clock }: StepDependencies,
  weight: TrafficWeight,
  { spec, desired, zones }: Pick<Outcome, 'spec' | 'zones'> & { readonly desired: number },
  signal: AbortSignal = new AbortController().signal,
): Promise<RampStep> {
  const name = weight.metadata?.name ?? '';
  // There may be thousands of records, which only a ramp has to look at.
  const publishedTtl = spec.ramp === undefined ? 0 : longestTtl(endpoints.byIndex(BY_OWNER, name));
  const isUnverified = unreadZoneOf(zones) !== undefined;
  const scene = rampSceneOf(weight, { spec, desired, publishedTtl, isUnverified, now: clock.now() });
  const step = nextStep(scene);
  const gate = spec.ramp?.gate;
  if (step !== ASK_GATE) return step;
  if (gate === undefined) throw new Error('a ramp without a gate does not query one');
  return nextStep(scene, await gates.ask(name, gate, signal));
}

/** Returns the milliseconds until the next step may be due. @param now ms since 1970 */
function untilNextStep({ ramp }: TrafficWeightStatus, now: number): number {
  if (ramp?.nextStepTime === undefined) return Infinity;
  const ms = Date.parse(ramp.nextStepTime) - now;
  return ms > 0 ? ms : ASK_AGAIN_MS;
}
