import type { V1StatefulSet } from '@kubernetes/client-node';
import { PODS } from '../../../../runtime/client/resources.ts';
import type { LeftObject, ObservedComponent, StackPod } from '../../observe/observation.ts';

/**
 * The pods that a StatefulSet would wait for without end: those that are not ready, of a revision that failed and was replaced. Its
 * controller replaces no pod before all are ready, so they have to be deleted, after a rollback as after a correction
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback).
 *
 * | the pod                                                    | deleted |
 * |------------------------------------------------------------|---------|
 * | is ready: the controller replaces it, one at a time        | no      |
 * | is of the revision that is wanted, or of the last one that all pods had | no |
 * | anything else                                              | yes     |
 */
export function brokenPodsOf({ spec, objects, pods }: ObservedComponent): readonly LeftObject[] {
  const workload = objects.at(-1);
  if (workload?.live?.kind !== 'StatefulSet' || !workload.isCurrent) return [];
  const { metadata, status } = workload.live as V1StatefulSet;
  // Until then, the revisions are those before the change.
  if (status === undefined || (status.observedGeneration ?? 0) < (metadata?.generation ?? 0)) return [];
  const kept = new Set(['', status.updateRevision, status.currentRevision]);
  const isBroken = ({ isEnding, revisionHash, containers }: StackPod): boolean =>
    !isEnding && !kept.has(revisionHash) && !(containers.length > 0 && containers.every(({ isReady }) => isReady));
  return pods.filter(isBroken).map((live) => ({ component: spec.name, resource: PODS, live }));
}
