import { ComponentReason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { metaTime, cut } from '../../../runtime/controller/conditions.ts';
import type { Failure } from '../../../runtime/process/problem.ts';
import type { StackPlan } from './plan.ts';
import { waitForWave } from './upgrade/waves.ts';
import { waitFor, type Blocker } from './waiting.ts';

/** Characters of a message of a component whose write failed, and of a condition. */
export const LONGEST_MESSAGE = 1_024;

/** Reasons of components that wait for an earlier wave of an upgrade. */
const OF_WAVES: ReadonlySet<string> = new Set([ComponentReason.WaitingForWave, ComponentReason.UpgradeStopped]);

/** A write that failed, and the component that it was for. */
export interface ComponentFailure extends Failure {
  readonly component: string;
}

/** How far the writes of a plan are. */
export interface Writing {
  readonly failures: readonly ComponentFailure[];
  /** Components whose writes have not ended. */
  readonly open: ReadonlySet<string>;
}

/**
 * The statuses of a plan before its writes, and after them: a component says which of its writes failed, and those that wait for it do,
 * too. While its writes have not ended, a component stays as it was in two cases:
 *
 * | a component whose writes have not ended                | why it stays as it was                     |
 * |--------------------------------------------------------|--------------------------------------------|
 * | one of them failed the last time, with the same spec   | it may fail again: no change back and forth |
 * | its revision is to be stored                           | what was ready last can be restored: it counts as ready when it is stored |
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
  // One that waits for an earlier wave may come before it in the order of the dependencies.
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
  if (status.reason === ComponentReason.WaitingForRemoval) return status;
  const wait = OF_WAVES.has(status.reason) ? waitForWave : waitFor;
  const waiting = status.blockedBy && wait(status.blockedBy, before);
  return waiting === undefined ? status : { ...status, ...waiting, message: cut(waiting.message, LONGEST_MESSAGE) };
}
