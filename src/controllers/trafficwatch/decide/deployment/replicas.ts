import type { V1Deployment } from '@kubernetes/client-node';
import { hasField } from '../../../../runtime/apply/managedFields.ts';

/** Annotation on a Deployment: the replica count of the spec that an autoscaler overrides. */
export const OVERRULED_ANNOTATION = 'traffic.example.com/overruled-replicas';

const REPLICAS = ['f:spec', 'f:replicas'];

/**
 * The field manager of the HorizontalPodAutoscaler controller. kube-controller-manager writes the subresource `scale`
 * for no other purpose. `kubectl scale` writes it with the field manager `kubectl`.
 */
const HPA_CONTROLLER = 'kube-controller-manager';

/** An autoscaler sets the replicas, although the spec names a count. */
export interface ContestedReplicas {
  /** The count in the spec. */
  readonly wanted: number;
  /** The field manager that sets another count. */
  readonly by: string;
}

/** Drops all managedFields except those of the subresource `scale`, in place. The transform of the Deployment cache. */
export function withScalersOnly(deployment: V1Deployment): V1Deployment {
  const { metadata } = deployment;
  const scalers = metadata?.managedFields?.filter(({ subresource }) => subresource === 'scale') ?? [];
  if (metadata !== undefined && scalers.length > 0) metadata.managedFields = scalers;
  else delete metadata?.managedFields;
  return deployment;
}

/** The field manager of the autoscaler that owns the replicas; undefined if they were last set in any other way. */
function autoscalerOf({ metadata }: V1Deployment): string | undefined {
  const owner = metadata?.managedFields?.find((each) => each.subresource === 'scale' && hasField(each, REPLICAS));
  return owner?.manager === HPA_CONTROLLER ? owner.manager : undefined;
}

/**
 * Decides whether an autoscaler keeps control of the replicas. If both wrote their count, each sync of the autoscaler
 * would start and stop pods. The spec therefore yields, and a condition asks the user to remove one of the two.
 *
 * | replicas in the spec | last set by                | overruled-replicas annotation | replicas of the Deployment |
 * |----------------------|----------------------------|-------------------------------|----------------------------|
 * | none                 | any                        | any                           | not contested              |
 * | a count              | a person, or the operator  | any                           | the spec's: drift is corrected |
 * | a count              | an autoscaler              | none, or the same count       | the autoscaler's           |
 * | a count              | an autoscaler              | another count                 | the spec's, once: a person has just changed the spec |
 *
 * @param wanted the count in the spec
 * @param live the Deployment in the cluster
 * @returns undefined if the replicas are not contested
 */
export function contestedReplicas(
  wanted: number | null | undefined,
  live: V1Deployment | undefined,
): ContestedReplicas | undefined {
  if (wanted === undefined || wanted === null || live === undefined) return undefined;
  const by = autoscalerOf(live);
  const overruled = live.metadata?.annotations?.[OVERRULED_ANNOTATION];
  return by === undefined || (overruled ?? String(wanted)) !== String(wanted) ? undefined : { wanted, by };
}

/** The Deployment to apply while an autoscaler sets the replicas: without replicas, with the annotation. */
export function withoutReplicas(desired: V1Deployment, { wanted }: ContestedReplicas): V1Deployment {
  const spec = desired.spec === undefined ? undefined : { ...desired.spec };
  delete spec?.replicas;
  const annotations = { ...desired.metadata?.annotations, [OVERRULED_ANNOTATION]: String(wanted) };
  return { ...desired, metadata: { ...desired.metadata, annotations }, spec };
}
