import { metaTime } from '../../../runtime/controller/conditions.ts';
import type { StackContainer, StackPod } from '../model/observation.ts';

/** The reason why a pod does not become ready. */
export interface PodProblem {
  /** A reason in CamelCase, from the API of Kubernetes if it has one. */
  readonly reason: string;
  readonly message: string;
}

/** Reasons of a container that is being created without a problem. */
const CREATING: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);
/** Reasons of an ended container that say no more than its exit code. */
const PLAIN: ReadonlySet<string> = new Set(['', 'Completed', 'Error']);
/** Reason of a pod with a container that runs and is not ready. */
export const NOT_READY = 'ContainerNotReady';

/** Reason of a pod that is known in part only: see StackPod.isUnread. */
const NOT_READ = 'PodNotRead';
/** BodyBudget has the limit: 8 MiB. */
const TOO_LARGE =
  'not read, since the pods of stacks in its namespace take more than 8 MiB together; remove pods, containers or claims';

/** Reason of a pod without a decision of the scheduler. */
export const NO_NODE = 'NoNode';

/** Reason of a pod whose node is not Ready. */
const NODE_NOT_READY = 'NodeNotReady';

/**
 * Returns the most certain problem of the pods: a container that cannot start or has ended, then a pod on a node that is not Ready, then a pod that
 * fits no node, then a container that is not ready. The newest pod counts: older ones may have an older spec. The status of a pod on a node that is
 * not Ready is outdated. A pod that cannot end there may block another, so the message names both. Undefined without a problem, or if the pods have
 * just started.
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

/** Adds the pod that keeps a deleted workload from ending, because its node is not Ready. */
export function withLostPod(what: string, pods: readonly StackPod[]): string {
  const lost = lostProblemOf(pods);
  return lost === undefined ? what : `${what}; ${lost.message}`;
}

/** Returns the problem of the first pod by name on a node that is not Ready. */
function lostProblemOf(pods: readonly StackPod[]): PodProblem | undefined {
  const [first] = pods.filter(({ lostNode }) => lostNode !== undefined).sort((a, b) => (a.key < b.key ? -1 : 1));
  if (first?.lostNode === undefined) return undefined;
  const { name, since } = first.lostNode;
  const what = first.isEnding ? 'is ending' : 'is';
  const message = `pod ${first.key} ${what} on node ${name}, which is NotReady since ${metaTime(since)}`;
  return { reason: NODE_NOT_READY, message };
}

/** Returns whether only another spec helps a pod: a container cannot start or has ended, or no node has room. */
export function isStuck(pod: StackPod): boolean {
  return stuckContainer(pod) !== undefined || pod.unscheduledMessage !== undefined;
}

/** Returns the newest pod with a running container that is not ready. */
export function unreadyPodOf(pods: readonly StackPod[]): StackPod | undefined {
  return newestFirst(pods).find(({ containers }) => containers.some(isUnready));
}

/** Returns the newest scheduled pod without a started container. */
export function creatingPodOf(pods: readonly StackPod[]): StackPod | undefined {
  return newestFirst(pods).find(
    ({ containers, nodeName, finished, isUnread = false }) =>
      nodeName !== undefined &&
      finished === undefined &&
      !isUnread &&
      (containers.length === 0 || containers.some(({ waiting }) => waiting && CREATING.has(waiting.reason))),
  );
}

/** Sorts the pods that are not ending. Finished pods count only if there are no others. */
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
  // While a container waits for its next start, only its last state shows that it was killed for its memory.
  const why = lastReason === ended || PLAIN.has(lastReason) ? '' : ` (${lastReason})`;
  const times = restarts === 0 ? '' : `, ${restarts} restart${restarts === 1 ? '' : 's'}`;
  return `; it ended with exit code ${lastExit}${why}${times}`;
}
