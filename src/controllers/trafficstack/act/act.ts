import { TRAFFIC_STACKS, type TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { ComponentReason, StackEvent } from '../../../api/trafficstack/reasons.ts';
import type { Applier } from '../../../runtime/apply/apply.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { keyOf, resourceName } from '../../../runtime/client/resource.ts';
import { ApiError, isInvalid, isNotFound, TransportError, WaitingError } from '../../../runtime/client/errors.ts';
import { forEachAtOnce } from '../../../runtime/async/limit.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import { remove } from '../../../runtime/objectSet/act.ts';
import { idOf, type Member } from '../../../runtime/objectSet/objectSet.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { createFailureOf } from '../../../runtime/status/writeFailures.ts';
import type { PlannedObject, StackPlan } from '../decide/plan.ts';
import type { ComponentFailure, Writing } from '../decide/failures.ts';
import { isUnserved, overlayOf, type Caches } from '../observe/caches.ts';
import type { RecentCalls } from '../observe/recentCalls.ts';
import { mayApply } from '../render/objects.ts';
import { driftText } from './drift.ts';

/** What writes. */
export interface Writers {
  /** Gated on leadership. */
  readonly client: Client;
  /** What applies an object, with its field manager. */
  readonly applierOf: (object: Pick<PlannedObject, 'fieldManager'>) => Pick<Applier, 'apply'>;
  readonly caches: Caches;
  /** Ids of objects that are being applied, of all stacks: two of them may want the same one. */
  readonly applying: Set<string>;
  /** Deletions by uid. A cache that is late has an object that was deleted a moment ago. */
  readonly deletions: Pick<RecentCalls<void>, 'call'>;
  readonly clock: Pick<Clock, 'monotonic' | 'setTimeout'>;
  readonly events: Pick<EventRecorder, 'event'>;
}

/** Components that are written at once. */
const AT_ONCE = 8;
/** No write begins later than this, ms: what is left is planned anew, with what is seen by then. */
const BEGIN_WITHIN_MS = 5_000;
/** A write without an answer counts as failed then, ms: as long as an attempt of the transport, and a webhook by default. */
const ANSWER_WITHIN_MS = 10_000;
/** ms */
const OVERTAKEN_AGAIN_MS = 1_000;

const failureOf = createFailureOf(TRAFFIC_STACKS, {
  forbidden: ComponentReason.WriteFailed,
  refused: ComponentReason.WriteFailed,
  unreachable: ComponentReason.WriteFailed,
  failed: ComponentReason.WriteFailed,
});

/** A write of a component. */
interface Step {
  readonly component: string;
  readonly member: Member;
  readonly write: (signal: AbortSignal) => Promise<void>;
}

/** The components of which a plan writes or deletes an object. */
export function writtenBy({ apply, store, remove: removed }: Writes): ReadonlySet<string> {
  return new Set([...apply, ...store, ...removed].map(({ component }) => component));
}

type Writes = Pick<StackPlan, 'apply' | 'store' | 'remove'>;

/**
 * Writes what a plan says: of each component in its order, several components at once. After a failure the other objects of that
 * component are left out; other components are written. No write begins after 5 s, and each is called off after 10 s: components that have
 * not been written by then are left `open`. So are all that are not finished when `signal` is aborted, which is no failure of theirs.
 *
 * @throws NotLeaderError; WaitingError if somebody else wrote the stack, or an object of it, meanwhile
 */
export async function act(
  plan: Writes,
  stack: TrafficStack,
  writers: Writers,
  signal: AbortSignal = new AbortController().signal,
): Promise<Writing> {
  const failures: ComponentFailure[] = [];
  const open = new Set(writtenBy(plan));
  const thrown: unknown[] = [];
  const { clock, caches } = writers;
  const lastBegin = clock.monotonic() + BEGIN_WITHIN_MS;
  const mayBegin = (): boolean => thrown.length === 0 && !signal.aborted && clock.monotonic() <= lastBegin;
  await forEachAtOnce(inOrder(plan, stack, writers), AT_ONCE, async ([component, steps]) => {
    for (const { member, write } of steps) {
      if (!mayBegin()) return;
      const late = new AbortController();
      const timer = clock.setTimeout(() => late.abort(), ANSWER_WITHIN_MS);
      try {
        await write(AbortSignal.any([signal, late.signal]));
      } catch (error) {
        if (signal.aborted || (late.signal.aborted && isUnsent(error))) return;
        // The others go on, and have ended before the next reconcile.
        const failure = failureUnlessThrown(member, error, { caches, thrown });
        if (failure === undefined) return;
        failures.push({ component, ...failure });
        break;
      } finally {
        timer.cancel();
      }
    }
    open.delete(component);
  });
  if (thrown.length > 0) throw thrown[0];
  return { failures, open };
}

/** Whether others were before it until its time was over. */
function isUnsent(error: unknown): boolean {
  return error instanceof TransportError && error.unsent;
}

function failureUnlessThrown(
  member: Member,
  error: unknown,
  { caches, thrown }: { readonly caches: Caches; readonly thrown: unknown[] },
) {
  const what = idOf(member);
  const missing = isUnserved(caches, member.resource) ? resourceName(member.resource) : undefined;
  try {
    return { ...failureOf(what, error), ...detailOf(what, error, missing) };
  } catch (other) {
    thrown.push(other);
    return undefined;
  }
}

/** The writes by component: first those that did not fail the last time, so that some that hang do not keep the others for ever. */
function inOrder(plan: Writes, stack: TrafficStack, writers: Writers): [string, Step[]][] {
  const { client, deletions } = writers;
  const applied = [...plan.apply, ...plan.store].map((planned): Step => {
    const write = (signal: AbortSignal) => apply(planned, stack, writers, signal);
    return { component: planned.component, member: planned, write };
  });
  const removed = plan.remove.map(({ component, resource, live }): Step => {
    const member = { resource, object: live };
    const { uid = idOf(member) } = live.metadata ?? {};
    const write = (signal: AbortSignal) => deletions.call(uid, () => remove(client, { member, live }, { signal }));
    return { component, member, write };
  });
  const failed = new Set(
    stack.status?.components?.flatMap(({ name, reason }) => (reason === ComponentReason.WriteFailed ? [name] : [])),
  );
  const byComponent = [...Map.groupBy([...applied, ...removed], ({ component }) => component)];
  return byComponent.toSorted(([a], [b]) => Number(failed.has(a)) - Number(failed.has(b)));
}

/** @throws WaitingError if another stack has written the object since it was observed, or is about to: both apply as one field manager */
async function apply(
  planned: PlannedObject,
  stack: TrafficStack,
  writers: Writers,
  signal: AbortSignal,
): Promise<void> {
  const { resource, object, live, fieldManager } = planned;
  const id = idOf(planned);
  const overlay = overlayOf(writers.caches, resource);
  const isFree = mayApply({ fieldManager, live: overlay.get(keyOf(object)) }, stack);
  if (!isFree || writers.applying.has(id)) {
    throw new WaitingError('Overtaken', `another stack has written ${id} first`, OVERTAKEN_AGAIN_MS);
  }
  writers.applying.add(id);
  try {
    let drift: string | undefined;
    const onDrift = async (paths: readonly string[]): Promise<void> => {
      drift = await driftText(writers.client, planned, paths);
    };
    const call = { takesNothingOver: true, createsByApply: true, onDrift, signal };
    const { object: answer, written } = await writers.applierOf(planned).apply(resource, object, live, call);
    if (written) overlay.wrote(answer);
    if (drift !== undefined) writers.events.event(stack, 'Warning', StackEvent.DriftCorrected, drift);
  } finally {
    writers.applying.delete(id);
  }
}

/**
 * What is wrong with an object that the API server rejects, in its words; or what is missing, such as its namespace.
 *
 * @param unserved the kind of the object, if the API server does not serve it: its answer does not name it
 */
function detailOf(what: string, error: unknown, unserved: string | undefined): { readonly message?: string } {
  if (isNotFound(error) && unserved !== undefined) {
    return { message: `${what}: the API server does not serve ${unserved}: its CRD is not installed` };
  }
  const isTold = error instanceof ApiError && (isInvalid(error) || isNotFound(error));
  return isTold ? { message: `${what}: ${error.detail}` } : {};
}
