import { ComponentReason, StackCondition as Type, StackReason as Reason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentState } from '../../../api/trafficstack/terms.ts';
import {
  componentsIn,
  type ComponentSpec,
  type ComponentStatus,
  type LastDecided,
  type TrafficStack,
  type TrafficStackStatus,
} from '../../../api/trafficstack/trafficStack.ts';
import { metaTime, setCondition, type Condition, cut } from '../../../runtime/controller/conditions.ts';
import type { Failure } from '../../../runtime/process/problem.ts';
import type { StackPlan } from './plan.ts';
import { waitForWave } from './upgrade/waves.ts';
import { waitFor, type Blocker } from './waiting.ts';

type State = Pick<Condition, 'status' | 'reason' | 'message'>;

const IN_PROGRESS: ReadonlySet<ComponentState> = new Set(['Waiting', 'Progressing', 'Unknown', 'Removing']);
/** Fields that a component has only while it is observed. */
const OBSERVED: ReadonlySet<string> = new Set(['blockedBy', 'waitingOn', 'replicas', 'readyReplicas']);
/** The reason of `Stalled` by the reason of a component. */
const STALLED: ReadonlyMap<string, Reason> = new Map([
  [ComponentReason.ForeignObject, Reason.ForeignObject],
  [ComponentReason.NamespaceNotAllowed, Reason.NamespaceNotAllowed],
]);
const DEGRADED: ReadonlySet<ComponentState> = new Set(['Degraded', 'Failed']);

/** Returns the status before or after the writes of a plan. @param now ms since 1970 */
export function statusOf(
  stack: TrafficStack,
  plan: Pick<StackPlan, 'statuses' | 'workloads' | 'store' | 'inventory'>,
  { now, ...writing }: Writing & { readonly now: number },
): TrafficStackStatus {
  return statusWith(stack, { components: withFailures(plan, writing, { stack, now }), inventory: plan.inventory }, now);
}

/**
 * Returns the status of a new stack before it is observed, which may take seconds.
 *
 * @param wanted its components
 * @param now ms since 1970
 */
export function firstStatus(
  stack: TrafficStack,
  wanted: readonly Pick<ComponentSpec, 'name' | 'type'>[],
  now: number,
): TrafficStackStatus {
  const since = metaTime(now);
  const components = wanted.map(({ name, type }) => ({
    name,
    type,
    since,
    ...UNDECIDED,
    message: 'not looked at yet',
  }));
  const unseen = { status: 'Unknown', reason: Reason.InProgress, message: 'No component was looked at yet.' } as const;
  const plan = { components, inventory: stack.status?.inventory ?? [] };
  return statusWith(stack, plan, now, { Degraded: unseen, Stalled: unseen });
}

function statusWith(
  stack: TrafficStack,
  { components, inventory }: Pick<StackPlan, 'inventory'> & { readonly components: readonly ComponentStatus[] },
  now: number,
  known: Partial<Record<Type, State>> = {},
): TrafficStackStatus {
  const isReady = ({ state }: ComponentStatus): boolean => state === 'Ready';
  const wanted = components.filter(({ state }) => state !== 'Removing');
  const summary = `${wanted.filter(isReady).length}/${wanted.length}`;
  return {
    ...observedGeneration(stack),
    summary,
    components: [...components],
    inventory: [...inventory],
    conditions: conditionsOf(stack, { ...statesOf(components, summary), ...known }, now),
  };
}

/**
 * Returns the status when nothing could be decided. Each component is Unknown, since its state may have changed, and keeps its last decided state. A
 * new stack has the components of its spec.
 *
 * @param now ms since 1970
 */
export function undecidedStatus(stack: TrafficStack, why: Failure, now: number): TrafficStackStatus {
  const known = stack.status?.components ?? unseenIn(stack, metaTime(now));
  const components = known.map((each) => undecided(each, why, now));
  return {
    ...stack.status,
    ...observedGeneration(stack),
    ...{ components, summary: `0/${components.filter(isWanted).length}` },
    conditions: conditionsOf(stack, undecidedStates(why), now),
  };
}

const TOO_LARGE =
  'the TrafficStacks of the cluster take more memory than the operator has for them, and this is one of the largest: nothing of it is written, and what exists is unchanged; make this one smaller, or delete others, then change this one';

/**
 * Returns the status of a stack whose body the cache has dropped. It has only conditions, because the components are unknown.
 *
 * @param now ms since 1970
 */
export function tooLargeStatus(stack: TrafficStack, now: number): TrafficStackStatus {
  const states = undecidedStates({ reason: Reason.TooLarge, message: TOO_LARGE });
  return { ...stack.status, ...observedGeneration(stack), conditions: conditionsOf(stack, states, now) };
}

function undecidedStates(why: Failure): Record<Type, State> {
  const isStalled = why.reason !== Reason.NotRead;
  return {
    Ready: { status: 'False', ...why },
    Progressing: { status: 'False', ...why },
    Degraded: { status: 'Unknown', ...why },
    Stalled: isStalled ? { status: 'True', ...why } : { status: 'Unknown', ...why },
  };
}

/** Returns the components of the spec without a decision. An invalid spec may repeat a name, which a status must not. */
function unseenIn(stack: TrafficStack, since: string): ComponentStatus[] {
  const byName = new Map(componentsIn(stack).map(({ name, type }) => [name, type]));
  return [...byName].map(([name, type]) => ({ name, type, since, ...UNDECIDED, message: '' }));
}

const UNDECIDED = { state: 'Unknown', reason: ComponentReason.NotDecided } as const;

function undecided(status: ComponentStatus, { reason }: Failure, now: number): ComponentStatus {
  const nothing = `nothing is decided (${reason})`;
  if (isNeverDecided(status)) return { ...status, message: nothing };
  const { name, type, lastDecided = lastOf(status), since } = status;
  const kept = Object.entries(status).filter(([key]) => !OBSERVED.has(key));
  return {
    ...{ ...Object.fromEntries(kept), name, type },
    ...UNDECIDED,
    message: `${nothing}; it was ${lastDecided.state}: ${lastDecided.message}`,
    since: status.lastDecided === undefined ? metaTime(now) : since,
    lastDecided,
  };
}

function isNeverDecided({ reason, lastDecided }: ComponentStatus): boolean {
  return reason === UNDECIDED.reason && lastDecided === undefined;
}

function lastOf({ state, reason, message, since, replicas }: ComponentStatus): LastDecided {
  return { state, reason, message, since, ...(replicas !== undefined && { replicas }) };
}

function isWanted({ state, lastDecided }: ComponentStatus): boolean {
  return (lastDecided?.state ?? state) !== 'Removing';
}

/**
 * Returns the stack with the last decided states of its components, from which deadlines and rollbacks continue. Components without a decision are
 * left out: Unknown says nothing about their objects.
 */
export function asDecidedLast(stack: TrafficStack): TrafficStack {
  const { components: all, ...status } = stack.status ?? {};
  if (all?.every(({ reason }) => reason !== UNDECIDED.reason) ?? true) return stack;
  const decided = all?.filter((each) => !isNeverDecided(each)) ?? [];
  if (decided.length === 0) return { ...stack, status };
  const components = decided.map(({ lastDecided, ...each }) => ({ ...each, ...lastDecided }));
  return { ...stack, status: { ...status, components } };
}

function statesOf(components: readonly ComponentStatus[], summary: string): Record<Type, State> {
  const first = (states: ReadonlySet<ComponentState>) => components.find(({ state }) => states.has(state));
  const degraded = components.find(({ state }) => state === 'Failed') ?? first(DEGRADED);
  const open = degraded ?? rootIn(components) ?? first(IN_PROGRESS);
  const progressing = first(IN_PROGRESS);
  const stalled = components.find(({ reason }) => STALLED.has(reason));
  const stalledReason = stalled && STALLED.get(stalled.reason);
  return {
    Ready:
      open === undefined
        ? { status: 'True', reason: Reason.AllReady, message: `All components are ready: ${summary}.` }
        : {
            status: 'False',
            reason: degraded ? degradedReason(degraded) : Reason.InProgress,
            message: `${summary} components are ready; ${sentenceOf(open)}`,
          },
    Progressing:
      progressing === undefined
        ? { status: 'False', reason: Reason.NothingToDo, message: 'No component is being changed.' }
        : { status: 'True', reason: Reason.InProgress, message: sentenceOf(progressing) },
    Degraded:
      degraded === undefined
        ? { status: 'False', reason: Reason.NotDegraded, message: 'No component is degraded.' }
        : { status: 'True', reason: degradedReason(degraded), message: sentenceOf(degraded) },
    Stalled:
      stalled === undefined || stalledReason === undefined
        ? { status: 'False', reason: Reason.NotStalled, message: 'Nothing is in the way.' }
        : { status: 'True', reason: stalledReason, message: sentenceOf(stalled) },
  };
}

/** Returns the first component that others wait for. */
function rootIn(components: readonly ComponentStatus[]): ComponentStatus | undefined {
  return components.find(({ state }) => state === 'Progressing' || state === 'Unknown');
}

function degradedReason({ state }: ComponentStatus): Reason {
  return state === 'Failed' ? Reason.ComponentFailed : Reason.ComponentDegraded;
}

function sentenceOf({ name, state, message }: ComponentStatus): string {
  return `${name} is ${state}: ${message}`;
}

function observedGeneration({ metadata }: TrafficStack): Pick<TrafficStackStatus, 'observedGeneration'> {
  return metadata?.generation === undefined ? {} : { observedGeneration: metadata.generation };
}

function conditionsOf(stack: TrafficStack, states: Record<Type, State>, now: number): Condition[] {
  return Object.values(Type).reduce<Condition[]>((list, type) => {
    const { message, ...state } = states[type];
    const next = { type, ...state, message: cut(message, LONGEST_MESSAGE), ...observedGeneration(stack) };
    return setCondition(list, next, metaTime(now));
  }, stack.status?.conditions ?? []);
}

/** Characters of a condition's message, and of the message of a component whose write failed. */
const LONGEST_MESSAGE = 1_024;

/** Reasons of components that wait for an earlier wave of an upgrade. */
const OF_WAVES: ReadonlySet<string> = new Set([ComponentReason.WaitingForWave, ComponentReason.UpgradeStopped]);

/** A failed write, and its component. */
export interface ComponentFailure extends Failure {
  readonly component: string;
}

/** The progress of the writes of a plan. */
export interface Writing {
  readonly failures: readonly ComponentFailure[];
  /** Components with unfinished writes. */
  readonly open: ReadonlySet<string>;
}

/**
 * Returns the statuses of a plan before or after its writes. A component reports its failed write, and so do the components that wait for it. A
 * component with unfinished writes keeps its status in two cases:
 *
 * | a component whose writes have not ended                | why its status is kept                     |
 * |--------------------------------------------------------|--------------------------------------------|
 * | one of them failed the last time, with the same spec   | it may fail again, and the status would alternate |
 * | its revision is to be stored                           | it counts as ready only when it can be restored |
 *
 * @param now ms since 1970
 */
export function withFailures(
  { statuses, workloads, store }: Pick<StackPlan, 'statuses' | 'workloads' | 'store'>,
  { failures, open }: Writing,
  { stack: { spec, status: prior }, now }: { readonly stack: TrafficStack; readonly now: number },
): readonly ComponentStatus[] {
  const dependencies = new Map(spec.components.map(({ name, dependsOn }) => [name, dependsOn]));
  const blockerOf = (status: ComponentStatus): Blocker => ({
    ...{ status, what: workloads.get(status.name) ?? '' },
    dependsOn: dependencies.get(status.name),
  });
  const toStore = new Set(store.filter(({ live }) => live === undefined).map(({ component }) => component));
  // A component that waits for an earlier wave may precede it in the order of the dependencies.
  const before = new Map(statuses.map((status) => [status.name, blockerOf(status)]));
  let isSame = true;
  return statuses.map((status) => {
    const { name } = status;
    const failure = failures.find(({ component }) => component === name);
    const old = prior?.components?.find((each) => each.name === name);
    const stays = open.has(name) && old !== undefined && (toStore.has(name) || isFailure(old, status));
    const own = failure === undefined ? status : withFailure(status, failure, { prior: old, now });
    const seen = stays ? old : own;
    isSame &&= seen === status;
    const after = isSame || seen !== status ? seen : waitingAgain(status, before);
    before.set(name, blockerOf(after));
    return after;
  });
}

function isFailure({ reason, revision }: ComponentStatus, status: ComponentStatus): boolean {
  return reason === ComponentReason.WriteFailed && revision === status.revision;
}

/** Marks a ready component as Degraded while its write fails. */
function withFailure(
  status: ComponentStatus,
  { message }: ComponentFailure,
  { prior, now }: { readonly prior: ComponentStatus | undefined; readonly now: number },
): ComponentStatus {
  const failed = { reason: ComponentReason.WriteFailed, message: cut(message, LONGEST_MESSAGE) };
  if (status.state !== 'Ready') return { ...status, ...failed };
  return { ...status, ...failed, state: 'Degraded', since: prior?.state === 'Degraded' ? prior.since : metaTime(now) };
}

function waitingAgain(status: ComponentStatus, before: ReadonlyMap<string, Blocker>): ComponentStatus {
  if (status.reason === ComponentReason.WaitingForRemoval) return status;
  const wait = OF_WAVES.has(status.reason) ? waitForWave : waitFor;
  const waiting = status.blockedBy && wait(status.blockedBy, before);
  return waiting === undefined ? status : { ...status, ...waiting, message: cut(waiting.message, LONGEST_MESSAGE) };
}
