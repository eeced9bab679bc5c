import { metaTime } from '../../../../runtime/controller/conditions.ts';
import type { StackContainer, StackPod } from '../../observe/observation.ts';

/** Why a pod does not get ready. */
export interface PodProblem {
  /** CamelCase, from the API of Kubernetes where it has one. */
  readonly reason: string;
  readonly message: string;
}

/** Of a container that waits, but for no fault: it is being created. */
const CREATING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);
/** Why a container ended, where that says no more than its exit code. */
const PLAIN: ReadonlySet<string> = new Set(['', 'Completed', 'Error']);
/** Reason of a pod with a container that runs and is not ready. */
export const NOT_READY = 'ContainerNotReady';

/** Reason of a pod of which too little is known: see StackPod.isUnread. */
const NOT_READ = 'PodNotRead';
/** 8 MiB: see BodyBudget. */
const TOO_LARGE =
  'not read, since the pods of stacks in its namespace take more than 8 MiB together; remove pods, containers or claims';

/** Reason of a pod for which the scheduler has not decided. */
export const NO_NODE = 'NoNode';

/** Reason of a pod whose node is not Ready. */
const NODE_NOT_READY = 'NodeNotReady';

/**
 * The first problem of the pods, by how certain it is the cause: a container that cannot start or has ended, then a pod on a node that is
 * not Ready, then a pod that no node has room for, then a container that is not ready. Of several pods the newest tells: an older one may
 * be of an older spec. What else is told of a pod on a node that is not Ready is what was so before. One that cannot end there may keep
 * another from its place, and is told besides. Undefined if all is well, or the pods have just begun.
 */
export function podProblemOf(pods: readonly StackPod[]): PodProblem | undefined {
  const sorted = newestFirst(pods);
  const reported = sorted.filter(({ lostNode }) => lostNode === undefined);
  const kept = lostProblemOf(pods.filter(({ isEnding }) => isEnding));
  const found =
    // Of a pod that was evicted, neither its containers nor its node tell why.
    firstOf(sorted, finishedProblem) ??
    firstOf(reported, stuckContainer) ??
    lostProblemOf(sorted) ??
    firstOf(reported, unscheduled) ??
    firstOf(reported, unreadyContainer) ??
    firstOf(reported, unread);
  if (found === undefined || kept === undefined || found.reason === NODE_NOT_READY) return found ?? kept;
  return { ...found, message: `${found.message}; ${kept.message}` };
}

function firstOf(pods: readonly StackPod[], find: (pod: StackPod) => PodProblem | undefined): PodProblem | undefined {
  return pods.map(find).find((problem) => problem !== undefined);
}

/** What is told of a workload that is going, with a pod that keeps it, since its node is not Ready. */
export function withLostPod(what: string, pods: readonly StackPod[]): string {
  const lost = lostProblemOf(pods);
  return lost === undefined ? what : `${what}; ${lost.message}`;
}

/** The first pod by name that is on a node which is not Ready. */
function lostProblemOf(pods: readonly StackPod[]): PodProblem | undefined {
  const [first] = pods.filter(({ lostNode }) => lostNode !== undefined).sort((a, b) => (a.key < b.key ? -1 : 1));
  if (first?.lostNode === undefined) return undefined;
  const { name, since } = first.lostNode;
  const what = first.isEnding ? 'is ending' : 'is';
  const message = `pod ${first.key} ${what} on node ${name}, which is NotReady since ${metaTime(since)}`;
  return { reason: NODE_NOT_READY, message };
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
    ({ containers, nodeName, finished, isUnread = false }) =>
      nodeName !== undefined &&
      finished === undefined &&
      !isUnread &&
      (containers.length === 0 || containers.some(({ waiting }) => waiting && CREATING.has(waiting.reason))),
  );
}

/** Without those that end, and without those that have finished, if there is another one. */
function newestFirst(pods: readonly StackPod[]): StackPod[] {
  const staying = pods.filter(({ isEnding }) => !isEnding);
  const open = staying.filter(({ finished }) => finished === undefined);
  const counting = open.length === 0 ? staying : open;
  return counting.sort((a, b) => b.createdAt - a.createdAt || (a.key < b.key ? -1 : 1));
}

function finishedProblem({ key, finished }: StackPod): PodProblem | undefined {
  if (finished === undefined || finished.reason === '') return undefined;
  const { reason, message } = finished;
  return { reason, message: `pod ${key}: ${reason}${message === '' ? '' : `: ${message}`}` };
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

function unread({ key, isUnread = false }: StackPod): PodProblem | undefined {
  return isUnread ? { reason: NOT_READ, message: `pod ${key}: ${TOO_LARGE}` } : undefined;
}

function unscheduled({ key, nodeName, unscheduledMessage, claims }: StackPod): PodProblem | undefined {
  // A claim that is provisioned for a certain node is, for the scheduler, no reason to give up.
  const ofClaims = claims.length === 0 ? '' : `; its claims: ${claims.join(', ')}`;
  if (unscheduledMessage !== undefined) {
    return { reason: 'Unschedulable', message: `pod ${key}: ${unscheduledMessage}${ofClaims}` };
  }
  if (nodeName !== undefined) return undefined;
  return { reason: NO_NODE, message: `pod ${key}: no node is chosen yet${ofClaims}` };
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

function exitOf({ ended, lastExit, lastReason = '', restarts }: StackContainer): string {
  if (lastExit === undefined) return '';
  // A container that waits for its next start does not tell any more that it was killed for its memory.
  const why = lastReason === ended || PLAIN.has(lastReason) ? '' : ` (${lastReason})`;
  const times = restarts === 0 ? '' : `, ${restarts} restart${restarts === 1 ? '' : 's'}`;
  return `; it ended with exit code ${lastExit}${why}${times}`;
}
