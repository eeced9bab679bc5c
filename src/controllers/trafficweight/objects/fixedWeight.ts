import type { TrafficWeight, TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import { isEqual } from '../../../runtime/apply/mergePatch.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import type { WeightObjects } from './weightObjects.ts';

/**
 * One TrafficWeight that no API server has, for a process that has its spec from flags. Its status is in memory, and what
 * happens to it is logged.
 *
 * @param name that its DNSEndpoints and metrics have
 */
export function fixedWeight(name: string, spec: TrafficWeightSpec, logger: Logger): WeightObjects {
  let weight: TrafficWeight = { metadata: { name, generation: 1 }, spec };
  const get = (key: string): TrafficWeight | undefined => (key === name ? weight : undefined);
  return {
    lister: { get, list: () => [weight] },
    // It never changes.
    subscribe: (onEvent) => onEvent({ type: 'add', object: weight }),
    statuses: {
      newest: get,
      write(about, status) {
        if (isEqual(about.status, status)) return Promise.resolve(false);
        weight = { ...weight, status };
        return Promise.resolve(true);
      },
      forget: () => undefined,
    },
    events: {
      event: (_about, type, reason, note) => logger[type === 'Warning' ? 'warn' : 'info']({ reason }, note),
    },
    parts: [],
  };
}
