import type { V1StatefulSet } from '@kubernetes/client-node';
import { PODS } from '../../../../runtime/client/resources.ts';
import { isStuck } from '../cause/podProblem.ts';
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
 * | of the same, stuck, and made anew of the wanted revision         | yes     |
 * | of the same, stuck, and made anew as it is                       | no      |
 * | of any other revision                                            | yes     |
 *
 * The controller makes a pod anew of the last revision that all pods had if its ordinal is less than the number of other pods of it
 * (isCurrentRevisionNeeded in pkg/controller/statefulset of Kubernetes).
 */
export function brokenPodsOf({ spec, objects, pods }: ObservedComponent): readonly LeftObject[] {
  const workload = objects.at(-1);
  if (workload?.live?.kind !== 'StatefulSet' || !workload.isCurrent) return [];
  const { metadata, status } = workload.live as V1StatefulSet;
  // Until then, the revisions are those before the change.
  if (status === undefined || (status.observedGeneration ?? 0) < (metadata?.generation ?? 0)) return [];
  const { currentRevision, updateRevision } = status;
  const isBroken = (pod: StackPod): boolean => {
    if (pod.isEnding || isReady(pod) || pod.revisionHash === '' || pod.revisionHash === updateRevision) return false;
    if (pod.revisionHash !== currentRevision) return true;
    const others = pods.filter((other) => other !== pod && !other.isEnding && other.revisionHash === currentRevision);
    return isStuck(pod) && ordinalOf(pod) >= others.length;
  };
  return pods.filter(isBroken).map((live) => ({ component: spec.name, resource: PODS, live }));
}

function isReady({ containers }: StackPod): boolean {
  return containers.length > 0 && containers.every((each) => each.isReady);
}

/** Of a pod of a StatefulSet: the number at the end of its name. */
function ordinalOf({ key }: StackPod): number {
  return Number(key.slice(key.lastIndexOf('-') + 1));
}
