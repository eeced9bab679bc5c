import type { StackPod } from '../observe/observation.ts';

/** Why a pod does not get ready. */
export interface PodProblem {
  /** CamelCase, from the API of Kubernetes where it has one. */
  readonly reason: string;
  readonly message: string;
}

/** Of a container that waits, but for no fault: it is being created. */
const CREATING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/**
 * The first problem of the pods, by how certain it is the cause: a container that cannot start, then a pod that no node has room
 * for, then a container that is not ready. Of several pods the newest tells: an older one may be of an older spec. Undefined if all is well, or the
 * pods have just begun.
 */
export function podProblemOf(pods: readonly StackPod[]): PodProblem | undefined {
  const sorted = pods
    .filter(({ isEnding }) => !isEnding)
    .sort((a, b) => b.createdAt - a.createdAt || (a.key < b.key ? -1 : 1));
  for (const find of [stuckContainer, unscheduled, unreadyContainer]) {
    const found = sorted.map(find).find((problem) => problem !== undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

function stuckContainer({ key, containers }: StackPod): PodProblem | undefined {
  for (const { name, waiting, lastExit } of containers) {
    if (waiting === undefined || CREATING.has(waiting.reason)) continue;
    const exit = lastExit === undefined ? '' : `; it ended with exit code ${lastExit}`;
    const detail = waiting.message === '' ? '' : `: ${waiting.message}`;
    return { reason: waiting.reason, message: `pod ${key}, container ${name}: ${waiting.reason}${detail}${exit}` };
  }
  return undefined;
}

function unscheduled({ key, unscheduledMessage }: StackPod): PodProblem | undefined {
  if (unscheduledMessage === undefined) return undefined;
  return { reason: 'Unschedulable', message: `pod ${key}: ${unscheduledMessage}` };
}

function unreadyContainer({ key, containers }: StackPod): PodProblem | undefined {
  const unready = containers.find(({ isRunning, isReady }) => isRunning && !isReady);
  if (unready === undefined) return undefined;
  return { reason: 'ContainerNotReady', message: `pod ${key}, container ${unready.name}: running, and not ready` };
}
