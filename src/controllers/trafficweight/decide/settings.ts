import { DEFAULT_ANNOTATION_PREFIX } from '../../../api/trafficweight/terms.ts';
import type { TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import type { WeightSettings } from '../../../weights/records/records.ts';

/** Returns the settings that a spec gives its records. @param clusterWeight from its backend, 0 to 255 */
export function settingsOf(spec: TrafficWeightSpec, clusterWeight: number): WeightSettings {
  return {
    clusterName: spec.clusterName,
    bindingDomain: spec.bindingDomain ?? '',
    annotationPrefix: spec.annotationPrefix ?? DEFAULT_ANNOTATION_PREFIX,
    healthCheckId: spec.healthCheckID,
    recordTtl: spec.recordTTL,
    clusterWeight,
  };
}
