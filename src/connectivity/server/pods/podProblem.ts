import type { V1ContainerStatus, V1PodStatus } from '@kubernetes/client-node';

/** Reasons of a container that is about to start. */
const NORMAL = ['ContainerCreating', 'PodInitializing'];
/** The message of the scheduler may have a part for each kind of node. */
const LONGEST_MESSAGE = 200;

/**
 * Reads why a pod does not run. The first row that applies counts:
 *
 * | pod | problem |
 * |---|---|
 * | Failed | its reason, such as Evicted |
 * | a container waits for another reason than that it is being created | the reason, such as ImagePullBackOff |
 * | a container has ended | the reason, such as OOMKilled |
 * | a container runs again | why it ended before |
 * | not scheduled | Unschedulable, and the message of the scheduler |
 * | else | undefined |
 *
 * Reasons of containers come with the exit code of their last run.
 */
export function podProblem(status: V1PodStatus = {}): string | undefined {
  if (status.phase === 'Failed') return status.reason ?? 'Failed';
  const { containerStatuses = [], initContainerStatuses = [] } = status;
  // An init container that has done its work has ended with 0.
  const inits = initContainerStatuses.filter(({ state }) => state?.terminated?.exitCode !== 0);
  const problems = [...inits, ...containerStatuses].flatMap((container) => containerProblem(container) ?? []);
  return problems[0] ?? unscheduled(status);
}

function containerProblem({ state, lastState }: V1ContainerStatus): string | undefined {
  const waits = state?.waiting?.reason;
  const ended = state?.terminated ?? lastState?.terminated;
  if (waits !== undefined && !NORMAL.includes(waits)) return withCode(waits, ended);
  return ended && withCode(ended.reason ?? 'Error', ended);
}

function withCode(reason: string, ended: { readonly exitCode: number } | undefined): string {
  return ended === undefined ? reason : `${reason}, exit code ${ended.exitCode}`;
}

function unscheduled({ conditions = [] }: V1PodStatus): string | undefined {
  const condition = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  if (condition === undefined) return undefined;
  const { reason = 'Unschedulable', message = '' } = condition;
  const shown = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message;
  return shown === '' ? reason : `${reason}: ${shown}`;
}
