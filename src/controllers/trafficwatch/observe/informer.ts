import { APPLY_CRD } from '../../../api/installCrd.ts';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { createInformer, withoutManagedFields } from '../../../runtime/cache/informer.ts';
import type { Informer, InformerOptions } from '../../../runtime/cache/informer.ts';
import { logMissingCrd } from '../../../runtime/cache/missingCrd.ts';
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
  const resource = TRAFFIC_WATCHES;
  return createInformer<TrafficWatch>({
    ...options,
    resource,
    transform: withoutManagedFields,
    indexes: { [BY_LABEL_KEY]: claimedKeys },
    onRefusal: logMissingCrd({ resource, logger, waiting: 'the operator', advice: APPLY_CRD }),
  });
}
