import { ComponentReason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { metaTime } from '../../../runtime/controller/conditions.ts';
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

/**
 * The statuses of a plan after its writes: a component says which of its writes failed, and those that wait for it do, too.
 *
 * @param now ms since 1970
 */
export function withFailures(
  { statuses, workloads }: Pick<StackPlan, 'statuses' | 'workloads'>,
  failures: readonly ComponentFailure[],
  { stack: { status: prior }, now }: { readonly stack: TrafficStack; readonly now: number },
): readonly ComponentStatus[] {
  if (failures.length === 0) return statuses;
  const before = new Map<string, Blocker>();
  return statuses.map((status) => {
    const { name } = status;
    const failure = failures.find(({ component }) => component === name);
    const old = prior?.components?.find((each) => each.name === name);
    const after =
      failure === undefined ? waitingAgain(status, before) : withFailure(status, failure, { prior: old, now });
    before.set(name, { status: after, what: workloads.get(name) ?? '' });
    return after;
  });
}

/** One that was ready is not as asked for while a write fails. */
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
  const waiting = status.blockedBy && waitFor(status.blockedBy, before);
  return waiting === undefined ? status : { ...status, ...waiting, message: cut(waiting.message, LONGEST_MESSAGE) };
}
