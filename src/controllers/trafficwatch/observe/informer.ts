import { TRAFFIC_WATCHES, type TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { createInformer, withoutManagedFields } from '../../../runtime/cache/informer.ts';
import type { Informer, InformerOptions } from '../../../runtime/cache/informer.ts';
import { isNotFound } from '../../../runtime/client/errors.ts';
import { resourceName } from '../../../runtime/client/resource.ts';
import { APPLY_CRD } from './crd/crdCheck.ts';
import { claimedKeys } from './labelKeys.ts';
import { BY_LABEL_KEY } from './observe.ts';

/**
 * The informer of TrafficWatches in all namespaces, with an index by claimed label key. If the CRD is missing, it logs
 * what to do, and continues within 30 s after the CRD is installed.
 */
export function createTrafficWatchInformer(
  options: Pick<InformerOptions<TrafficWatch>, 'transport' | 'logger' | 'metrics'>,
): Informer<TrafficWatch> {
  const { logger } = options;
  const crd = resourceName(TRAFFIC_WATCHES);
  let wasMissing = false;
  const informer = createInformer<TrafficWatch>({
    ...options,
    resource: TRAFFIC_WATCHES,
    transform: withoutManagedFields,
    indexes: { [BY_LABEL_KEY]: claimedKeys },
    onRefusal: () => {
      const isMissing = isNotFound(informer.refusal);
      if (isMissing === wasMissing) return;
      wasMissing = isMissing;
      if (isMissing) logger.error({ crd }, `the CRD is not installed, and the operator waits for it: ${APPLY_CRD}`);
      else logger.info({ crd }, 'the CRD is installed');
    },
  });
  return informer;
}
