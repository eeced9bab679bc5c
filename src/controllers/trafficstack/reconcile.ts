import { ComponentReason, StackReason } from '../../api/trafficstack/reasons.ts';
import { parseTrafficStackSpec } from '../../api/trafficstack/schema.ts';
import {
  TRAFFIC_STACKS,
  type ComponentStatus,
  type InventoryEntry,
  type InventoryObject,
  type TrafficStack,
  type TrafficStackStatus,
} from '../../api/trafficstack/trafficStack.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../runtime/apply/finalizer.ts';
import type { Overlay } from '../../runtime/cache/overlay.ts';
import type { Client } from '../../runtime/client/client.ts';
import { IncompleteError, RetryError } from '../../runtime/client/errors.ts';
import type { ReconcileResult } from '../../runtime/controller/controller.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import { idFor } from '../../runtime/objectSet/member.ts';
import { conditionEvents, STANDARD_TYPES, type ConditionRules } from '../../runtime/status/conditionEvents.ts';
import type { Failure } from '../../runtime/status/failure.ts';
import { report } from '../../runtime/status/report.ts';
import type { StatusWriter } from '../../runtime/status/statusWriter.ts';
import { act, writtenBy, type Writers } from './act/act.ts';
import type { Writing } from './decide/failures.ts';
import { orderComponents } from './decide/graph.ts';
import { planStack, type StackPlan } from './decide/plan.ts';
import { asDecidedLast, statusOf, undecidedStatus } from './decide/status.ts';
import { targetOf } from './decide/upgrade/target.ts';
import type { TrafficStackMetrics } from './metrics.ts';
import { FIELD_MANAGER, FINALIZER } from './names.ts';
import type { AnswerFeed } from './observe/answers/answerFeed.ts';
import type { Sightings } from './observe/answers/sightings.ts';
import type { Renderings } from './renderings.ts';
import { problemOf, type Caches } from './observe/caches.ts';
import type { Observation } from './observe/observation.ts';
import { withEvents, type EventReader } from './observe/events.ts';
import { observe, withStrangers, type Wanted } from './observe/observe.ts';
import { withPods, type PodReader } from './observe/pods.ts';
import { lastReadyRevision } from './observe/revisions.ts';
import type { ServerProbes } from './observe/serverProbes.ts';
import type { StrangerReader } from './observe/strangers.ts';

/** The dependencies of a reconcile. */
export interface Dependencies {
  /** Gated on leadership. */
  readonly client: Client;
  readonly writers: Writers;
  readonly caches: Caches;
  readonly answers: Pick<AnswerFeed, 'answer' | 'askAgain'>;
  readonly sightings: Pick<Sightings, 'of' | 'record' | 'forget'>;
  readonly renderings: Pick<Renderings, 'render' | 'forget'>;
  readonly podReader: Pick<PodReader, 'read'>;
  readonly eventReader: Pick<EventReader, 'read'>;
  readonly strangers: Pick<StrangerReader, 'read' | 'list'>;
  readonly probes: Pick<ServerProbes, 'problem'>;
  readonly stacks: Overlay<TrafficStack>;
  readonly statuses: Pick<StatusWriter<TrafficStack>, 'write' | 'newest' | 'forget'>;
  readonly events: Pick<EventRecorder, 'event'>;
  readonly metrics: TrafficStackMetrics;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly isLeader: () => boolean;
}

/** Until what cannot be read is tried again. */
const READ_AGAIN_MS = 5_000;
/** An object of somebody else is in no cache, so there is no event when it is gone. */
const FOREIGN_AGAIN_MS = 15_000;
/** What is somebody else's is in no cache either. */
const EXTERNAL_AGAIN_MS = 10_000;
/** The same for a server: that it does not answer is known after the timeout of a probe, and is to be told within 10 s. */
const SERVER_AGAIN_MS = 5_000;
/** Until what was not written in time is planned anew. */
const GO_ON_MS = 1_000;
/** Corrects what others have changed without an event. */
const LOOK_AGAIN_MS = 300_000;

/** That components begin, or are changed, is no event. */
const EVENTS: ConditionRules = { types: STANDARD_TYPES, silent: new Set([StackReason.InProgress]) };

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
  const stack = d.statuses.newest(key);
  if (stack === undefined) {
    d.statuses.forget(key);
    d.renderings.forget(key);
  }
  if (stack === undefined || !d.isLeader()) {
    d.metrics.forget(key);
    d.sightings.forget(key);
    return undefined;
  }
  const problem = problemOf(d.caches);
  if (problem !== undefined) {
    await reportUndecided(d, stack, { reason: StackReason.NotRead, message: problem }, signal);
    return { requeueAfterMs: READ_AGAIN_MS };
  }
  const isLeaving = stack.metadata?.deletionTimestamp !== undefined;
  const wanted = isLeaving ? NOTHING : wantedOf(stack, d);
  if ('why' in wanted) {
    await reportUndecided(d, stack, wanted.why, signal);
    return undefined;
  }
  return apply(d, asDecidedLast(stack), wanted, signal);
}

/** For a stack that is being deleted. */
const NOTHING: Wanted = { components: [], upgrade: {} };

function wantedOf(
  stack: TrafficStack,
  { renderings, caches }: Pick<Dependencies, 'renderings' | 'caches'>,
): Wanted | { why: Failure } {
  const parsed = parseTrafficStackSpec(stack);
  if ('problems' in parsed) return invalid(StackReason.InvalidSpec, parsed.problems);
  const ordered = orderComponents(parsed.spec.components);
  if ('problems' in ordered) return invalid(StackReason.InvalidDependencies, ordered.problems);
  const rendered = renderings.render(stack, parsed.spec, ordered.components);
  if ('problems' in rendered) return invalid(StackReason.InvalidComponents, rendered.problems);
  const { upgrade = {} } = parsed.spec;
  const targets = rendered.components.map((each) =>
    targetOf(each, { stack, upgrade, stored: lastReadyRevision(stack, each.spec.name, caches) }),
  );
  return { components: targets, upgrade };
}

function invalid(reason: StackReason, problems: readonly string[]): { why: Failure } {
  return { why: { reason, message: problems.join('; ') } };
}

async function apply(
  d: Dependencies,
  found: TrafficStack,
  wanted: Wanted,
  signal?: AbortSignal,
): Promise<ReconcileResult | undefined> {
  const plan = await planFrom(await observe(found, wanted, d, d.clock.now()), d);
  keepTimes(d, found, plan);
  if (found.metadata?.deletionTimestamp !== undefined && plan.inventory.length === 0) {
    await removeFinalizer(d.client, TRAFFIC_STACKS, found, FINALIZER, FIELD_MANAGER);
    return undefined;
  }
  await announce(d, found, plan, signal);
  const { failures, open } = await act(plan, found, d.writers, signal);
  // Its time may have passed by now, and the status has to say what has failed.
  // The plan is of the spec that was found: a newer one has its own generation.
  const { status } = d.statuses.newest(found.metadata?.name ?? '') ?? found;
  const stack = asDecidedLast({ ...found, ...(status && { status }) });
  await reportStatus(d, stack, statusOf(stack, plan, { failures, open, now: d.clock.now() }));
  return nextLook(d, { plan, wanted, failures, open });
}

/** @throws IncompleteError, RetryError if a write has failed */
function nextLook(
  { clock }: Pick<Dependencies, 'clock'>,
  { plan, wanted, failures, open }: Writing & { readonly plan: StackPlan; readonly wanted: Wanted },
): ReconcileResult {
  if (failures.length > 0) {
    const failure = new IncompleteError(failures);
    // What has not been tried waits for no backoff.
    throw open.size === 0 ? failure : new RetryError(failure.message, GO_ON_MS, { cause: failure });
  }
  if (open.size > 0) return { requeueAfterMs: GO_ON_MS };
  const untilDeadline = Math.max(0, Math.min(plan.deadlineAt, plan.askAt) - clock.now());
  return { requeueAfterMs: Math.min(lookAgainMs(plan, wanted), untilDeadline) };
}

/** Before anything is written, so that what is changed now is not seen as it was before. */
function keepTimes({ sightings, answers, clock }: Dependencies, { metadata }: TrafficStack, plan: StackPlan): void {
  sightings.record(metadata?.name ?? '', plan.facts);
  const now = clock.monotonic();
  for (const [query, since] of plan.askAgain) answers.askAgain(query, Math.min(since, now));
}

function lookAgainMs({ statuses }: StackPlan, { components }: Wanted): number {
  // Somebody may make the workload while an Auto component waits to do it.
  const auto = new Set(components.flatMap(({ spec }) => (spec.mode === 'Auto' ? [spec.name] : [])));
  const mayBeExternal = ({ name, mode, state }: ComponentStatus): boolean =>
    mode === 'External' || (state === 'Waiting' && auto.has(name));
  if (statuses.some(({ uses }) => uses?.url !== undefined)) return SERVER_AGAIN_MS;
  if (statuses.some(mayBeExternal)) return EXTERNAL_AGAIN_MS;
  const isForeign = statuses.some(({ reason }) => reason === ComponentReason.ForeignObject);
  return isForeign ? FOREIGN_AGAIN_MS : LOOK_AGAIN_MS;
}

/**
 * The plan, after a look at what is about to be created: somebody else may have an object of its name. And at pods that are in no
 * cache and at Events, where nothing else tells why pods are not available.
 */
async function planFrom(
  observation: Observation,
  d: Pick<Dependencies, 'client' | 'podReader' | 'eventReader'>,
): Promise<StackPlan> {
  const plan = planStack(observation);
  const more =
    (await withStrangers(observation, plan, d.client)) ??
    (await withPods(observation, plan, d.podReader)) ??
    (await withEvents(observation, plan, d.eventReader));
  // What was found may let others go on.
  return more === undefined ? plan : planFrom(more, d);
}

/**
 * Before anything is written: stores what is about to be created, keeps the stack until that is gone, and says what is seen. A write may
 * hang, and the status must not wait for it.
 */
async function announce(d: Dependencies, found: TrafficStack, plan: StackPlan, signal?: AbortSignal): Promise<void> {
  if (plan.apply.length > 0 && !hasFinalizer(found, FINALIZER)) {
    d.stacks.wrote(await addFinalizer(d.client, TRAFFIC_STACKS, found, FINALIZER, FIELD_MANAGER));
  }
  const status = statusOf(found, plan, { failures: [], open: writtenBy(plan), now: d.clock.now() });
  const known = found.status?.inventory ?? [];
  const isKnown = plan.inventory.every((entry) => known.some((other) => hasAll(other, entry)));
  try {
    await reportStatus(d, found, status, signal);
  } catch (error) {
    // What exists is corrected also while the status cannot be written. The report after that says so.
    if (!isKnown) throw error;
  }
}

function hasAll(entry: InventoryEntry, { component, dependsOn, objects }: InventoryEntry): boolean {
  // The API server orders the fields of an object in its own way.
  const idOfRef = ({ kind, ...ref }: InventoryObject): string => idFor({ kind }, ref);
  const known = new Set(entry.objects.map(idOfRef));
  const hasObjects = objects.every((ref) => known.has(idOfRef(ref)));
  return entry.component === component && hasObjects && dependsOn.every((name) => entry.dependsOn.includes(name));
}

function reportUndecided(d: Dependencies, stack: TrafficStack, why: Failure, signal?: AbortSignal): Promise<void> {
  return reportStatus(d, stack, undecidedStatus(stack, why, d.clock.now()), signal);
}

async function reportStatus(
  d: Dependencies,
  stack: TrafficStack,
  status: TrafficStackStatus,
  signal?: AbortSignal,
): Promise<void> {
  d.metrics.record(stack.metadata?.name ?? '', status);
  const events = conditionEvents(stack.status?.conditions, status.conditions, EVENTS);
  await report(d, { about: stack, status, events }, signal === undefined ? {} : { signal });
}
