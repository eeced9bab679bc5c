import type { V1Deployment, V1StatefulSet, V1StatefulSetStatus } from '@kubernetes/client-node';
import { durationMs } from '../../../../api/fieldSchemas.ts';
import { ComponentReason as Reason } from '../../../../api/trafficstack/reasons.ts';
import { DEFAULT_DEADLINE } from '../../../../api/trafficstack/terms.ts';
import type { ComponentStatus, RolledBackFrom, TrafficStack } from '../../../../api/trafficstack/trafficStack.ts';
import { appliedHash } from '../../../../runtime/apply/difference.ts';
import { keyOf, type KubeObject, type Resource } from '../../../../runtime/client/resource.ts';
import { CONTROLLER_REVISIONS, PODS } from '../../../../runtime/client/resources.ts';
import { type ObservedComponent, type LeftObject, type StackPod, isMadeBy } from '../../model/observation.ts';
import type { DesiredObject } from '../../render/objects.ts';
import { type StoredRevision, controllerRevisionOf } from '../../render/storedRevision.ts';
import { isStuck } from '../podProblem.ts';

type Told = Pick<ComponentStatus, 'state' | 'reason' | 'message'>;

/**
 * Begins the rollback of a component that missed its deadline: the status records the failed revision, and the next reconcile restores the last ready
 * one.
 *
 * | the component                                        | restored |
 * |------------------------------------------------------|----------|
 * | was never ready, or cannot be rolled back            | no       |
 * | was ready with this very revision, or these very objects but for the number of pods | no |
 * | has a query that is not asked yet, as after a restart, or since its pods are available | not yet |
 * | has available pods, and a query that a setting keeps from being sent: nothing says that it failed | no |
 * | was ready with another revision                      | yes      |
 */
export function beginRollback(
  component: ObservedComponent,
  status: ComponentStatus,
  isAvailable: boolean,
): ComponentStatus {
  const { stored, revision, answer } = component;
  if (isAvailable && answer?.is === 'Unknown' && answer.isNotSent === true) return status;
  if (status.state !== 'Failed' || status.reason === Reason.ForeignObject || stored === undefined) return status;
  if (stored.revision === revision || isSame(component, stored) || answer?.is === 'Pending') return status;
  const { version, message } = status;
  const rolledBackFrom: RolledBackFrom = { revision, ...(version !== undefined && { version }), message };
  return { ...status, reason: Reason.RollingBack, rolledBackFrom };
}

/** Whether only the numbers of pods differ: to take more pods back would help none of them, and to bring back fewer would undo what a person asked for. */
function isSame(component: ObservedComponent, stored: StoredRevision): boolean {
  const hashes = (list: readonly DesiredObject[]) =>
    list.map(({ object }) => appliedHash(withoutReplicas(object))).join();
  return hashes(component.objects) === hashes(stored.objects);
}

function withoutReplicas(object: KubeObject): KubeObject {
  const { replicas: _, ...spec } = (object as V1Deployment).spec ?? {};
  return { ...object, spec } as KubeObject;
}

/** Returns the state of a component whose last ready revision is restored. @param present what is seen of its objects */
export function restoredState({ revision }: ObservedComponent, from: RolledBackFrom, present: Told): Told {
  const failed = `revision ${from.revision} failed: ${from.message}`;
  const [reason, verb] = present.state === 'Ready' ? [Reason.RolledBack, 'rolled'] : [Reason.RollingBack, 'rolling'];
  return { state: 'Failed', reason, message: `${verb} back to revision ${revision}: ${present.message}; ${failed}` };
}

/** Returns the state of a component whose last ready revision no longer exists. */
export function lostState(from: RolledBackFrom): Told {
  const message = `its last ready revision is no longer stored: its objects are unchanged; revision ${from.revision} failed: ${from.message}`;
  return { state: 'Failed', reason: Reason.RevisionMissing, message };
}

/** The decision about the stored revision of a component. */
export interface StorePlan {
  /** Applied after the objects of the component. */
  readonly store?: { readonly resource: Resource; readonly object: KubeObject; readonly live: KubeObject | undefined };
  /** Deleted: the stored revision is not the last ready one. */
  readonly drop?: readonly LeftObject[];
  /** Added to the message of the component. */
  readonly note?: string;
}

/** Bytes of the largest stored object: 1 MiB, without the fields of the API server. */
const LARGEST_BYTES = 1_000_000;

/**
 * Decides which revision of a component is stored: only a ready one. When it is stored, the revision before is deleted (see removal.ts).
 *
 * | it can be rolled back | it is ready | the object is | what happens                       |
 * |-----------------------|-------------|---------------|------------------------------------|
 * | no                    | any         | any           | nothing: removal.ts deletes what is stored |
 * | yes                   | no          | any           | nothing: the last one stays        |
 * | yes                   | yes         | small enough  | it is stored                       |
 * | yes                   | yes         | too large     | the last one is deleted, since it is not the last ready one |
 */
export function planStore(
  stack: TrafficStack,
  { spec, objects, revision, stored, revisionsIn }: ObservedComponent,
  { state }: Pick<ComponentStatus, 'state'>,
): StorePlan {
  if (revisionsIn === undefined || state !== 'Ready') return {};
  const content = { name: spec.name, namespace: revisionsIn, revision, objects };
  const { number = 0, live } = stored ?? {};
  const again = controllerRevisionOf(stack, content, number);
  const isStored = live !== undefined && keyOf(live) === keyOf(again);
  const object = isStored ? again : controllerRevisionOf(stack, content, number + 1);
  const size = new TextEncoder().encode(JSON.stringify(object)).length;
  if (size <= LARGEST_BYTES)
    return { store: { resource: CONTROLLER_REVISIONS, object, live: isStored ? live : undefined } };
  return {
    note: `this revision cannot be restored: it has ${size} bytes, and at most ${LARGEST_BYTES} are stored`,
    ...(live && { drop: [{ component: spec.name, resource: CONTROLLER_REVISIONS, live }] }),
  };
}

/**
 * Returns the pods that would block a StatefulSet: those that are not ready, with a failed revision that was replaced. The controller of StatefulSets
 * replaces no pod before all are ready, so they must be deleted, after a rollback as after a correction
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback).
 *
 * | the pod is not ready, and                                        | deleted |
 * |------------------------------------------------------------------|---------|
 * | of the revision that is wanted                                   | no      |
 * | of the last one that all pods had, also the very first one, and may get ready | no |
 * | of the same, and stuck                                           | one at a time, the first one, while all that were replaced are ready |
 * | of the same, stuck, and below a partition that a user has set | no: it would be created again unchanged |
 * | of any other revision, and all its containers run                | after the deadline of the component, or when it is rolled back |
 * | of any other revision otherwise                                  | yes     |
 * | any of these, and the cache has no room for its containers       | no: it may be ready |
 *
 * Only pods of this workload count: after a change of its name or kind, pods of the old one remain for a while.
 *
 * A pod that runs may get ready: a database that reads its log may take minutes, and a change of an annotation is no reason to begin again.
 *
 * One at a time: an old pod may be stuck because a new one is broken, and would be replaced by another broken one.
 */
export function brokenPodsOf(
  { spec, objects, pods: found, rolledBackFrom }: ObservedComponent,
  now: number,
): readonly LeftObject[] {
  const workload = objects.at(-1);
  if (workload?.live?.kind !== 'StatefulSet' || !workload.isCurrent) return [];
  const { metadata, status, spec: template } = workload.live as V1StatefulSet;
  // Until then, the revisions are those before the change.
  if (status === undefined || (status.observedGeneration ?? 0) < (metadata?.generation ?? 0)) return [];
  const kept = new Set(['', status.updateRevision, status.currentRevision]);
  const { namespace = '', name = '' } = metadata ?? {};
  const pods = found.filter((pod) => isMadeBy(pod, { kind: 'StatefulSet', namespace, name }));
  const isFailed = (pod: StackPod): boolean => !pod.isEnding && pod.isUnread !== true && !isReady(pod);
  const patienceMs = rolledBackFrom === undefined ? durationMs(spec.deadline ?? DEFAULT_DEADLINE) : 0;
  const mayGetReady = ({ containers, createdAt }: StackPod): boolean =>
    containers.length > 0 && containers.every(({ isRunning }) => isRunning) && now - createdAt < patienceMs;
  const failed = pods.filter((pod) => isFailed(pod) && !kept.has(pod.revisionHash) && !mayGetReady(pod));
  const stuck = stuckPod(pods, status, template?.updateStrategy?.rollingUpdate?.partition ?? 0);
  return [...failed, ...(stuck === undefined ? [] : [stuck])].map((live) => {
    return { component: spec.name, resource: PODS, live };
  });
}

/** Returns the first stuck pod of the last complete revision, if it can be replaced now. */
function stuckPod(
  pods: readonly StackPod[],
  { currentRevision, updateRevision }: V1StatefulSetStatus,
  partition: number,
): StackPod | undefined {
  const isBeingReplaced = (pod: StackPod): boolean =>
    pod.isEnding || (pod.revisionHash === updateRevision && !isReady(pod));
  if (currentRevision === updateRevision || pods.some(isBeingReplaced)) return undefined;
  const ordinals = new Set(pods.map(ordinalOf));
  // A pod that was just deleted may not exist again yet.
  const isAfterGap = (pod: StackPod): boolean =>
    Array.from({ length: ordinalOf(pod) }, (_, ordinal) => ordinal).some((ordinal) => !ordinals.has(ordinal));
  return pods
    .filter((pod) => pod.revisionHash === currentRevision && !isReady(pod) && isStuck(pod))
    .filter((pod) => ordinalOf(pod) >= partition && !isAfterGap(pod))
    .sort((a, b) => ordinalOf(a) - ordinalOf(b))[0];
}

function isReady({ containers }: StackPod): boolean {
  return containers.length > 0 && containers.every((each) => each.isReady);
}

/** Returns the number at the end of the name of a pod of a StatefulSet. */
function ordinalOf({ key }: StackPod): number {
  return Number(key.slice(key.lastIndexOf('-') + 1));
}
