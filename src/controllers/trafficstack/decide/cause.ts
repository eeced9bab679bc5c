import type { ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { MissingEvidence, ObservedComponent, EventQuery, SeenEvent } from '../model/observation.ts';
import { workloadsOf } from '../render/kinds.ts';
import { creatingPodOf, NOT_READY, podProblemOf, unreadyPodOf, type PodProblem } from './podProblem.ts';
import { isOpen, readinessOf, worstOf, type Readiness } from './readiness.ts';

type Observed = Pick<ObservedComponent, 'objects' | 'pods' | 'arePodsRead'>;

/** Returns why the pods of a component are not available, as its workload, its pods and their Events say. */
export function causeOf(
  { pods, events = [] }: Pick<ObservedComponent, 'pods' | 'events'>,
  { problem, isPaused }: Pick<Readiness, 'problem' | 'isPaused'>,
): PodProblem | undefined {
  // Reason of the condition that Kubernetes has for it.
  if (isPaused) return { reason: 'DeploymentPaused', message: 'it is paused: continue with kubectl rollout resume' };
  if (problem !== undefined) return { reason: 'ReplicaFailure', message: problem };
  const ofPods = podProblemOf(pods);
  if (ofPods !== undefined && ofPods.reason !== NOT_READY) return ofPods;
  if (ofPods !== undefined) {
    const probe = newest(events, ({ reason }) => reason === 'Unhealthy');
    return probe === undefined ? ofPods : { ...ofPods, message: `${ofPods.message}; ${textOf(probe)}` };
  }
  const creating = creatingPodOf(pods);
  const event = creating === undefined ? refusedCreation(events) : newest(events, isOfStart);
  if (event === undefined) return undefined;
  const where = creating === undefined ? '' : `pod ${creating.key}: `;
  return { reason: event.reason, message: `${where}${textOf(event)}` };
}

/**
 * Returns the object whose Events may explain why pods are not available. Undefined if a status explains it:
 *
 * | pods                                        | asked about                               | that counts              |
 * |---------------------------------------------|-------------------------------------------|--------------------------|
 * | one is stuck, or has no node, or one that is not Ready | nothing: its status tells      |                          |
 * | one runs and is not ready                   | that pod                                  | Unhealthy                |
 * | one is being created                        | that pod: its volumes, its network        | a warning of the kubelet |
 * | are missing, of a StatefulSet or DaemonSet  | the workload: quota, rights, admission    | FailedCreate, if the last creation failed |
 * | are missing, of a Deployment                | nothing: its condition ReplicaFailure tells |                        |
 */
export function eventQueryOf(component: Observed): EventQuery | undefined {
  const workload = openWorkloadOf(component);
  if (workload === undefined || podQueryOf(component) !== undefined) return undefined;
  const { pods } = component;
  const problem = podProblemOf(pods);
  if (problem !== undefined && problem.reason !== NOT_READY) return undefined;
  const isDeployment = workload.kind === 'Deployment';
  const about = unreadyPodOf(pods) ?? creatingPodOf(pods) ?? (isDeployment ? undefined : workload);
  const { namespace = '', uid } = about?.metadata ?? {};
  return uid === undefined ? undefined : { namespace, uid };
}

/**
 * Returns the workload of a built-in component whose pods must be read. Undefined if its status explains the problem, if all pods are available, or
 * if the pods were read.
 */
export function podQueryOf(component: Observed): KubeObject | undefined {
  const workload = component.arePodsRead === false ? openWorkloadOf(component) : undefined;
  return workload === undefined || readinessOf(workload).problem !== undefined ? undefined : workload;
}

/** Returns the workload with unavailable pods. Undefined if an object of the component is about to be applied. */
function openWorkloadOf({ objects }: Observed): KubeObject | undefined {
  const workload = worstOf(workloadsOf(objects))?.live;
  const areCurrent = objects.every(({ isCurrent }) => isCurrent);
  return workload !== undefined && areCurrent && isOpen(workload) ? workload : undefined;
}

/** Returns whether an Event explains why a pod cannot start. The condition PodScheduled explains scheduling. */
function isOfStart({ isWarning, reason }: SeenEvent): boolean {
  return isWarning && reason !== 'FailedScheduling';
}

/** Returns the newest refusal to create a pod. Undefined if a later creation succeeded. */
function refusedCreation(events: readonly SeenEvent[]): SeenEvent | undefined {
  const refused = newest(events, ({ reason }) => reason === 'FailedCreate');
  const succeeded = newest(events, ({ reason }) => reason === 'SuccessfulCreate');
  // Of the same second, both may be of one attempt to create several pods.
  return refused !== undefined && refused.at >= (succeeded?.at ?? 0) ? refused : undefined;
}

function newest(events: readonly SeenEvent[], is: (event: SeenEvent) => boolean): SeenEvent | undefined {
  return events.filter(is).sort((a, b) => b.at - a.at)[0];
}

function textOf({ reason, message }: SeenEvent): string {
  return `${reason}: ${message.trim()}`;
}

/** ms: most pods start within this time and need no explanation. */
const EXPLAIN_AFTER_MS = 3_000;
/** ms: no watch reports new Events, or changes of pods that are in no cache. */
const REREAD_MS = 10_000;

/**
 * Decides which pods and Events are read to explain unavailable pods: first the pods of a built-in component, then Events.
 *
 * @param statuses as they are decided without these answers, by name
 */
export function missingEvidenceOf(
  components: readonly ObservedComponent[],
  statuses: ReadonlyMap<string, Pick<ComponentStatus, 'state' | 'since'>>,
  now: number,
): MissingEvidence {
  const podQueries = new Map<string, KubeObject>();
  const eventQueries = new Map<string, EventQuery>();
  let evidenceAt = Infinity;
  for (const component of components) {
    const { name } = component.spec;
    const workload = podQueryOf(component);
    const eventQuery = eventQueryOf(component);
    const status = statuses.get(name);
    const isOpen = workload !== undefined || eventQuery !== undefined || component.arePodsRead === true;
    if (!isOpen || status === undefined) continue;
    const dueAt = status.state === 'Failed' ? now : Date.parse(status.since) + EXPLAIN_AFTER_MS;
    if (now < dueAt) evidenceAt = Math.min(evidenceAt, dueAt);
    else if (workload !== undefined) podQueries.set(name, workload);
    else if (eventQuery !== undefined && component.events === undefined) eventQueries.set(name, eventQuery);
    else evidenceAt = Math.min(evidenceAt, now + REREAD_MS);
  }
  return { podQueries, eventQueries, evidenceAt };
}
