import { TRAFFIC_WEIGHTS, type TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import { createInformer, withoutAnnotations, withoutManagedFields } from '../../../runtime/cache/informer.ts';
import { createOverlay } from '../../../runtime/cache/overlay.ts';
import { optionalCachePart } from '../../../runtime/manager/manager.ts';
import { StatusWriter } from '../../../runtime/status/statusWriter.ts';
import { FIELD_MANAGER } from '../names.ts';
import type { WeightContext } from '../context.ts';
import type { WeightObjects } from './weightObjects.ts';

/** Creates access to the TrafficWeights of the API server. */
export function storedWeights({ client, transport, events, metrics, clock, logger }: WeightContext): WeightObjects {
  const cache = createInformer<TrafficWeight>({
    ...{ transport, logger, metrics: metrics.reflector },
    resource: TRAFFIC_WEIGHTS,
    transform: (weight) => withoutAnnotations(withoutManagedFields(weight)),
  });
  const objects = createOverlay(cache, { clock });
  return {
    lister: cache.lister,
    subscribe: (onEvent) => cache.subscribe(onEvent),
    statuses: new StatusWriter({ client, resource: TRAFFIC_WEIGHTS, fieldManager: FIELD_MANAGER, objects }),
    events,
    parts: [optionalCachePart(cache)],
  };
}
