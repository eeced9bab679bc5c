import { ComponentReason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { cut } from '../../../runtime/status/cut.ts';
import type { Failure } from '../../../runtime/status/failure.ts';
import type { StackPlan } from './plan.ts';
import { waitFor, type Blocker } from './waiting.ts';

/** Characters of a message. */
const LONGEST_MESSAGE = 1_024;

/** A write that failed, and the component that it was for. */
export interface ComponentFailure extends Failure {
  readonly component: string;
}

/** The statuses of a plan after its writes: a component says which of its writes failed, and those that wait for it do, too. */
export function withFailures(
  { statuses, workloads }: Pick<StackPlan, 'statuses' | 'workloads'>,
  failures: readonly ComponentFailure[],
  { status: prior }: TrafficStack,
): readonly ComponentStatus[] {
  if (failures.length === 0) return statuses;
  const before = new Map<string, Blocker>();
  return statuses.map((status) => {
    const { name } = status;
    const failure = failures.find(({ component }) => component === name);
    const old = prior?.components?.find((each) => each.name === name);
    const after = failure === undefined ? waitingAgain(status, before) : withFailure(status, failure, old);
    before.set(name, { status: after, what: workloads.get(name) ?? '' });
    return after;
  });
}

/** One that was ready is not as asked for while a write fails. */
function withFailure(
  status: ComponentStatus,
  { message }: ComponentFailure,
  prior: ComponentStatus | undefined,
): ComponentStatus {
  const failed = { reason: ComponentReason.WriteFailed, message: cut(message, LONGEST_MESSAGE) };
  if (status.state !== 'Ready') return { ...status, ...failed };
  return { ...status, ...failed, state: 'Degraded', since: prior?.state === 'Degraded' ? prior.since : status.since };
}

function waitingAgain(status: ComponentStatus, before: ReadonlyMap<string, Blocker>): ComponentStatus {
  const waiting = status.blockedBy && waitFor(status.blockedBy, before);
  return waiting === undefined ? status : { ...status, ...waiting, message: cut(waiting.message, LONGEST_MESSAGE) };
}
