import type { V1Deployment } from '@kubernetes/client-node';
import { hasField } from '../../../../runtime/apply/managedFields.ts';

/** Annotation on a Deployment that names the replicas of the spec which an autoscaler overrules. */
export const OVERRULED_ANNOTATION = 'traffic.example.com/overruled-replicas';

const REPLICAS = ['f:spec', 'f:replicas'];

/**
 * The field manager of the controller of HorizontalPodAutoscalers. It writes the subresource `scale` for nothing else;
 * what `kubectl scale` writes there is of `kubectl`.
 */
const HPA_CONTROLLER = 'kube-controller-manager';

/** Somebody else sets the replicas that the spec names. */
export interface ContestedReplicas {
  /** What the spec says. */
  readonly wanted: number;
  /** The field manager that sets another count. */
  readonly by: string;
}

/** Drops the record of who set which field, but for who scaled the Deployment: this transform is the cache's. */
export function withScalersOnly(deployment: V1Deployment): V1Deployment {
  const { metadata } = deployment;
  const scalers = metadata?.managedFields?.filter(({ subresource }) => subresource === 'scale') ?? [];
  if (metadata !== undefined && scalers.length > 0) metadata.managedFields = scalers;
  else delete metadata?.managedFields;
  return deployment;
}

/** The autoscaler that owns the replicas; nobody does once they were set in any other way. */
function autoscalerOf({ metadata }: V1Deployment): string | undefined {
  const owner = metadata?.managedFields?.find((each) => each.subresource === 'scale' && hasField(each, REPLICAS));
  return owner?.manager === HPA_CONTROLLER ? owner.manager : undefined;
}

/**
 * Whether an autoscaler has its way with the replicas. A contention would start and stop pods at each of its looks, so that
 * the spec yields; that is told, since nobody can want both.
 *
 * | replicas in the spec | set last by            | the Deployment says that we yielded with | then |
 * |----------------------|------------------------|--------------------------|------------------------------|
 * | none                 | any                    | any                      | not contested                |
 * | some                 | a person, or us        | any                      | the spec's: drift is put right |
 * | some                 | an autoscaler          | nothing, or the same     | the autoscaler's             |
 * | some                 | an autoscaler          | another count            | the spec's, once: a person has just written it |
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

/** The Deployment as it is to be applied while an autoscaler has its way. */
export function withoutReplicas(desired: V1Deployment, { wanted }: ContestedReplicas): V1Deployment {
  const spec = desired.spec === undefined ? undefined : { ...desired.spec };
  delete spec?.replicas;
  const annotations = { ...desired.metadata?.annotations, [OVERRULED_ANNOTATION]: String(wanted) };
  return { ...desired, metadata: { ...desired.metadata, annotations }, spec };
}
