import type { V1StatefulSet, V1StatefulSetStatus } from '@kubernetes/client-node';
import { durationMs } from '../../../../api/fieldSchemas.ts';
import { DEFAULT_DEADLINE } from '../../../../api/trafficstack/terms.ts';
import { PODS } from '../../../../runtime/client/resources.ts';
import { isStuck } from '../cause/podProblem.ts';
import { isMadeBy } from '../removal/madeBy.ts';
import type { LeftObject, ObservedComponent, StackPod } from '../../observe/observation.ts';

/**
 * The pods that a StatefulSet would wait for without end: those that are not ready, of a revision that failed and was replaced. Its
 * controller replaces no pod before all are ready, so they have to be deleted, after a rollback as after a correction
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback).
 *
 * | the pod is not ready, and                                        | deleted |
 * |------------------------------------------------------------------|---------|
 * | of the revision that is wanted                                   | no      |
 * | of the last one that all pods had, also the very first one, and may get ready | no |
 * | of the same, and stuck                                           | one at a time, the first one, while all that were replaced are ready |
 * | of the same, stuck, and less than a partition that somebody has set | no: it would be made anew as it is |
 * | of any other revision, and all its containers run                | after the deadline of the component, or when it is rolled back |
 * | of any other revision otherwise                                  | yes     |
 * | any of these, and the cache has no room for its containers       | no: it may be ready |
 *
 * Only its own pods: after another name or kind of the workload, those of the older one are there for a while, too.
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
  const { metadata, status, spec: asked } = workload.live as V1StatefulSet;
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
  const stuck = stuckPod(pods, status, asked?.updateStrategy?.rollingUpdate?.partition ?? 0);
  return [...failed, ...(stuck === undefined ? [] : [stuck])].map((live) => {
    return { component: spec.name, resource: PODS, live };
  });
}

/** The first pod of the last revision that all pods had which is stuck, if it can be replaced now. */
function stuckPod(
  pods: readonly StackPod[],
  { currentRevision, updateRevision }: V1StatefulSetStatus,
  partition: number,
): StackPod | undefined {
  const isBeingReplaced = (pod: StackPod): boolean =>
    pod.isEnding || (pod.revisionHash === updateRevision && !isReady(pod));
  if (currentRevision === updateRevision || pods.some(isBeingReplaced)) return undefined;
  const ordinals = new Set(pods.map(ordinalOf));
  // One that was just deleted, and is not made anew yet.
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

/** Of a pod of a StatefulSet: the number at the end of its name. */
function ordinalOf({ key }: StackPod): number {
  return Number(key.slice(key.lastIndexOf('-') + 1));
}
