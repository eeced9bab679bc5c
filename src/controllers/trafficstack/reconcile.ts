import { ComponentReason, StackReason } from '../../api/trafficstack/reasons.ts';
import { TRAFFIC_STACKS, type ComponentStatus, type TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import type { CachedNode } from '../../nodes/cachedNode.ts';
import { removeFinalizer } from '../../runtime/apply/finalizer.ts';
import type { Lister } from '../../runtime/cache/informer.ts';
import { NODES } from '../../runtime/client/resources.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import { IncompleteError, RetryError } from '../../runtime/client/errors.ts';
import type { Failure } from '../../runtime/process/problem.ts';
import type { StatusWriter } from '../../runtime/status/statusWriter.ts';
import { isWithoutBody } from '../../runtime/cache/bodyBudget.ts';
import { terminatingConditions } from '../../runtime/controller/conditions.ts';
import { act, type Writers } from './act/act.ts';
import type { NameFound } from './act/nameFound.ts';
import { OF_OTHERS } from './componentEvents.ts';
import { announce, announceFirst, reportStatus, reportUndecided, type Reporting } from './announce.ts';
import type { AllowedNamespaces } from './model/allowed.ts';
import type { Writing } from './decide/failures.ts';
import { foundExternals } from './decide/foundExternals.ts';
import { planStack, type StackPlan } from './decide/plan.ts';
import { asDecidedLast, statusOf, tooLargeStatus } from './decide/status.ts';
import type { TrafficStackMetrics } from './metrics.ts';
import { FIELD_MANAGER, FINALIZER } from './names.ts';
import type { AnswerFeed } from './observe/answers/answerFeed.ts';
import type { Sightings } from './observe/answers/sightings.ts';
import type { Renderings } from './renderings.ts';
import { problemOf, type Caches } from './observe/caches.ts';
import type { NodeListeners } from './observe/listening/nodeListeners.ts';
import type { Observation } from './observe/observation.ts';
import { withEvents, type EventReader } from './observe/events.ts';
import { withStrangers, type Wanted } from './observe/observe.ts';
import { withPods, type PodReader } from './observe/pods.ts';
import type { Sources } from './observe/standIn/found.ts';
import type { ServerProbes } from './observe/serverProbes.ts';
import type { Look, Strangers } from './observe/strangers/strangers.ts';
import { NOTHING, observeWanted, wantedOf } from './wanted.ts';

/** The dependencies of a reconcile. */
export interface Dependencies extends Reporting {
  readonly writers: Writers;
  readonly caches: Caches;
  readonly nodes: Pick<Lister<CachedNode>, 'get'>;
  readonly answers: Pick<AnswerFeed, 'answer' | 'askAgain'>;
  readonly sightings: Pick<Sightings, 'of' | 'record' | 'forget'>;
  readonly renderings: Pick<Renderings, 'render' | 'forget'>;
  readonly allowed: AllowedNamespaces;
  /** Why nothing of a stack is written although the operator runs, such as that the stacks of users are off. */
  readonly refusalOf: (stack: TrafficStack) => Failure | undefined;
  readonly podReader: Pick<PodReader, 'read'>;
  readonly eventReader: Pick<EventReader, 'read'>;
  readonly strangers: Pick<Strangers, 'look' | 'forget'>;
  readonly probes: Pick<ServerProbes, 'proof'>;
  readonly listeners: Pick<NodeListeners, 'ask'>;
  readonly nameFound: NameFound;
  readonly measurable: Sources['measurable'];
  readonly statuses: Pick<StatusWriter<TrafficStack>, 'write' | 'newest' | 'forget'>;
  readonly metrics: TrafficStackMetrics;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly isLeader: () => boolean;
}

/** Of the garbage collector of Kubernetes: metav1.FinalizerOrphanDependents. */
const ORPHAN_FINALIZER = 'orphan';
/** Until what cannot be read is tried again. */
const READ_AGAIN_MS = 5_000;
/** Until what is somebody else's is read again, while its watch is not current. */
const BLIND_AGAIN_MS = 10_000;
/** Until a server is asked again: that it does not answer is known after the timeout of a probe, and is to be told within 10 s. */
const SERVER_AGAIN_MS = 5_000;
/** Delay until a stack is planned again whose writes have not ended: ms. */
const GO_ON_MS = 1_000;
/** Corrects what others have changed without an event. */
const LOOK_AGAIN_MS = 300_000;

/**
 * Reconciles one TrafficStack: observe, decide, report what is seen, act, report what has failed. Level-based: the triggering event does not matter.
 *
 * @param key the name of the TrafficStack
 * @throws IncompleteError, RetryError if a write failed, after the status says so; WaitingError if somebody else wrote the object meanwhile;
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
    d.sightings.forget(key);
    d.strangers.forget(key);
    return undefined;
  }
  const isLeaving = stack.metadata?.deletionTimestamp !== undefined;
  if (isWithoutBody(stack)) {
    d.strangers.forget(key);
    d.renderings.forget(key);
    await reportStatus(d, stack, tooLargeStatus(stack, d.clock.now()), signal);
    return undefined;
  }
  const refusal = d.refusalOf(stack);
  if (refusal !== undefined) {
    d.strangers.forget(key);
    // Nobody else would remove its finalizer. Its objects are deleted with it, in no order.
    if (isLeaving) return leave(d, stack, signal);
    await reportUndecided(d, stack, refusal, signal);
    return undefined;
  }
  const problem = problemOf(d.caches);
  if (problem !== undefined) {
    await reportUndecided(d, stack, { reason: StackReason.NotRead, message: problem }, signal);
    return { requeueAfterMs: READ_AGAIN_MS };
  }
  const wanted = isLeaving ? NOTHING : wantedOf(stack, d);
  if ('why' in wanted) {
    d.strangers.forget(key);
    await reportUndecided(d, stack, wanted.why, signal);
    return undefined;
  }
  return apply(d, stack, wanted, signal);
}

/** The present stack. One that is being deleted is read if the cache has no body of it: its objects are removed in the order of its inventory. */
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
  first: Wanted,
  signal?: AbortSignal,
): Promise<ReconcileResult | undefined> {
  if (isOrphaning(stack)) return leave(d, stack, signal);
  const specs = first.components.map(({ spec }) => spec);
  await announceFirst(d, stack, specs, signal);
  const found = withNewestStatus(d, stack);
  const strangers = d.strangers.look(found.metadata?.name ?? '');
  const seen = await observeWanted(found, first, { ...d, strangers }, d.clock.now());
  if ('why' in seen) {
    d.strangers.forget(found.metadata?.name ?? '');
    await reportUndecided(d, found, seen.why, signal);
    return undefined;
  }
  const { observation, wanted } = seen;
  const plan = await planFrom(observation, { ...d, strangers });
  strangers.end();
  keepTimes(d, found, plan);
  const isLeaving = found.metadata?.deletionTimestamp !== undefined;
  if (isLeaving && plan.inventory.length === 0) return leave(d, found, signal);
  await announce(d, found, plan, signal);
  // What is left, the operator may not delete, and the status says so.
  if (isLeaving && plan.isRemoved) return leave(d, found, signal);
  const { failures, open } = await act(plan, found, d.writers, signal);
  // Its time may have passed by now, and the status has to say what has failed.
  const written = withNewestStatus(d, found);
  await reportStatus(d, written, statusOf(written, plan, { failures, open, now: d.clock.now() }));
  await d.nameFound(found, foundExternals(found, observation.components));
  return nextLook(d, { plan, wanted, strangers, failures, open });
}

/**
 * The stack that was found, with the status that this reconcile has written since: what that says is no news any more. A plan is of the spec
 * that was found: a newer one has its own generation.
 */
function withNewestStatus({ statuses }: Pick<Dependencies, 'statuses'>, found: TrafficStack): TrafficStack {
  const newest = statuses.newest(found.metadata?.name ?? '');
  const { status } = newest === undefined || isWithoutBody(newest) ? found : newest;
  return asDecidedLast({ ...found, ...(status && { status }) });
}

/** What decides when a stack is looked at again. */
interface Seen {
  readonly plan: StackPlan;
  readonly wanted: Wanted;
  readonly strangers: Pick<Look, 'isBlind'>;
}

/** Whether its objects are to stay, as `kubectl delete --cascade=orphan` asks: the garbage collector is about to take their owner references away. */
function isOrphaning({ metadata }: TrafficStack): boolean {
  return metadata?.deletionTimestamp !== undefined && metadata.finalizers?.includes(ORPHAN_FINALIZER) === true;
}

/** Removes the finalizer. Other controllers may have finalizers too: the stack is not Ready until it no longer exists. */
async function leave(d: Dependencies, stack: TrafficStack, signal?: AbortSignal): Promise<undefined> {
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
  if (open.size === 0 || error.retryAfterMs > GO_ON_MS) return error;
  return new RetryError(error.message, GO_ON_MS, { cause: error });
}

/** @throws IncompleteError, RetryError if a write has failed */
function nextLook(
  { clock }: Pick<Dependencies, 'clock'>,
  { failures, open, ...seen }: Writing & Seen,
): ReconcileResult {
  if (failures.length > 0) throw errorOfWriting({ failures, open });
  if (open.size > 0) return { requeueAfterMs: GO_ON_MS };
  const { deadlineAt, askAt } = seen.plan;
  const untilDeadline = Math.max(0, Math.min(deadlineAt, askAt) - clock.now());
  return { requeueAfterMs: Math.min(lookAgainMs(seen), untilDeadline) };
}

/** Before anything is written, so that what is changed now is not seen as it was before. */
function keepTimes({ sightings, answers, clock }: Dependencies, { metadata }: TrafficStack, plan: StackPlan): void {
  sightings.record(metadata?.name ?? '', plan.facts);
  const now = clock.monotonic();
  for (const [query, since] of plan.askAgain) answers.askAgain(query, Math.min(since, now));
}

function lookAgainMs({ plan: { statuses }, wanted: { components }, strangers }: Seen): number {
  // What answers over HTTP sends no event, neither while it is used nor when it begins to answer.
  const asking = new Set(
    components.flatMap(({ spec: { name }, standIn }) =>
      standIn?.probe !== undefined || standIn?.listener !== undefined ? [name] : [],
    ),
  );
  const isAsked = ({ name, uses, state, reason }: ComponentStatus): boolean =>
    uses?.url !== undefined ||
    uses?.kind === NODES.kind ||
    reason === ComponentReason.WaitingForSecret ||
    (asking.has(name) && (state === 'Waiting' || OF_OTHERS.has(reason)));
  if (statuses.some(isAsked)) return SERVER_AGAIN_MS;
  return strangers.isBlind ? BLIND_AGAIN_MS : LOOK_AGAIN_MS;
}

/**
 * The plan, after a look at what is about to be created: somebody else may have an object of its name. And at pods that are in no
 * cache and at Events, where nothing else tells why pods are not available.
 */
async function planFrom(
  observation: Observation,
  d: Pick<Dependencies, 'nodes' | 'podReader' | 'eventReader'> & { readonly strangers: Pick<Look, 'find'> },
): Promise<StackPlan> {
  const plan = planStack(observation);
  const more =
    (await withStrangers(observation, plan, d.strangers)) ??
    (await withPods(observation, plan, d.podReader, d.nodes)) ??
    (await withEvents(observation, plan, d.eventReader));
  // What was found may let others go on.
  return more === undefined ? plan : planFrom(more, d);
}
