import { ComponentReason, StackCondition as Type, StackReason as Reason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentState } from '../../../api/trafficstack/terms.ts';
import type {
  ComponentStatus,
  LastDecided,
  TrafficStack,
  TrafficStackStatus,
} from '../../../api/trafficstack/trafficStack.ts';
import { metaTime, setCondition, type Condition } from '../../../runtime/controller/conditions.ts';
import { cut } from '../../../runtime/status/cut.ts';
import type { Failure } from '../../../runtime/status/failure.ts';
import { withFailures, type Writing } from './failures.ts';
import type { StackPlan } from './plan.ts';

type State = Pick<Condition, 'status' | 'reason' | 'message'>;

/** Characters of a condition's message. */
const LONGEST_MESSAGE = 1_024;
const IN_PROGRESS: ReadonlySet<ComponentState> = new Set(['Waiting', 'Progressing', 'Unknown', 'Removing']);
/** What a component has only while it is observed. */
const OBSERVED: ReadonlySet<string> = new Set(['blockedBy', 'waitingOn', 'replicas', 'readyReplicas']);
const DEGRADED: ReadonlySet<ComponentState> = new Set(['Degraded', 'Failed']);

/** The status before the writes of a plan, and after them. @param now ms since 1970 */
export function statusOf(
  stack: TrafficStack,
  plan: Pick<StackPlan, 'statuses' | 'workloads' | 'store' | 'inventory'>,
  { now, ...writing }: Writing & { readonly now: number },
): TrafficStackStatus {
  const components = withFailures(plan, writing, { stack, now });
  const isReady = ({ state }: ComponentStatus): boolean => state === 'Ready';
  const wanted = components.filter(({ state }) => state !== 'Removing');
  const summary = `${wanted.filter(isReady).length}/${wanted.length}`;
  return {
    ...observedGeneration(stack),
    summary,
    components: [...components],
    inventory: [...plan.inventory],
    conditions: conditionsOf(stack, statesOf(components, summary), now),
  };
}

/**
 * The status if nothing could be decided. What a component was may be over by now, so each is Unknown since then, and keeps what was
 * decided last.
 *
 * @param now ms since 1970
 */
export function undecidedStatus(stack: TrafficStack, why: Failure, now: number): TrafficStackStatus {
  const isStalled = why.reason !== Reason.NotRead;
  const states: Record<Type, State> = {
    Ready: { status: 'False', ...why },
    Progressing: { status: 'False', ...why },
    Degraded: { status: 'Unknown', ...why },
    Stalled: isStalled ? { status: 'True', ...why } : { status: 'Unknown', ...why },
  };
  const components = stack.status?.components?.map((each) => undecided(each, why, now));
  return {
    ...stack.status,
    ...observedGeneration(stack),
    ...(components && { components, summary: `0/${components.filter(isWanted).length}` }),
    conditions: conditionsOf(stack, states, now),
  };
}

function undecided(status: ComponentStatus, { reason }: Failure, now: number): ComponentStatus {
  const { name, type, lastDecided = lastOf(status), since } = status;
  const kept = Object.entries(status).filter(([key]) => !OBSERVED.has(key));
  return {
    ...{ ...Object.fromEntries(kept), name, type },
    ...{ state: 'Unknown', reason: ComponentReason.NotDecided },
    message: `nothing is decided (${reason}); it was ${lastDecided.state}: ${lastDecided.message}`,
    since: status.lastDecided === undefined ? metaTime(now) : since,
    lastDecided,
  };
}

function lastOf({ state, reason, message, since, replicas }: ComponentStatus): LastDecided {
  return { state, reason, message, since, ...(replicas !== undefined && { replicas }) };
}

function isWanted({ state, lastDecided }: ComponentStatus): boolean {
  return (lastDecided?.state ?? state) !== 'Removing';
}

/** The stack with the states of its components as they were decided last: deadlines and rollbacks go on from there. */
export function asDecidedLast(stack: TrafficStack): TrafficStack {
  const { status } = stack;
  if (status?.components?.every(({ lastDecided }) => lastDecided === undefined) ?? true) return stack;
  const components = status?.components?.map(({ lastDecided, ...each }) => ({ ...each, ...lastDecided }));
  return { ...stack, status: { ...status, ...(components && { components }) } };
}

function statesOf(components: readonly ComponentStatus[], summary: string): Record<Type, State> {
  const first = (states: ReadonlySet<ComponentState>) => components.find(({ state }) => states.has(state));
  const degraded = components.find(({ state }) => state === 'Failed') ?? first(DEGRADED);
  const open = degraded ?? rootIn(components) ?? first(IN_PROGRESS);
  const progressing = first(IN_PROGRESS);
  const foreign = components.find(({ reason }) => reason === ComponentReason.ForeignObject);
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
      foreign === undefined
        ? { status: 'False', reason: Reason.NotStalled, message: 'Nothing is in the way.' }
        : { status: 'True', reason: Reason.ForeignObject, message: told(foreign) },
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
