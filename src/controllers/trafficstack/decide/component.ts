import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import { DEFAULT_DEADLINE, type ComponentState } from '../../../api/trafficstack/terms.ts';
import type { ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import { metaTime, cut } from '../../../runtime/controller/conditions.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import type { AskAgain, LeftObject, Observation, ObservedComponent, ObservedObject } from '../observe/observation.ts';
import { workloadsOf } from '../render/kinds.ts';
import { isOfStack, mayApply, mustBeReplaced } from '../render/objects.ts';
import { foreignOwnerOf } from './cause/foreignOwner.ts';
import { isExternal, priorOf, usesOf, usesOfUser } from './present/external.ts';
import { deadlineOf, externalState, presentState, wasReady, type Decided } from './present/presentState.ts';
import { worstOf } from './present/readiness.ts';
import { figuresOf, versionOf } from './present/workloadFigures.ts';
import { brokenPodsOf } from './upgrade/brokenPods.ts';
import { readyAnswer } from './upgrade/freshness.ts';
import { waitingOf } from './order.ts';
import { unreadyOf } from './upgrade/hold.ts';
import { beginRollback, lostState, restoredState } from './upgrade/rollback.ts';
import { planStore, type StorePlan } from './upgrade/store.ts';
import { lastReadyOf, type Waves } from './upgrade/waves.ts';
import type { Blocker } from './waiting.ts';

/** What is decided about one component. */
export interface PlannedComponent extends Blocker, Omit<StorePlan, 'note'> {
  /** In their order. Those that are as they should be are no write. */
  readonly apply: readonly ObservedObject[];
  /** When it fails if nothing changes, or is Degraded if it only has more pods to start. ms since 1970; undefined if neither. */
  readonly deadlineAt?: number;
  /** Whether all its pods are available, so that only `ready` may keep it from being ready. */
  readonly isAvailable: boolean;
  /** Whether its owner has time to bring back what it used, or to start it. */
  readonly isAwaiting: boolean;
  /** What it waits for an answer to. */
  readonly again?: AskAgain | undefined;
}

/** What surrounds a component. */
export interface Surroundings extends Pick<Observation, 'stack' | 'left' | 'gate' | 'seen' | 'now'> {
  /** The components that it depends on and those of earlier waves, as decided already, by name. */
  readonly before: ReadonlyMap<string, Blocker>;
  readonly waves: Waves;
}

/** Characters of a message: it may quote one of a kubelet. */
const LONGEST_MESSAGE = 512;
/** States in which the deadline runs. */
const STARTING: ReadonlySet<ComponentState> = new Set(['Progressing', 'Unknown']);

/**
 * Decides about one component.
 *
 * | its objects                          | it has what it waits for (see order.ts) | state                  | applied |
 * |--------------------------------------|------|-------------------------------------------|-----|
 * | are not written (see external.ts)    | any  | as below, or Progressing or Degraded (ExternalMissing) | no |
 * | one is somebody else's               | any  | Failed (ForeignObject)                    | no  |
 * | one is of another component that is being removed | any | Waiting (WaitingForRemoval)       | no  |
 * | one is missing or differs from the spec | no | Waiting                                  | those that are current |
 * | the same, and the operator lacks what they need (see BuiltIn.waitsFor) | yes | Waiting (WaitingForSecret) | those that are current |
 * | differ from the spec, and the change is held (see hold.ts) | yes | Waiting (WaitingForWave, UpgradeStopped, WaitingForGate) | those that are current |
 * | one is missing or differs from the spec | yes | Progressing                             | yes |
 * | are current, and none has a status   | any  | Ready (AllApplied)                        | yes |
 * | are current, one is being deleted    | any  | Degraded if it was ready with this spec, else Progressing (BeingDeleted) | yes |
 * | are current, without a new status    | any  | Unknown                                   | yes |
 * | are current, a TrafficWeight is not ready | any | Degraded if it was ready with this spec, and its weight is not only on its way; else Progressing | yes |
 * | are current, pods are replaced or not available | any | Degraded if it was ready with this spec and does not only have more pods to start, else Progressing | yes |
 * | are current, pods are available, `ready` is not true | any | Degraded if it was ready with this spec, else Progressing; Unknown without an answer | yes |
 * | are current, pods are available      | any  | Ready                                     | yes |
 * | are those of its last ready revision | any  | Failed (RollingBack, then RolledBack)     | yes |
 *
 * Progressing and Unknown become Failed at the deadline, but not what was ready with this spec: that is Degraded if its additional pods are
 * not available by then, and stays Unknown otherwise. A component that failed is Failed until it is ready, or the spec changes it: a
 * revision that failed is in the way of the next wave, also while the last ready one is restored and runs. An object that is current is applied although a dependency is not ready: that
 * corrects what others have changed.
 */
export function planComponent(component: ObservedComponent, around: Surroundings): PlannedComponent {
  const { stack, now } = around;
  const prior = priorOf(component, stack);
  const wasInForce = prior?.state === 'Ready' && wasReady(component, prior);
  const answer = readyAnswer(component, { wasReady: wasInForce, seen: around.seen });
  const asked = answer === undefined ? component : { ...component, answer };
  const { decided: present, apply } = decide(asked, around, prior);
  const { isAvailable = false, again, isGrowing = false, ...decided } = present;
  const [replaced, kept] = [apply.filter(mustBeReplaced), apply.filter((each) => !mustBeReplaced(each))];
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
  const what = whatOf(component);
  const common = { what, apply: kept, isAvailable, isAwaiting, again, dependsOn: component.spec.dependsOn };
  if (status.mode === 'External') return { ...common, status, ...(hasDeadline && { deadlineAt }) };
  const planned = finish(isAvailable ? asked : component, status, { stack, now, deadlineAt, isAvailable });
  const drop = [...(planned.drop ?? []), ...replaced.flatMap((each) => leftOf(component.spec.name, each))];
  return { ...common, ...planned, drop };
}

/** What is stored and deleted of it, and when it is looked at again: at its deadline, and at once if a rollback begins. */
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
  const told = note === undefined ? decided : { ...decided, message: `${decided.message}; ${note}` };
  const again = decided.rolledBackFrom === undefined ? deadlineAt : now;
  const isTimed = deadlineAt < Infinity || decided.rolledBackFrom !== undefined;
  return { status: told, ...stored, drop: [...broken, ...drop], ...(isTimed && { deadlineAt: again }) };
}

/** A live object that is deleted, so that the next reconcile creates it. */
function leftOf(component: string, { resource, live }: ObservedObject): LeftObject[] {
  return live === undefined ? [] : [{ component, resource, live }];
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

/** The state of a component that has an object of another one, which is being removed. */
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
 * The revision, if it was ready and has not been changed since: one that is Unknown for a while is not new again, and neither is a
 * TrafficWeight whose backend asks for another weight, nor a workload that only has more pods to start. What is applied again is.
 */
function readyRevisionOf(
  { state, reason }: Decided,
  component: ObservedComponent,
  prior: ComponentStatus | undefined,
): string | undefined {
  if (state === 'Ready') return component.revision;
  const isOnTheWay = state === 'Progressing' && reason !== Reason.Applying;
  const isKept = state === 'Degraded' || state === 'Unknown' || isOnTheWay;
  return isKept && wasReady(component, prior) ? component.revision : undefined;
}

/** A component that was not ready in time is Failed until it is ready, or its spec is another one. A write that failed meanwhile may succeed. */
function holdFailure(decided: Decided, { revision }: ObservedComponent, prior: ComponentStatus | undefined): Decided {
  if (prior?.state !== 'Failed' || prior.revision !== revision || !STARTING.has(decided.state)) return decided;
  if (prior.reason === Reason.ForeignObject || prior.rolledBackFrom !== undefined) return decided;
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

/** The workload or TrafficWeight, else any object, or what is looked for; of several that which keeps it from being ready. */
function whatOf({ objects, external }: ObservedComponent): string {
  const object = worstOf(workloadsOf(objects)) ?? objects.find(({ isCurrent }) => !isCurrent) ?? objects.at(-1);
  const what = object === undefined ? external?.sought : idOf(object);
  if (what === undefined) throw new Error('a component has no object');
  return what;
}

/** The deadline runs on from Unknown to Progressing, and begins anew with another spec. */
function sinceOf(
  { state }: Decided,
  { revision }: ObservedComponent,
  { prior, now }: { readonly prior: ComponentStatus | undefined; readonly now: number },
): string {
  if (prior === undefined) return metaTime(now);
  const goesOn = STARTING.has(prior.state) && STARTING.has(state) && prior.revision === revision;
  return goesOn || (prior.state === state && !STARTING.has(state)) ? prior.since : metaTime(now);
}
