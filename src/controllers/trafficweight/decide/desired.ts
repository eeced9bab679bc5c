import { WeightReason } from '../../../api/trafficweight/reasons.ts';
import type { TrafficWeight, TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import type { Failure } from '../../../runtime/process/problem.ts';
import type { BackendView } from '../observe/observation.ts';

/** The inputs of `decideWeight`. */
export interface WeightScene {
  readonly spec: TrafficWeightSpec;
  readonly weight: TrafficWeight;
  /** Undefined with a static weight, and before the first read of a backend. */
  readonly backend: BackendView | undefined;
  /** Why the records cannot be decided; undefined if they can. */
  readonly problem: string | undefined;
}

/** The desired weight of the cluster, or why the records are unchanged. */
export type Desired =
  | { readonly kind: 'Decided'; readonly desiredWeight: number }
  | { readonly kind: 'Undecided'; readonly why: Failure; readonly desiredWeight: number | undefined }
  /** The backend has not been read yet. */
  | { readonly kind: 'Waiting' };

/**
 * Decides the desired weight of the cluster.
 *
 * | backend                      | weight                                                              |
 * |------------------------------|---------------------------------------------------------------------|
 * | static                       | the weight of the spec                                              |
 * | was read                     | the last weight read, also while the backend cannot be read         |
 * | cannot be read since a start | status.desiredWeight, the last decided weight; undecided without it |
 * | is being read for the first time | none: waiting                                                   |
 */
export function decideWeight({ spec, weight, backend, problem }: WeightScene): Desired {
  const isStatic = spec.backend.static !== undefined;
  if (!isStatic && backend === undefined) return { kind: 'Waiting' };
  const desiredWeight = spec.backend.static?.weight ?? backend?.weights?.desired ?? weight.status?.desiredWeight;
  if (problem !== undefined) {
    return { kind: 'Undecided', why: { reason: WeightReason.NotRead, message: problem }, desiredWeight };
  }
  if (desiredWeight !== undefined) return { kind: 'Decided', desiredWeight };
  const why = backend?.failure ?? { reason: WeightReason.BackendUnavailable, message: 'no weight was read' };
  return { kind: 'Undecided', why, desiredWeight };
}
