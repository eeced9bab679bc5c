import { ComponentReason, StackReason } from '../../api/trafficstack/reasons.ts';
import { TRAFFIC_STACKS, type ComponentStatus, type TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import { removeFinalizer } from '../../runtime/apply/finalizer.ts';
import { isWithoutBody } from '../../runtime/cache/bodyBudget.ts';
import { IncompleteError, RetryError } from '../../runtime/client/errors.ts';
import { NODES } from '../../runtime/client/resources.ts';
import { terminatingConditions } from '../../runtime/controller/conditions.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Failure } from '../../runtime/process/problem.ts';
import type { StatusWriter } from '../../runtime/status/statusWriter.ts';
import { act, type Writers } from './act/act.ts';
import type { NameFound } from './act/defaultStack.ts';
import { announce, announceFirst, reportStatus, reportUndecided, type Reporting } from './announce.ts';
import { EXTERNAL_REASONS } from './decide/componentEvents.ts';
import { foundExternals } from './decide/external.ts';
import { planStack, type StackPlan } from './decide/plan.ts';
import { type Writing, asDecidedLast, statusOf, tooLargeStatus } from './decide/status.ts';
import { type Renderings, NO_COMPONENTS, observeDesired, desiredStackOf } from './desired.ts';
import type { TrafficStackMetrics } from './metrics.ts';
import { withPresentRevisions } from './model/formerRevision.ts';
import type { Observation } from './model/observation.ts';
import { FIELD_MANAGER, FINALIZER } from './names.ts';
import type { AnswerFeed } from './observe/answerFeed.ts';
import { problemOf } from './observe/caches.ts';
import { withEvents, type EventReader, withPods, type PodReader } from './observe/evidence.ts';
import type { FirstSeen } from './observe/firstSeen.ts';
import type { ForeignReader, ForeignObjects } from './observe/foreignObjects.ts';
import { withForeignObjects, type DesiredStack, type Observed } from './observe/observe.ts';

/** The dependencies of a reconcile. */
export interface Dependencies extends Reporting, Omit<Observed, 'foreignObjects' | 'clock'> {
  readonly writers: Writers;
  readonly answers: Pick<AnswerFeed, 'answer' | 'requery'>;
  readonly firstSeen: Pick<FirstSeen, 'of' | 'record' | 'forget'>;
  readonly renderings: Pick<Renderings, 'render' | 'forget'>;
  /** Returns why nothing of a stack is written, for example because the stacks of users are off. */
  readonly refusalOf: (stack: TrafficStack) => Failure | undefined;
  readonly podReader: Pick<PodReader, 'read'>;
  readonly eventReader: Pick<EventReader, 'read'>;
  readonly foreignObjects: Pick<ForeignObjects, 'readerFor' | 'forget'>;
  readonly nameFound: NameFound;
  readonly statuses: Pick<StatusWriter<TrafficStack>, 'write' | 'newest' | 'forget'>;
  readonly metrics: TrafficStackMetrics;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly isLeader: () => boolean;
}

/** The finalizer of the garbage collector: metav1.FinalizerOrphanDependents. */
const ORPHAN_FINALIZER = 'orphan';
/** ms until unsynced caches are checked again. */
const CACHE_RETRY_MS = 5_000;
/** ms until an external object is read again while its watch is not current. */
const STALE_WATCH_MS = 10_000;
/** ms until a server is queried again. A silent server must be reported within 10 s, which includes the timeout of a probe. */
const SERVER_POLL_MS = 5_000;
/** ms until a stack with unfinished writes is planned again. */
const CONTINUE_MS = 1_000;
/** ms until changes without an event are corrected. */
const RESYNC_MS = 300_000;

/**
 * Reconciles one TrafficStack: observe, decide, report, act, report failures. Level-based: the triggering event does not matter.
 *
 * @param key the name of the TrafficStack
 * @throws IncompleteError, RetryError if a write failed, after the status says so; WaitingError if another client wrote the object meanwhile;
 *   ApiError, TransportError
 */
export async function reconcile(
  d: Dependencies,
  key: string,
  signal?: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const stack = await newestOf(d, key, signal);
  if (stack === undefined) {
    d.statuses.forget(key);
    d.renderings.forget(key);
  }
  if (stack === undefined || !d.isLeader()) {
    d.metrics.forget(key);
    d.firstSeen.forget(key);
    d.foreignObjects.forget(key);
    return undefined;
  }
  const isLeaving = stack.metadata?.deletionTimestamp !== undefined;
  if (isWithoutBody(stack)) {
    d.foreignObjects.forget(key);
    d.renderings.forget(key);
    await reportStatus(d, stack, tooLargeStatus(stack, d.clock.now()), signal);
    return undefined;
  }
  const refusal = d.refusalOf(stack);
  if (refusal !== undefined) {
    d.foreignObjects.forget(key);
    // Only the operator removes its finalizer. Its objects are deleted with it, in no order.
    if (isLeaving) return removeStackFinalizer(d, stack, signal);
    await reportUndecided(d, stack, refusal, signal);
    return undefined;
  }
  const problem = problemOf(d.caches);
  if (problem !== undefined) {
    await reportUndecided(d, stack, { reason: StackReason.NotRead, message: problem }, signal);
    return { requeueAfterMs: CACHE_RETRY_MS };
  }
  const desired = isLeaving ? NO_COMPONENTS : desiredStackOf(stack, d);
  if ('why' in desired) {
    d.foreignObjects.forget(key);
    await reportUndecided(d, stack, desired.why, signal);
    return undefined;
  }
  return apply(d, stack, desired, signal);
}

/** Returns the present stack. Reads a stack that is being deleted if its body is not cached: its objects are removed in the order of its inventory. */
async function newestOf(d: Dependencies, key: string, signal?: AbortSignal): Promise<TrafficStack | undefined> {
  const cached = d.statuses.newest(key);
  const isLeaving = cached?.metadata?.deletionTimestamp !== undefined;
  if (!isLeaving || !isWithoutBody(cached) || !d.isLeader()) return cached;
  // The operator has no right to get a stack, only to list.
  const name = { fieldSelector: `metadata.name=${key}`, limit: 1 };
  const [live] = await d.client.list(TRAFFIC_STACKS, { ...name, ...(signal && { signal }) });
  return live;
}

async function apply(
  d: Dependencies,
  stack: TrafficStack,
  first: DesiredStack,
  signal?: AbortSignal,
): Promise<ReconcileResult | undefined> {
  if (isOrphaning(stack)) return removeStackFinalizer(d, stack, signal);
  const specs = first.components.map(({ spec }) => spec);
  await announceFirst(d, stack, specs, signal);
  const newest = (of: TrafficStack): TrafficStack => withPresentRevisions(withNewestStatus(d, of), first.components);
  const found = newest(stack);
  const foreignObjects = d.foreignObjects.readerFor(found.metadata?.name ?? '');
  const seen = await observeDesired(found, first, { ...d, foreignObjects }, d.clock.now());
  if ('why' in seen) {
    d.foreignObjects.forget(found.metadata?.name ?? '');
    await reportUndecided(d, found, seen.why, signal);
    return undefined;
  }
  const { observation, desired } = seen;
  const plan = await planFrom(observation, { ...d, foreignObjects });
  foreignObjects.end();
  recordTimes(d, found, plan);
  const isLeaving = found.metadata?.deletionTimestamp !== undefined;
  if (isLeaving && plan.inventory.length === 0) return removeStackFinalizer(d, found, signal);
  await announce(d, found, plan, signal);
  // The operator may not delete the remaining objects, and the status says so.
  if (isLeaving && plan.isRemoved) return removeStackFinalizer(d, found, signal);
  const { failures, open } = await act(plan, found, d.writers, signal);
  // The signal may be aborted by now, and the status must report failures.
  const written = newest(found);
  await reportStatus(d, written, statusOf(written, plan, { failures, open, now: d.clock.now() }));
  await d.nameFound(found, foundExternals(found, observation.components));
  return resultOf(d, { plan, desired, foreignObjects, failures, open });
}

/** Uses the newest status, so that no Event is sent twice. The plan is for the spec that was found. */
function withNewestStatus({ statuses }: Pick<Dependencies, 'statuses'>, found: TrafficStack): TrafficStack {
  const newest = statuses.newest(found.metadata?.name ?? '');
  const { status } = newest === undefined || isWithoutBody(newest) ? found : newest;
  return asDecidedLast({ ...found, ...(status && { status }) });
}

/** The inputs of the time of the next reconcile. */
interface Outcome {
  readonly plan: StackPlan;
  readonly desired: DesiredStack;
  readonly foreignObjects: Pick<ForeignReader, 'hasStaleWatch'>;
}

/** Returns whether the objects stay, as `kubectl delete --cascade=orphan` requests: the garbage collector removes their owner references. */
function isOrphaning({ metadata }: TrafficStack): boolean {
  return metadata?.deletionTimestamp !== undefined && metadata.finalizers?.includes(ORPHAN_FINALIZER) === true;
}

/** Removes the finalizer. Other controllers may have finalizers too: the stack is not Ready until it no longer exists. */
async function removeStackFinalizer(d: Dependencies, stack: TrafficStack, signal?: AbortSignal): Promise<undefined> {
  const left = await removeFinalizer(d.client, TRAFFIC_STACKS, stack, FINALIZER, FIELD_MANAGER);
  if (!left?.metadata?.finalizers?.length) return;
  if (left !== stack) d.stacks.wrote(left);
  const name = left.metadata.name ?? '';
  const about = d.statuses.newest(name) ?? left;
  const status = { ...about.status, conditions: terminatingConditions(about, d.clock.now()) };
  d.metrics.record(name, status);
  await d.statuses.write(about, status, signal === undefined ? {} : { signal });
}

/** Returns the error of a reconcile with failed writes. Writes that were not tried wait for no backoff, only for a delay that the API server asked for. */
export function errorOfWriting({ failures, open }: Writing): IncompleteError | RetryError {
  const error = new IncompleteError(failures);
  if (open.size === 0 || error.retryAfterMs > CONTINUE_MS) return error;
  return new RetryError(error.message, CONTINUE_MS, { cause: error });
}

/** @throws IncompleteError, RetryError if a write has failed */
function resultOf(
  { clock }: Pick<Dependencies, 'clock'>,
  { failures, open, ...outcome }: Writing & Outcome,
): ReconcileResult {
  if (failures.length > 0) throw errorOfWriting({ failures, open });
  if (open.size > 0) return { requeueAfterMs: CONTINUE_MS };
  const { deadlineAt, evidenceAt } = outcome.plan;
  const untilDeadline = Math.max(0, Math.min(deadlineAt, evidenceAt) - clock.now());
  return { requeueAfterMs: Math.min(resyncMs(outcome), untilDeadline) };
}

/** Records times before any write: a change must not look like the earlier state. */
function recordTimes({ firstSeen, answers, clock }: Dependencies, { metadata }: TrafficStack, plan: StackPlan): void {
  firstSeen.record(metadata?.name ?? '', plan.facts);
  const now = clock.monotonic();
  for (const [query, since] of plan.requery) answers.requery(query, Math.min(since, now));
}

function resyncMs({ plan: { statuses }, desired: { components }, foreignObjects }: Outcome): number {
  // Servers and programs on nodes cause no events.
  const probed = new Set(
    components.flatMap(({ spec: { name }, externalProvider }) =>
      externalProvider?.probe !== undefined || externalProvider?.listener !== undefined ? [name] : [],
    ),
  );
  const isPolled = ({ name, uses, state, reason }: ComponentStatus): boolean =>
    uses?.url !== undefined ||
    uses?.kind === NODES.kind ||
    reason === ComponentReason.WaitingForSecret ||
    (probed.has(name) && (state === 'Waiting' || EXTERNAL_REASONS.has(reason)));
  if (statuses.some(isPolled)) return SERVER_POLL_MS;
  return foreignObjects.hasStaleWatch ? STALE_WATCH_MS : RESYNC_MS;
}

/** Returns the plan. Reads objects that are about to be created, since they may belong to another owner, and the pods and Events that the plan needs. */
async function planFrom(
  observation: Observation,
  d: Pick<Dependencies, 'nodes' | 'podReader' | 'eventReader'> & {
    readonly foreignObjects: Pick<ForeignReader, 'find'>;
  },
): Promise<StackPlan> {
  const plan = planStack(observation);
  const more =
    (await withForeignObjects(observation, plan, d.foreignObjects)) ??
    (await withPods(observation, plan, d.podReader, d.nodes)) ??
    (await withEvents(observation, plan, d.eventReader));
  // The new objects may let other components continue.
  return more === undefined ? plan : planFrom(more, d);
}
