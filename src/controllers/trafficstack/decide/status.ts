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
import { LONGEST_MESSAGE, withFailures, type Writing } from './failures.ts';
import type { StackPlan } from './plan.ts';

type State = Pick<Condition, 'status' | 'reason' | 'message'>;

const IN_PROGRESS: ReadonlySet<ComponentState> = new Set(['Waiting', 'Progressing', 'Unknown', 'Removing']);
/** What a component has only while it is observed. */
const OBSERVED: ReadonlySet<string> = new Set(['blockedBy', 'waitingOn', 'replicas', 'readyReplicas']);
/** The reason of `Stalled`, by that of a component. */
const STALLED: ReadonlyMap<string, Reason> = new Map([
  [ComponentReason.ForeignObject, Reason.ForeignObject],
  [ComponentReason.NamespaceNotAllowed, Reason.NamespaceNotAllowed],
]);
const DEGRADED: ReadonlySet<ComponentState> = new Set(['Degraded', 'Failed']);

/** The status before the writes of a plan, and after them. @param now ms since 1970 */
export function statusOf(
  stack: TrafficStack,
  plan: Pick<StackPlan, 'statuses' | 'workloads' | 'store' | 'inventory'>,
  { now, ...writing }: Writing & { readonly now: number },
): TrafficStackStatus {
  return statusWith(stack, { components: withFailures(plan, writing, { stack, now }), inventory: plan.inventory }, now);
}

/**
 * The status of a new stack before anything of it is looked at, which may take seconds: servers and nodes are asked.
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
 * The status if nothing could be decided. What a component was may be over by now, so each is Unknown since then, and keeps what was
 * decided last. A new stack has those of its spec.
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
 * The status of a stack whose body the cache has dropped: only conditions, since its components are not known.
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

/** The components of the spec, about which nothing was ever decided. An invalid spec may have a name twice, and a status may not. */
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
 * The stack with the states of its components as they were decided last: deadlines and rollbacks go on from there. One about which nothing
 * was ever decided is left out: that it is Unknown says nothing about its objects.
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
            message: `${summary} components are ready; ${told(open)}`,
          },
    Progressing:
      progressing === undefined
        ? { status: 'False', reason: Reason.NothingToDo, message: 'No component is being changed.' }
        : { status: 'True', reason: Reason.InProgress, message: told(progressing) },
    Degraded:
      degraded === undefined
        ? { status: 'False', reason: Reason.NotDegraded, message: 'No component is degraded.' }
        : { status: 'True', reason: degradedReason(degraded), message: told(degraded) },
    Stalled:
      stalled === undefined || stalledReason === undefined
        ? { status: 'False', reason: Reason.NotStalled, message: 'Nothing is in the way.' }
        : { status: 'True', reason: stalledReason, message: told(stalled) },
  };
}

/** The first component that others wait for. */
function rootIn(components: readonly ComponentStatus[]): ComponentStatus | undefined {
  return components.find(({ state }) => state === 'Progressing' || state === 'Unknown');
}

function degradedReason({ state }: ComponentStatus): Reason {
  return state === 'Failed' ? Reason.ComponentFailed : Reason.ComponentDegraded;
}

function told({ name, state, message }: ComponentStatus): string {
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
