import type { KubeObject } from '../../../../runtime/client/resource.ts';
import type { ObservedComponent, Question, SeenEvent } from '../../observe/observation.ts';
import { workloadsOf } from '../../render/kinds.ts';
import { isOpen, readinessOf, worstOf, type Readiness } from '../present/readiness.ts';
import { creatingPodOf, NOT_READY, podProblemOf, unreadyPodOf, type PodProblem } from './podProblem.ts';

type Observed = Pick<ObservedComponent, 'objects' | 'pods' | 'arePodsRead'>;

/** Why the pods of a component are not available, as far as its workload, its pods and their Events tell. */
export function causeOf(
  { pods, told = [] }: Pick<ObservedComponent, 'pods' | 'told'>,
  { problem, isPaused }: Pick<Readiness, 'problem' | 'isPaused'>,
): PodProblem | undefined {
  // Reason of the condition that Kubernetes has for it.
  if (isPaused) return { reason: 'DeploymentPaused', message: 'it is paused: continue with kubectl rollout resume' };
  if (problem !== undefined) return { reason: 'ReplicaFailure', message: problem };
  const ofPods = podProblemOf(pods);
  if (ofPods !== undefined && ofPods.reason !== NOT_READY) return ofPods;
  if (ofPods !== undefined) {
    const probe = newest(told, ({ reason }) => reason === 'Unhealthy');
    return probe === undefined ? ofPods : { ...ofPods, message: `${ofPods.message}; ${textOf(probe)}` };
  }
  const creating = creatingPodOf(pods);
  const event = creating === undefined ? refusedCreation(told) : newest(told, isOfStart);
  if (event === undefined) return undefined;
  const where = creating === undefined ? '' : `pod ${creating.key}: `;
  return { reason: event.reason, message: `${where}${textOf(event)}` };
}

/**
 * The object whose Events may say why the pods of a component are not available, where no status does:
 *
 * | pods                                        | asked about                               | that counts              |
 * |---------------------------------------------|-------------------------------------------|--------------------------|
 * | one is stuck, or has no node, or one that is not Ready | nothing: its status tells      |                          |
 * | one runs and is not ready                   | that pod                                  | Unhealthy                |
 * | one is being created                        | that pod: its volumes, its network        | a warning of the kubelet |
 * | are missing, of a StatefulSet or DaemonSet  | the workload: quota, rights, admission    | FailedCreate, if the last creation failed |
 * | are missing, of a Deployment                | nothing: its condition ReplicaFailure tells |                        |
 */
export function questionOf(component: Observed): Question | undefined {
  const workload = openWorkloadOf(component);
  if (workload === undefined || unreadOf(component) !== undefined) return undefined;
  const { pods } = component;
  const problem = podProblemOf(pods);
  if (problem !== undefined && problem.reason !== NOT_READY) return undefined;
  const isDeployment = workload.kind === 'Deployment';
  const about = unreadyPodOf(pods) ?? creatingPodOf(pods) ?? (isDeployment ? undefined : workload);
  const { namespace = '', uid } = about?.metadata ?? {};
  return uid === undefined ? undefined : { namespace, uid };
}

/**
 * The workload of a built-in component whose pods have to be read, since they may say why they are not available. Undefined if the
 * workload says so itself, or nothing is missing, or they were read.
 */
export function unreadOf(component: Observed): KubeObject | undefined {
  const workload = component.arePodsRead === false ? openWorkloadOf(component) : undefined;
  return workload === undefined || readinessOf(workload).problem !== undefined ? undefined : workload;
}

/** The workload whose pods are not available, although nothing of the component is to be applied. */
function openWorkloadOf({ objects }: Observed): KubeObject | undefined {
  const workload = worstOf(workloadsOf(objects))?.live;
  const areCurrent = objects.every(({ isCurrent }) => isCurrent);
  return workload !== undefined && areCurrent && isOpen(workload) ? workload : undefined;
}

/** Before a pod can start, but for what its condition PodScheduled says. */
function isOfStart({ isWarning, reason }: SeenEvent): boolean {
  return isWarning && reason !== 'FailedScheduling';
}

/** A creation that succeeded later makes an earlier refusal void. */
function refusedCreation(told: readonly SeenEvent[]): SeenEvent | undefined {
  const refused = newest(told, ({ reason }) => reason === 'FailedCreate');
  const succeeded = newest(told, ({ reason }) => reason === 'SuccessfulCreate');
  // Of the same second, both may be of one attempt to create several pods.
  return refused !== undefined && refused.at >= (succeeded?.at ?? 0) ? refused : undefined;
}

function newest(told: readonly SeenEvent[], is: (event: SeenEvent) => boolean): SeenEvent | undefined {
  return told.filter(is).sort((a, b) => b.at - a.at)[0];
}

function textOf({ reason, message }: SeenEvent): string {
  return `${reason}: ${message.trim()}`;
}
