import { durationMs } from '../../../api/durationSchema.ts';
import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import { DEFAULT_DEADLINE, type ComponentState } from '../../../api/trafficstack/terms.ts';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { IN_PROGRESS_REASONS } from '../../../api/trafficweight/reasons.ts';
import { metaTime } from '../../../runtime/controller/conditions.ts';
import { idOf } from '../../../runtime/objectSet/member.ts';
import { cut } from '../../../runtime/status/cut.ts';
import type { AskAgain, Observation, ObservedComponent, ObservedObject } from '../observe/observation.ts';
import { workloadsOf } from '../render/kinds.ts';
import { isOfStack, mayApply } from '../render/objects.ts';
import { causeOf } from './cause/cause.ts';
import { isExternal, isOfOthers, missingState, priorOf, usesOf } from './external.ts';
import { podsOfAll, readinessOf, worstOf } from './readiness.ts';
import { unmetBy } from './unmet.ts';
import { brokenPodsOf } from './upgrade/brokenPods.ts';
import { readyAnswer } from './upgrade/freshness.ts';
import { holdAtGate } from './upgrade/gate.ts';
import { beginRollback, lostState, restoredState } from './upgrade/rollback.ts';
import { planStore, type StorePlan } from './upgrade/store.ts';
import { waitFor, type Blocker } from './waiting.ts';
import { figuresOf, figuresText, versionOf } from './workloadFigures.ts';

/** What is decided about one component. */
export interface PlannedComponent extends Blocker, Omit<StorePlan, 'note'> {
  /** In their order. Those that are as they should be are no write. */
  readonly apply: readonly ObservedObject[];
  /** When it fails if nothing changes, ms since 1970; undefined if it does not. */
  readonly deadlineAt?: number;
  /** Whether all its pods are available, so that only `ready` may keep it from being ready. */
  readonly isAvailable: boolean;
  /** What it waits for an answer to. */
  readonly again?: AskAgain | undefined;
}

/** The state of a component, without its name and time. */
type Decided = Pick<ComponentStatus, 'state' | 'reason' | 'message'> &
  Partial<ComponentStatus> &
  Partial<Pick<PlannedComponent, 'isAvailable' | 'again'>>;

/** What surrounds a component. */
export interface Surroundings extends Pick<Observation, 'stack' | 'left' | 'gate' | 'seen' | 'now'> {
  /** The components that it depends on, as decided already, by name. */
  readonly before: ReadonlyMap<string, Blocker>;
}

/** Characters of a message: it may quote one of a kubelet. */
const LONGEST_MESSAGE = 512;
/** States in which the deadline runs. */
const STARTING: ReadonlySet<ComponentState> = new Set(['Progressing', 'Unknown']);

/**
 * Decides about one component.
 *
 * | its objects                          | all that it depends on is ready | state                          | applied |
 * |--------------------------------------|------|-------------------------------------------|-----|
 * | are not written (see external.ts)    | any  | as below, or Progressing or Degraded (ExternalMissing) | no |
 * | one is somebody else's               | any  | Failed (ForeignObject)                    | no  |
 * | one is of another component that is being removed | any | Waiting (WaitingForRemoval)       | no  |
 * | one is missing or differs from the spec | no | Waiting                                  | those that are current |
 * | differ from the spec, and the gate is closed (see gate.ts) | yes | Waiting (WaitingForGate) | those that are current |
 * | one is missing or differs from the spec | yes | Progressing                             | yes |
 * | are current, and none has a status   | any  | Ready (AllApplied)                        | yes |
 * | are current, one is being deleted    | any  | Degraded if it was ready with this spec, else Progressing (BeingDeleted) | yes |
 * | are current, without a new status    | any  | Unknown                                   | yes |
 * | are current, a TrafficWeight is not ready | any | Degraded if it was ready with this spec, and its weight is not only on its way; else Progressing | yes |
 * | are current, pods are replaced or not available | any | Degraded if it was ready with this spec and as many pods, else Progressing | yes |
 * | are current, pods are available, `ready` is not true | any | Degraded if it was ready with this spec, else Progressing; Unknown without an answer | yes |
 * | are current, pods are available      | any  | Ready                                     | yes |
 * | are those of its last ready revision | any  | Failed (RollingBack, then RolledBack)     | yes |
 *
 * Progressing and Unknown become Failed at the deadline, but not one that is Unknown after it was ready with this spec. A component
 * that failed is Failed until it is ready, or the spec changes it: a revision that failed is in the way of the next wave, also while
 * the last ready one is restored and runs. What is restored waits for nothing: its pods ran beside the same dependencies. An object
 * that is current is applied although a dependency is not ready: that corrects what others have changed.
 */
export function planComponent(component: ObservedComponent, around: Surroundings): PlannedComponent {
  const { stack, now } = around;
  const prior = priorOf(component, stack);
  const wasInForce = prior?.state === 'Ready' && wasReady(component, prior);
  const answer = readyAnswer(component, { wasReady: wasInForce, seen: around.seen });
  const asked = answer === undefined ? component : { ...component, answer };
  const { decided: present, apply } = decide(asked, around, prior);
  const { isAvailable = false, again, ...decided } = present;
  const held = holdFailure(decided, component, prior);
  const since = sinceOf(held, component, { prior, now });
  const ready = readyRevisionOf(held, component, prior);
  const hasDeadline = STARTING.has(held.state) && ready === undefined;
  const deadlineAt = hasDeadline
    ? Date.parse(since) + durationMs(component.spec.deadline ?? DEFAULT_DEADLINE)
    : Infinity;
  const timed = atDeadline(held, component, { deadlineAt, now });
  const { name, type } = component.spec;
  const status: ComponentStatus = {
    ...{ name, type },
    ...timed,
    message: cut(timed.message, LONGEST_MESSAGE),
    since: timed === held ? since : metaTime(now),
    revision: component.revision,
    ...(ready !== undefined && { readyRevision: ready }),
    ...versionOf(component, held),
    ...(held.mode === undefined && component.rolledBackFrom && { rolledBackFrom: component.rolledBackFrom }),
  };
  const what = whatOf(component);
  const common = { what, apply, isAvailable, again };
  if (status.mode === 'External') return { ...common, status, ...(hasDeadline && { deadlineAt }) };
  return { ...common, ...finish(isAvailable ? asked : component, status, { stack, now, deadlineAt }) };
}

/** What is stored and deleted of it, and when it is looked at again: at its deadline, and at once if a rollback begins. */
function finish(
  component: ObservedComponent,
  status: ComponentStatus,
  { stack, now, deadlineAt }: Pick<Surroundings, 'stack' | 'now'> & { readonly deadlineAt: number },
): Pick<PlannedComponent, 'status' | 'drop' | 'store' | 'deadlineAt'> {
  const broken = brokenPodsOf(component);
  if (component.rolledBackFrom !== undefined) return { status, drop: broken };
  const decided = beginRollback(component, status);
  const { note, drop = [], ...stored } = planStore(stack, component, decided);
  const told = note === undefined ? decided : { ...decided, message: `${decided.message}; ${note}` };
  const again = decided.rolledBackFrom === undefined ? deadlineAt : now;
  const isTimed = deadlineAt < Infinity || decided.rolledBackFrom !== undefined;
  return { status: told, ...stored, drop: [...broken, ...drop], ...(isTimed && { deadlineAt: again }) };
}

function decide(
  component: ObservedComponent,
  around: Surroundings,
  prior: ComponentStatus | undefined,
): { decided: Decided; apply: readonly ObservedObject[] } {
  const { stack, before } = around;
  const { objects, spec } = component;
  const held = objects.find(({ live, heldBy }) => heldBy !== undefined && live !== undefined && isOfStack(live, stack));
  if (isExternal(component, stack)) {
    const present = held === undefined ? externalState(component, stack, prior) : heldState(held);
    return { decided: { mode: 'External', ...usesOf(component), ...present, ...figuresOf(component) }, apply: [] };
  }
  const foreign = objects.find((each) => !mayApply(each, stack));
  if (foreign !== undefined) {
    const message = `${idOf(foreign)} exists and is not of this stack: it is left as it is`;
    return { decided: { state: 'Failed', reason: Reason.ForeignObject, message }, apply: [] };
  }
  if (held !== undefined) return { decided: heldState(held), apply: [] };
  const { rolledBackFrom } = component;
  if (rolledBackFrom !== undefined && component.stored === undefined) {
    return { decided: { ...lostState(rolledBackFrom), ...figuresOf(component) }, apply: [] };
  }
  const open = objects.filter(({ isCurrent }) => !isCurrent);
  if (rolledBackFrom !== undefined) {
    const present = presentState(component, open, prior);
    return { decided: { ...present, ...restoredState(component, rolledBackFrom, present) }, apply: objects };
  }
  const waiting =
    open.length === 0 ? undefined : (waitFor(spec.dependsOn ?? [], before) ?? holdAtGate(component, around));
  if (waiting !== undefined) {
    return { decided: { ...waiting, ...figuresOf(component) }, apply: objects.filter(({ isCurrent }) => isCurrent) };
  }
  return { decided: presentState(component, open, prior), apply: objects };
}

/** The state of a component that has an object of another one, which is being removed. */
function heldState(held: ObservedObject): Decided {
  const message = `${idOf(held)} is still of the component ${held.heldBy}, which is being removed`;
  return { state: 'Waiting', reason: Reason.WaitingForRemoval, message };
}

/** The state of a component whose workload is not written. Pods of the stack, as of a workload that it had before, tell nothing of others. */
function externalState(component: ObservedComponent, stack: TrafficStack, prior: ComponentStatus | undefined): Decided {
  const ofOthers = isOfOthers(component, stack);
  const seen = ofOthers ? { ...component, pods: [] } : component;
  const missing = missingState(component, wasReady(component, prior));
  if (missing !== undefined) return missing;
  const present = serving(seen, prior) ?? running(seen, prior, ofOthers);
  // Its name is not in the spec.
  const isNamed = component.external === undefined || present.reason === Reason.StatusMissing;
  return isNamed ? present : { ...present, message: `uses ${present.message}` };
}

/** The state of a component that uses a server which answers. Undefined if it uses none. */
function serving(component: ObservedComponent, prior: ComponentStatus | undefined): Decided | undefined {
  const server = component.objects.at(-1);
  const { asked } = component.external ?? {};
  if (server === undefined || asked === undefined) return undefined;
  const message = `${idOf(server)}: ${asked.url} has ${asked.series}`;
  return expected(component, prior, { reason: Reason.Answering, message });
}

/** The state of a component that waits for nothing. @param open its objects that are not current */
function presentState(
  component: ObservedComponent,
  [first]: readonly ObservedObject[],
  prior: ComponentStatus | undefined,
): Decided {
  const figures = figuresOf(component);
  if (first === undefined) return { ...running(component, prior), ...figures };
  const verb = first.live === undefined ? 'create' : 'change';
  return { state: 'Progressing', reason: Reason.Applying, message: `to ${verb}: ${idOf(first)}`, ...figures };
}

/** The state of a component whose objects are current. @param ofOthers whether somebody else has made its workload */
function running(component: ObservedComponent, prior: ComponentStatus | undefined, ofOthers = false): Decided {
  const workloads = workloadsOf(component.objects);
  if (workloads.length === 0) return applied(component, prior);
  const worst = worstOf(workloads);
  if (worst?.live === undefined) throw new Error('the workload of a component is current, and does not exist');
  const readiness = readinessOf(worst.live, ofOthers);
  if (readiness.phase === 'Ending') {
    return unready(Reason.BeingDeleted, `${idOf(worst)} is being deleted`, wasReady(component, prior));
  }
  if (readiness.phase === 'StatusMissing') {
    const message = `${idOf(worst)} has no status of its generation yet`;
    return { state: 'Unknown', reason: Reason.StatusMissing, message };
  }
  if (readiness.phase === 'Ready') {
    const { reason = Reason.AllAvailable } = readiness.condition ?? {};
    return expected(component, prior, { reason, message: workloads.map(figuresText).join('; ') });
  }
  const figures = figuresText(worst);
  if (readiness.condition !== undefined)
    return unready(readiness.condition.reason, figures, wasReady(component, prior));
  const ofPods = causeOf(component, readiness);
  const message = ofPods === undefined ? figures : `${figures}; ${ofPods.message}`;
  // More pods than before, as after a node has joined, have never been ready.
  const { desired = 0 } = podsOfAll(workloads) ?? {};
  if (wasReady(component, prior) && desired <= (prior?.replicas ?? 0)) {
    return { state: 'Degraded', reason: ofPods?.reason ?? Reason.PodsUnavailable, message };
  }
  return { state: 'Progressing', reason: ofPods?.reason ?? Reason.RollingOut, message };
}

/** The state of a component that has only objects without a status, such as ConfigMaps, and all are as desired. */
function applied(component: ObservedComponent, prior: ComponentStatus | undefined): Decided {
  const { length } = component.objects;
  return expected(component, prior, {
    reason: Reason.AllApplied,
    message: `${length} of ${length} objects are applied`,
  });
}

/** The state of a component whose TrafficWeight is not ready, or whose workload is being deleted. Each weight that its backend asks for is on its way for a moment. */
function unready(reason: string, message: string, was: boolean): Decided {
  return { state: was && !IN_PROGRESS_REASONS.has(reason) ? 'Degraded' : 'Progressing', reason, message };
}

/** The state of a component whose pods are available, or whose weight is in force. @param seen that, for people */
function expected(
  component: ObservedComponent,
  prior: ComponentStatus | undefined,
  seen: Pick<ComponentStatus, 'reason' | 'message'>,
): Decided {
  const isAvailable = true;
  const unmet = unmetBy(component, wasReady(component, prior) && prior?.state === 'Ready');
  if (unmet === undefined) return { state: 'Ready', ...seen, isAvailable };
  const { message, again } = unmet;
  const state = unmet.state ?? (wasReady(component, prior) ? 'Degraded' : 'Progressing');
  return { state, reason: Reason.NotReadyYet, message: `${seen.message}; ${message}`, isAvailable, again };
}

/**
 * Whether it was ready as it is asked for now. After another spec it was not, although the status may say so: the operator may have been
 * killed after it wrote the objects.
 */
function wasReady({ revision }: ObservedComponent, prior: ComponentStatus | undefined): boolean {
  if (prior?.revision !== revision) return false;
  return prior.state === 'Ready' || prior.state === 'Degraded' || prior.readyRevision === revision;
}

/**
 * The revision, if it was ready and has not been changed since: one that is Unknown for a while is not new again, and neither is a
 * TrafficWeight whose backend asks for another weight.
 */
function readyRevisionOf(
  { state, reason }: Decided,
  component: ObservedComponent,
  prior: ComponentStatus | undefined,
): string | undefined {
  if (state === 'Ready') return component.revision;
  const isOnTheWay = state === 'Progressing' && IN_PROGRESS_REASONS.has(reason);
  const isKept = state === 'Degraded' || state === 'Unknown' || isOnTheWay;
  return isKept && wasReady(component, prior) ? component.revision : undefined;
}

/** A component that has failed stays so until it is ready, or its spec is another one. */
function holdFailure(decided: Decided, { revision }: ObservedComponent, prior: ComponentStatus | undefined): Decided {
  if (prior?.state !== 'Failed' || !STARTING.has(decided.state)) return decided;
  if (prior.reason === Reason.ForeignObject || prior.revision !== revision) return decided;
  if (prior.rolledBackFrom !== undefined) return decided;
  return { ...decided, state: 'Failed', reason: prior.reason, message: `not ready in time: ${decided.message}` };
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
