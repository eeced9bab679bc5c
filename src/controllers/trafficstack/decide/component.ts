import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import { DEFAULT_DEADLINE, type ComponentState } from '../../../api/trafficstack/terms.ts';
import { type ComponentStatus, TRAFFIC_STACKS } from '../../../api/trafficstack/trafficStack.ts';
import { managersOf } from '../../../runtime/apply/managedFields.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { metaTime, cut } from '../../../runtime/controller/conditions.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import { usesOf } from '../model/external.ts';
import type { LeftObject, Requery, Observation, ObservedComponent, ObservedObject } from '../model/observation.ts';
import { COMPONENT_LABEL } from '../names.ts';
import { workloadsOf } from '../render/kinds.ts';
import { isOfStack, mayApply, mustBeReplaced } from '../render/objects.ts';
import { isExternal, priorOf, usesOfUser } from './external.ts';
import { deadlineOf, externalState, presentState, wasReady, type Decided } from './presentState.ts';
import { worstOf, figuresOf, versionOf } from './readiness.ts';
import { readyAnswer } from './upgrade/freshness.ts';
import { waitingOf } from './order.ts';
import { unreadyOf } from './upgrade/hold.ts';
import {
  brokenPodsOf,
  beginRollback,
  lostState,
  restoredState,
  planStore,
  type StorePlan,
} from './upgrade/rollback.ts';
import { lastReadyOf, type Waves } from './upgrade/waves.ts';
import type { Blocker } from './waiting.ts';

/** The decision about one component. */
export interface PlannedComponent extends Blocker, Omit<StorePlan, 'note'> {
  /** Objects in the order of their writes. An object that is up to date causes no write. */
  readonly apply: readonly ObservedObject[];
  /** When the component becomes Failed, or Degraded if it only starts more pods. ms since 1970; undefined if there is no deadline. */
  readonly deadlineAt?: number;
  /** True if all pods are available: only `ready` can keep the component from being ready. */
  readonly isAvailable: boolean;
  /** True while the owner of an external object has time to restore or start it. */
  readonly isAwaiting: boolean;
  /** The query that must be sent again. */
  readonly requery?: Requery | undefined;
}

/** The inputs of a decision besides the component. */
interface Surroundings extends Pick<Observation, 'stack' | 'left' | 'gate' | 'seen' | 'now'> {
  /** The dependencies and the components of earlier waves, as decided, by name. */
  readonly before: ReadonlyMap<string, Blocker>;
  readonly waves: Waves;
}

/** Characters of a message, which may quote a kubelet. */
const LONGEST_MESSAGE = 512;
/** Reasons of a failure that ends when its object is gone. */
const NOT_HELD: ReadonlySet<string> = new Set([Reason.ForeignObject, Reason.ObjectFailed]);
/** States in which the deadline runs. */
const STARTING: ReadonlySet<ComponentState> = new Set(['Progressing', 'Unknown']);

/**
 * Decides about one component.
 *
 * | its objects                          | it has what it waits for (see order.ts) | state                  | applied |
 * |--------------------------------------|------|-------------------------------------------|-----|
 * | are not written (see external.ts)    | any  | as below, or Progressing or Degraded (ExternalMissing) | no |
 * | one is another owner's               | any  | Failed (ForeignObject)                    | no  |
 * | one is of another component that is being removed | any | Waiting (WaitingForRemoval)       | no  |
 * | one is missing or differs from the spec | no | Waiting                                  | those that are current |
 * | the same, and the operator lacks what they need (see BuiltIn.waitsFor) | yes | Waiting (WaitingForSecret) | those that are current |
 * | differ from the spec, and the change is held (see hold.ts) | yes | Waiting (WaitingForWave, UpgradeStopped, WaitingForGate) | those that are current |
 * | one is missing or differs from the spec | yes | Progressing                             | yes |
 * | are current, and none has a status   | any  | Ready (AllApplied)                        | yes |
 * | are current, of the type Objects, a Job has failed | any | Failed (ObjectFailed)           | yes |
 * | are current, of the type Objects, one is not ready (see objectReadiness.ts) | any | Degraded if it was ready with this spec, else Progressing (NotReadyYet) | yes |
 * | are current, one is being deleted    | any  | Degraded if it was ready with this spec, else Progressing (BeingDeleted) | yes |
 * | are current, without a new status    | any  | Unknown                                   | yes |
 * | are current, a TrafficWeight is not ready | any | Degraded if it was ready with this spec, and its weight is not only on its way; else Progressing | yes |
 * | are current, pods are replaced or not available | any | Degraded if it was ready with this spec and does not only have more pods to start, else Progressing | yes |
 * | are current, pods are available, `ready` is not true | any | Degraded if it was ready with this spec, else Progressing; Unknown without an answer | yes |
 * | are current, pods are available      | any  | Ready                                     | yes |
 * | are of its last ready revision       | any  | Failed (RollingBack, then RolledBack)     | yes |
 *
 * Progressing and Unknown become Failed at the deadline. A component that was ready with this spec instead becomes Degraded if its additional pods
 * are not available, or stays Unknown. A failed component stays Failed until it is ready or its spec changes: a failed revision blocks the next wave,
 * also after a rollback. A current object is applied even if a
 * dependency is not ready, which corrects changes of other clients.
 */
export function planComponent(component: ObservedComponent, around: Surroundings): PlannedComponent {
  const { stack, now } = around;
  const prior = priorOf(component, stack);
  const wasReadyBefore = prior?.state === 'Ready' && wasReady(component, prior);
  const answer = readyAnswer(component, { wasReady: wasReadyBefore, seen: around.seen });
  const fresh = answer === undefined ? component : { ...component, answer };
  const { decided: present, apply } = decide(fresh, around, prior);
  const { isAvailable = false, requery, isGrowing = false, what = whatOf(component), ...decided } = present;
  const replaced = apply.filter(mustBeReplaced);
  const kept = apply.filter((each) => !replaced.includes(each) && each.isCompleted !== true);
  const held = holdFailure(decided, component, prior);
  const since = sinceOf(held, component, { prior, now });
  const ready = readyRevisionOf(held, component, prior);
  // At the deadline of what is awaited, the operator makes its own.
  const isAwaiting = component.external?.awaited !== undefined;
  const hasDeadline = STARTING.has(held.state) && (ready === undefined || isGrowing) && !isAwaiting;
  const deadlineAt = hasDeadline ? deadlineOf(component.spec, since) : Infinity;
  const timed = atDeadline(held, component, { deadlineAt, now });
  const { name, type } = component.spec;
  const status: ComponentStatus = {
    ...{ name, type },
    ...timed,
    message: cut(timed.message, LONGEST_MESSAGE),
    since: timed === held ? since : metaTime(now),
    revision: component.revision,
    ...(ready !== undefined && { readyRevision: ready }),
    ...lastReadyOf({ mode: held.mode, readyRevision: ready }, prior),
    ...unreadyOf({ ...timed, ...(ready !== undefined && { readyRevision: ready }) }, component, prior),
    ...versionOf(component, held),
    ...(held.mode === undefined && component.rolledBackFrom && { rolledBackFrom: component.rolledBackFrom }),
  };
  const common = { what, apply: kept, isAvailable, isAwaiting, requery, dependsOn: component.spec.dependsOn };
  if (status.mode === 'External') return { ...common, status, ...(hasDeadline && { deadlineAt }) };
  const planned = finish(isAvailable ? fresh : component, status, { stack, now, deadlineAt, isAvailable });
  const drop = [...(planned.drop ?? []), ...replaced.flatMap((each) => leftOf(component.spec.name, each))];
  return { ...common, ...planned, drop };
}

/** Adds the stored revision and the deleted objects, and the time of the next reconcile: the deadline, or at once if a rollback begins. */
function finish(
  component: ObservedComponent,
  status: ComponentStatus,
  {
    stack,
    now,
    deadlineAt,
    isAvailable,
  }: Pick<Surroundings, 'stack' | 'now'> & { readonly deadlineAt: number; readonly isAvailable: boolean },
): Pick<PlannedComponent, 'status' | 'drop' | 'store' | 'deadlineAt'> {
  const broken = brokenPodsOf(component, now);
  if (component.rolledBackFrom !== undefined) return { status, drop: broken };
  const decided = beginRollback(component, status, isAvailable);
  const { note, drop = [], ...stored } = planStore(stack, component, decided);
  const noted = note === undefined ? decided : { ...decided, message: `${decided.message}; ${note}` };
  const dueAt = decided.rolledBackFrom === undefined ? deadlineAt : now;
  const isTimed = deadlineAt < Infinity || decided.rolledBackFrom !== undefined;
  return { status: noted, ...stored, drop: [...broken, ...drop], ...(isTimed && { deadlineAt: dueAt }) };
}

/** A live object that is deleted, so that the next reconcile creates it. */
function leftOf(component: string, { resource, live }: ObservedObject): LeftObject[] {
  return live === undefined || live.metadata?.deletionTimestamp !== undefined ? [] : [{ component, resource, live }];
}

function decide(
  component: ObservedComponent,
  around: Surroundings,
  prior: ComponentStatus | undefined,
): { decided: Decided; apply: readonly ObservedObject[] } {
  const { stack, now } = around;
  const past = { prior, now };
  const { objects } = component;
  const held = objects.find(({ live, heldBy }) => heldBy !== undefined && live !== undefined && isOfStack(live, stack));
  if (isExternal(component, stack)) {
    const present = held === undefined ? externalState(component, stack, past) : heldState(held, around, prior);
    const uses = component.external === undefined ? usesOfUser(component, stack) : usesOf(component, prior?.uses);
    return { decided: { mode: 'External', ...uses, ...present, ...figuresOf(component) }, apply: [] };
  }
  const foreign = objects.find((each) => !mayApply(each, stack));
  if (foreign !== undefined) {
    return { decided: { state: 'Failed', reason: Reason.ForeignObject, message: foreignText(foreign) }, apply: [] };
  }
  if (held !== undefined) return { decided: heldState(held, around, prior), apply: [] };
  const { rolledBackFrom } = component;
  if (rolledBackFrom !== undefined && component.stored === undefined) {
    return { decided: { ...lostState(rolledBackFrom), ...figuresOf(component) }, apply: [] };
  }
  const open = objects.filter(({ isCurrent }) => !isCurrent);
  if (rolledBackFrom !== undefined) {
    const present = presentState(component, open, past);
    return { decided: { ...present, ...restoredState(component, rolledBackFrom, present) }, apply: objects };
  }
  const waiting = open.length === 0 ? undefined : waitingOf(component, open, { ...around, prior });
  if (waiting !== undefined) {
    return { decided: { ...waiting, ...figuresOf(component) }, apply: objects.filter(({ isCurrent }) => isCurrent) };
  }
  return { decided: presentState(component, open, past), apply: objects };
}

function foreignText(foreign: ObservedObject): string {
  const owner = foreign.live && foreignOwnerOf(foreign.live);
  const isOf = owner === undefined ? '' : `, but of ${owner}`;
  return `${idOf(foreign)} exists and is not of this stack${isOf}: it is left as it is`;
}

/** Returns the state of a component that shares an object with a component that is being removed. */
function heldState(
  held: ObservedObject,
  { stack, now }: Pick<Surroundings, 'stack' | 'now'>,
  prior: ComponentStatus | undefined,
): Decided {
  const { heldBy: component = '' } = held;
  const what = idOf(held);
  const removed = stack.status?.components?.find(({ name, state }) => name === component && state === 'Removing');
  const before =
    prior?.waitingOn?.component === component && prior.waitingOn.what === what ? prior.waitingOn : undefined;
  const observed = removed === undefined ? `it still has ${what}` : `Removing: ${removed.message}`;
  const waitingOn = { component, what, observed, since: removed?.since ?? before?.since ?? metaTime(now) };
  const message = `${what} is still of the component ${component}, which is being removed`;
  return { state: 'Waiting', reason: Reason.WaitingForRemoval, message, blockedBy: [component], waitingOn };
}

/**
 * Returns the revision if the component was ready with it and was not applied again since. Unknown for a while, another weight of the backend, and
 * more pods to start do not end that.
 */
function readyRevisionOf(
  { state, reason }: Decided,
  component: ObservedComponent,
  prior: ComponentStatus | undefined,
): string | undefined {
  if (state === 'Ready') return component.revision;
  const isOnTheWay = state === 'Progressing' && reason !== Reason.Applying;
  const isUnchanged = state === 'Degraded' || state === 'Unknown' || isOnTheWay;
  return isUnchanged && wasReady(component, prior) ? component.revision : undefined;
}

/** Keeps a component Failed until it is ready or its spec changes. A failed write may succeed later. */
function holdFailure(decided: Decided, { revision }: ObservedComponent, prior: ComponentStatus | undefined): Decided {
  if (prior?.state !== 'Failed' || prior.revision !== revision || !STARTING.has(decided.state)) return decided;
  if (NOT_HELD.has(prior.reason) || prior.rolledBackFrom !== undefined) return decided;
  const message = `not ready in time: ${decided.message}`;
  return { ...decided, state: 'Failed', reason: Reason.DeadlineExceeded, message };
}

function atDeadline(
  decided: Decided,
  { spec: { deadline = DEFAULT_DEADLINE } }: ObservedComponent,
  { deadlineAt, now }: { readonly deadlineAt: number; readonly now: number },
): Decided {
  if (now < deadlineAt) return decided;
  const message = `not ready within ${deadline}: ${decided.message}`;
  return { ...decided, state: 'Failed', reason: Reason.DeadlineExceeded, message };
}

/** Returns the object that messages name: the least ready workload or TrafficWeight, any other object, or the object that is searched. */
function whatOf({ objects, external }: ObservedComponent): string {
  const object = worstOf(workloadsOf(objects)) ?? objects.find(({ isCurrent }) => !isCurrent) ?? objects.at(-1);
  const what = object === undefined ? external?.sought : idOf(object);
  if (what === undefined) throw new Error('a component has no object');
  return what;
}

/** Returns when the state began. The deadline continues from Unknown to Progressing, and restarts with another spec. */
function sinceOf(
  { state }: Decided,
  { revision }: ObservedComponent,
  { prior, now }: { readonly prior: ComponentStatus | undefined; readonly now: number },
): string {
  if (prior === undefined) return metaTime(now);
  const goesOn = STARTING.has(prior.state) && STARTING.has(state) && prior.revision === revision;
  return goesOn || (prior.state === state && !STARTING.has(state)) ? prior.since : metaTime(now);
}

/** Annotations that Helm writes on the objects of a release. */
const RELEASE = 'meta.helm.sh/release-name';
const RELEASE_NAMESPACE = 'meta.helm.sh/release-namespace';

/**
 * Returns the owner of an object that does not belong to the stack, to be read after "of":
 *
 * | the object                        | whose it is                                  |
 * |-----------------------------------|----------------------------------------------|
 * | has an owner, a controller first  | `the TrafficStack other, component db`, or `ReplicaSet web-64fd5676` |
 * | has the annotations of helm       | `the helm release databases/orders`          |
 * | has managed fields                | `the field manager kubectl-client-side-apply` |
 * | has none of these                 | undefined                                    |
 *
 * The object of another stack is in the cache, without its managed fields: that one is its controller. Any other was read as it is.
 */
export function foreignOwnerOf({ metadata }: KubeObject): string | undefined {
  const { ownerReferences = [], labels = {}, annotations = {}, managedFields = [] } = metadata ?? {};
  const owner = ownerReferences.find(({ controller }) => controller === true) ?? ownerReferences[0];
  if (owner?.kind === TRAFFIC_STACKS.kind) {
    const component = labels[COMPONENT_LABEL];
    return `the TrafficStack ${owner.name}${component === undefined ? '' : `, component ${component}`}`;
  }
  if (owner !== undefined) return `${owner.kind} ${owner.name}`;
  const release = annotations[RELEASE];
  const namespace = annotations[RELEASE_NAMESPACE];
  if (release !== undefined) return `the helm release ${namespace === undefined ? '' : `${namespace}/`}${release}`;
  const managers = managersOf(managedFields);
  if (managers.length === 0) return undefined;
  return `the field manager${managers.length === 1 ? '' : 's'} ${managers.join(', ')}`;
}
