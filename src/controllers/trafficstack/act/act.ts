import type { V1Deployment } from '@kubernetes/client-node';
import { ComponentReason, StackEvent } from '../../../api/trafficstack/reasons.ts';
import { TRAFFIC_STACKS, type TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { Applier } from '../../../runtime/apply/apply.ts';
import { heldBy, isUpdate, ownersPatch, takeOver } from '../../../runtime/apply/managedFields.ts';
import { forEachAtOnce, InFlight } from '../../../runtime/async/limit.ts';
import type { Client, CallOptions } from '../../../runtime/client/client.ts';
import { ApiError, isInvalid, isNotFound, TransportError, WaitingError } from '../../../runtime/client/errors.ts';
import { apiVersionOf, keyOf, refOfKey, resourceName, type KubeObject } from '../../../runtime/client/resource.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { firstOf } from '../../../runtime/controller/conditions.ts';
import type { EventRecorder } from '../../../runtime/controller/events.ts';
import { remove } from '../../../runtime/objectSet/act.ts';
import { idOf, type Member } from '../../../runtime/objectSet/objectSet.ts';
import { readLive } from '../../../runtime/objectSet/observe.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { createFailureOf, OVERTAKEN_RETRY_MS } from '../../../runtime/status/writeFailures.ts';
import type { PlannedObject, StackPlan } from '../decide/plan.ts';
import type { ComponentFailure, Writing } from '../decide/status.ts';
import { FIELD_MANAGER } from '../names.ts';
import { isUnserved, overlayOf, type Caches } from '../observe/caches.ts';
import type { RecentCalls } from '../observe/recentCalls.ts';
import { mayApply } from '../render/objects.ts';

/** The dependencies of the writes. */
export interface Writers {
  /** Writes only while the process is the leader. */
  readonly client: Client;
  /** Returns the applier with the field manager of an object. */
  readonly applierOf: (object: Pick<PlannedObject, 'fieldManager'>) => Pick<Applier, 'apply'>;
  readonly caches: Caches;
  /** Ids of the objects that are being applied, for all stacks: two stacks may request the same object. */
  readonly applying: Set<string>;
  /** Deletions by uid. A late cache still has an object that was deleted a moment ago. */
  readonly deletions: Pick<RecentCalls<void>, 'call'>;
  readonly clock: Pick<Clock, 'monotonic' | 'setTimeout'>;
  readonly events: Pick<EventRecorder, 'event'>;
}

/** Components written at once. */
const AT_ONCE = 8;
/** ms: no write begins later. The next reconcile plans the remaining ones again. */
const BEGIN_WITHIN_MS = 5_000;
/** ms: a write without an answer fails. Attempts of the transport and, by default, webhooks have the same timeout. */
const ANSWER_WITHIN_MS = 10_000;

const failureOf = createFailureOf(TRAFFIC_STACKS, {
  forbidden: ComponentReason.WriteFailed,
  refused: ComponentReason.WriteFailed,
  unreachable: ComponentReason.WriteFailed,
  failed: ComponentReason.WriteFailed,
});

/** One write for a component. */
interface Step {
  readonly component: string;
  readonly member: Member;
  readonly write: (signal: AbortSignal) => Promise<void>;
}

/** Returns the components with a write or a deletion in a plan. */
export function writtenBy({ apply, store, remove: removed }: Writes): ReadonlySet<string> {
  return new Set([...apply, ...store, ...removed].map(({ component }) => component));
}

type Writes = Pick<StackPlan, 'apply' | 'store' | 'remove'>;

/**
 * Performs the writes of a plan: in order within a component, several components at once. After a failure, the remaining writes of that component are
 * skipped. No write begins after 5 s, and each is cancelled after 10 s. Components with unfinished writes are returned as `open`, also when `signal`
 * is aborted.
 *
 * @throws NotLeaderError; WaitingError if another client wrote the stack or one of its objects meanwhile
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

/** Returns whether the write was still waiting for its turn when its time ended. */
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

/** Groups the writes by component. Components whose last write failed come last: writes that hang must not delay the others for ever. */
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
    throw new WaitingError('Overtaken', `another stack has written ${id} first`, OVERTAKEN_RETRY_MS);
  }
  writers.applying.add(id);
  try {
    let drift: string | undefined;
    const onDrift = async (paths: readonly string[]): Promise<void> => {
      drift = await driftText(writers.client, planned, paths);
    };
    const prepare = () => giveUpStrategy(writers.client, planned, signal);
    const call = { takesNothingOver: true, createsByApply: true, prepare, onDrift, signal };
    const { object: answer, written } = await writers.applierOf(planned).apply(resource, object, live, call);
    if (written) overlay.wrote(answer);
    if (drift !== undefined) writers.events.event(stack, 'Warning', StackEvent.DriftCorrected, drift);
  } finally {
    writers.applying.delete(id);
  }
}

/**
 * Lets the next apply remove Recreate from a Deployment. The merge patch that sets Recreate (see removalPatch) makes the operator the owner of the type
 * by an update, and the API server removes only fields that nobody owns but by apply.
 *
 * @throws ApiError, TransportError; WaitingError if another client changes the owners of fields meanwhile
 */
async function giveUpStrategy(client: Client, planned: PlannedObject, signal: AbortSignal): Promise<void> {
  const { object, live, resource, fieldManager: manager = FIELD_MANAGER } = planned;
  const strategyOf = (each: V1Deployment | undefined) => each?.spec?.strategy;
  const isLeft = strategyOf(live)?.type === 'Recreate' && strategyOf(object) === undefined;
  if (object.kind !== DEPLOYMENTS.kind || !isLeft) return;
  const ref = refOfKey(keyOf(object));
  const { metadata } = await client.get(resource, ref, { signal });
  const { managedFields = [] } = metadata ?? {};
  const owner = { manager, apiVersion: apiVersionOf(resource) };
  const after = takeOver(managedFields, owner, (entry) => isUpdate(entry) && entry.manager === manager);
  const patch = ownersPatch(live?.metadata?.uid, managedFields, after);
  if (patch.length === 0) return;
  try {
    await client.jsonPatch(resource, ref, patch, { fieldManager: manager, signal });
  } catch (error) {
    if (!isInvalid(error)) throw error;
    const message = `other clients change who owns the fields of ${idOf(planned)}`;
    throw new WaitingError('Overtaken', message, OVERTAKEN_RETRY_MS, { cause: error });
  }
}

/**
 * Quotes the API server about what is missing, such as the namespace.
 *
 * @param unserved the kind of the object, if the API server does not serve it: its answer does not name it
 */
function detailOf(what: string, error: unknown, unserved: string | undefined): { readonly message?: string } {
  if (isNotFound(error) && unserved !== undefined) {
    return { message: `${what}: the API server does not serve ${unserved}: its CRD is not installed` };
  }
  return error instanceof ApiError && isNotFound(error) ? { message: `${what}: ${error.detail}` } : {};
}

/** Fields named in a message. */
const MOST_FIELDS = 3;

/**
 * Says who changed an object that is about to be corrected, and which fields: `Deployment shop/web: the field manager kubectl-edit had changed
 * .spec.replicas`. It reads the object, because caches have no managed fields. Returns undefined if the object cannot be read, or if no other manager
 * changed it: the API server stores some values in another form, and a cache may be late.
 *
 * @param paths of the values that are not as applied
 */
export async function driftText(
  client: Client,
  member: Member & { readonly fieldManager?: string | undefined },
  paths: readonly string[],
): Promise<string | undefined> {
  const live = await readLive(client, member).catch(undefinedIfUnreadable);
  if (live === undefined) return undefined;
  const { fieldManager = FIELD_MANAGER } = member;
  const changed = paths.filter((path) => !holders(live, path).includes(fieldManager));
  if (changed.length === 0) return undefined;
  const managers = [...new Set(changed.flatMap((path) => holders(live, path)))].sort();
  const plural = managers.length === 1 ? '' : 's';
  // A removed field has no manager.
  const who = managers.length === 0 ? 'an unknown field manager' : `the field manager${plural} ${managers.join(', ')}`;
  return `${idOf(member)}: ${who} had changed ${firstOf(changed, MOST_FIELDS)}`;
}

function holders({ metadata }: KubeObject, path: string): string[] {
  return heldBy(metadata?.managedFields ?? [], path);
}

/** @throws any error of this program */
function undefinedIfUnreadable(error: unknown): undefined {
  if (error instanceof ApiError || error instanceof TransportError) return undefined;
  throw error;
}

/**
 * Creates a client with a limit of writes in flight, first come, first served. The transport sends 16 calls at once, and reads and statuses need some
 * of them while writes hang.
 */
export function limitWrites(client: Client, limit: number): Client {
  const inFlight = new InFlight(limit);
  const inTurn = async <R>({ signal = new AbortController().signal }: CallOptions, send: () => Promise<R>) => {
    const release = inFlight.tryAcquire() ?? (await inFlight.acquire(signal));
    if (release === undefined) throw new TransportError('cancelled', { failure: 'aborted', unsent: true });
    try {
      return await send();
    } finally {
      release();
    }
  };
  return {
    get: (resource, ref, options) => client.get(resource, ref, options),
    list: (resource, options) => client.list(resource, options),
    create: (resource, object, options = {}) => inTurn(options, () => client.create(resource, object, options)),
    apply: (resource, object, options) => inTurn(options, () => client.apply(resource, object, options)),
    mergePatch: (resource, ref, patch, options) =>
      inTurn(options, () => client.mergePatch(resource, ref, patch, options)),
    jsonPatch: (resource, ref, operations, options) =>
      inTurn(options, () => client.jsonPatch(resource, ref, operations, options)),
    delete: (resource, ref, options = {}) => inTurn(options, () => client.delete(resource, ref, options)),
  };
}
