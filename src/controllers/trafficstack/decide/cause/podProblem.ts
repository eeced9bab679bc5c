import type { StackContainer, StackPod } from '../../observe/observation.ts';

/** Why a pod does not get ready. */
export interface PodProblem {
  /** CamelCase, from the API of Kubernetes where it has one. */
  readonly reason: string;
  readonly message: string;
}

/** Of a container that waits, but for no fault: it is being created. */
const CREATING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);
/** Reason of a pod with a container that runs and is not ready. */
export const NOT_READY = 'ContainerNotReady';

/** Reason of a pod for which the scheduler has not decided. */
export const NO_NODE = 'NoNode';

/**
 * The first problem of the pods, by how certain it is the cause: a container that cannot start or has ended, then a pod that no node
 * has room for, then a container that is not ready. Of several pods the newest tells: an older one may be of an older spec. Undefined
 * if all is well, or the pods have just begun.
 */
export function podProblemOf(pods: readonly StackPod[]): PodProblem | undefined {
  const sorted = newestFirst(pods);
  for (const find of [stuckContainer, unscheduled, unreadyContainer]) {
    const found = sorted.map(find).find((problem) => problem !== undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether only another spec helps a pod, as far as its status tells: a container cannot start or ends, or no node has room. */
export function isStuck(pod: StackPod): boolean {
  return stuckContainer(pod) !== undefined || pod.unscheduledMessage !== undefined;
}

/** The newest pod with a container that runs and is not ready. */
export function unreadyPodOf(pods: readonly StackPod[]): StackPod | undefined {
  return newestFirst(pods).find(({ containers }) => containers.some(isUnready));
}

/** The newest pod that a node has and of which no container has begun. */
export function creatingPodOf(pods: readonly StackPod[]): StackPod | undefined {
  return newestFirst(pods).find(
    ({ containers, isScheduled }) =>
      isScheduled &&
      (containers.length === 0 || containers.some(({ waiting }) => waiting && CREATING.has(waiting.reason))),
  );
}

/** Without those that end. */
function newestFirst(pods: readonly StackPod[]): StackPod[] {
  return pods.filter(({ isEnding }) => !isEnding).sort((a, b) => b.createdAt - a.createdAt || (a.key < b.key ? -1 : 1));
}

function stuckContainer({ key, containers }: StackPod): PodProblem | undefined {
  for (const container of containers) {
    const { name, waiting, ended } = container;
    const where = `pod ${key}, container ${name}`;
    // An init container ends without a failure.
    if (ended !== undefined && container.lastExit !== 0) {
      return { reason: ended, message: `${where}: ${ended}${exitOf(container)}` };
    }
    if (waiting === undefined || CREATING.has(waiting.reason)) continue;
    const detail = waiting.message === '' ? '' : `: ${waiting.message}`;
    return { reason: waiting.reason, message: `${where}: ${waiting.reason}${detail}${exitOf(container)}` };
  }
  return undefined;
}

function unscheduled({ key, isScheduled, unscheduledMessage, claims }: StackPod): PodProblem | undefined {
  // A claim that is provisioned for a certain node is, for the scheduler, no reason to give up.
  const ofClaims = claims.length === 0 ? '' : `; its claims: ${claims.join(', ')}`;
  if (unscheduledMessage !== undefined) {
    return { reason: 'Unschedulable', message: `pod ${key}: ${unscheduledMessage}${ofClaims}` };
  }
  return isScheduled ? undefined : { reason: NO_NODE, message: `pod ${key}: no node is chosen yet${ofClaims}` };
}

function unreadyContainer({ key, containers }: StackPod): PodProblem | undefined {
  const unready = containers.find(isUnready);
  if (unready === undefined) return undefined;
  const message = `pod ${key}, container ${unready.name}: running, and not ready${exitOf(unready)}`;
  return { reason: NOT_READY, message };
}

function isUnready({ isRunning, isReady }: StackContainer): boolean {
  return isRunning && !isReady;
}

function exitOf({ lastExit, restarts }: StackContainer): string {
  if (lastExit === undefined) return '';
  const times = restarts === 0 ? '' : `, ${restarts} restart${restarts === 1 ? '' : 's'}`;
  return `; it ended with exit code ${lastExit}${times}`;
}
