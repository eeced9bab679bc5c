import type { V1Deployment } from '@kubernetes/client-node';
import { APPLY_CRD } from '../../../api/crd.ts';
import { POD_PLACEMENT_NAME, POD_PLACEMENTS, type PodPlacement } from '../../../api/podplacement/schema.ts';
import { isLabelKey } from '../../../api/trafficwatch/labelKey.ts';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { createBoundedInformer, identityOf, reportedFields, SMALL_PAGE } from '../../../runtime/cache/bodyBudget.ts';
import {
  createInformer,
  withoutAnnotations,
  withoutManagedFields,
  type Informer,
  type InformerOptions,
  logMissingCrd,
} from '../../../runtime/cache/informer.ts';
import { hasFinalizer } from '../../../runtime/apply/finalizer.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { OWNER, selectorText } from '../../contract/labels.ts';
import { withScalersOnly } from '../model/replicas.ts';
import { BY_NAMESPACE, FINALIZER, BY_LABEL_KEY } from '../names.ts';
import { claimedKeys } from '../model/labelKeys.ts';

/**
 * The informer of TrafficWatches in all namespaces, with an index by claimed label key. If the CRD is missing, it logs
 * what to do, and continues within 30 s after the CRD is installed. It drops annotations, of which nothing is read. If the
 * TrafficWatches of a namespace are too large together, it drops the specs of those that came last (isWithoutBody).
 */
export function createTrafficWatchInformer(
  options: Pick<InformerOptions<TrafficWatch>, 'transport' | 'logger' | 'metrics'>,
): Informer<TrafficWatch> {
  const { logger } = options;
  const resource = TRAFFIC_WATCHES;
  const selection = {
    ...options,
    resource,
    transform: (watch: TrafficWatch) => withoutAnnotations(withoutManagedFields(watch)),
    indexes: {
      [BY_LABEL_KEY]: claimedKeys,
      [BY_NAMESPACE]: ({ metadata }: TrafficWatch) => [metadata?.namespace ?? ''],
    },
    onRefusal: logMissingCrd({ resource, logger, waiting: 'the operator', advice: APPLY_CRD }),
  };
  return createBoundedInformer(selection, withoutSpec);
}

/**
 * Keeps the fields that a deletion needs: the finalizers, and the key of the labels to remove. Keeps also the fields that are reported
 * without a spec: each pass would write them again.
 */
export function withoutSpec(watch: TrafficWatch): TrafficWatch {
  const { metadata, ...identity } = identityOf(watch);
  const labelKey = watch.status?.labelKey;
  const reported = reportedFields(watch.status, ['conditions', 'observedGeneration', 'ready', 'decided', 'mode']);
  const status = { ...reported, ...(isLabelKey(labelKey) && { labelKey }) };
  return {
    ...identity,
    metadata: { ...metadata, finalizers: hasFinalizer(watch, FINALIZER) ? [FINALIZER] : [] },
    ...(Object.keys(status).length > 0 && { status }),
  };
}

/** The informer of the PodPlacements in all namespaces, which are named alike. Each has at most 1 MiB, so pages are small. */
export function createPodPlacementInformer(
  options: Pick<InformerOptions<PodPlacement>, 'transport' | 'logger' | 'metrics'>,
): Informer<PodPlacement> {
  const resource = POD_PLACEMENTS;
  const { logger } = options;
  return createInformer({
    ...options,
    resource,
    fieldSelector: `metadata.name=${POD_PLACEMENT_NAME}`,
    transform: (placement) => withoutAnnotations(withoutManagedFields(placement)),
    pageSize: SMALL_PAGE,
    onRefusal: logMissingCrd({ resource, logger, waiting: 'the admission policy', advice: APPLY_CRD }),
  });
}

/** Creates the informer of Deployments with the label of the operator, in all namespaces. Their specs have the limit of TrafficWatch specs. */
export function createDeploymentInformer(
  options: Pick<InformerOptions<V1Deployment>, 'transport' | 'logger' | 'metrics'>,
): Informer<V1Deployment> {
  // In a large cluster most Deployments are not the operator's.
  const labelSelector = selectorText(OWNER.labels);
  const selection = { ...options, resource: DEPLOYMENTS, labelSelector, transform: withScalersOnly };
  return createBoundedInformer(selection, (deployment) => identityOf(deployment));
}
