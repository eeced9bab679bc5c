import { IN_PROGRESS_REASONS } from '../../../api/trafficweight/reasons.ts';
import type { TrafficWeight, TrafficWeightSpec } from '../../../api/trafficweight/trafficWeight.ts';
import { isEqual } from '../../../runtime/apply/mergePatch.ts';
import { findCondition, type Condition } from '../../../runtime/controller/conditions.ts';
import type { Logger } from '../../../runtime/process/logger.ts';
import type { WeightObjects } from './weightObjects.ts';

/**
 * Creates one TrafficWeight that no API server has, for a process that gets its spec from flags. Its status is in memory, so
 * the log reports each change of its conditions.
 *
 * @param name the name in its DNSEndpoints and metrics
 */
export function fixedWeight(name: string, spec: TrafficWeightSpec, logger: Logger): WeightObjects {
  let weight: TrafficWeight = { metadata: { name }, spec };
  const get = (key: string): TrafficWeight | undefined => (key === name ? weight : undefined);
  return {
    lister: { get, list: () => [weight] },
    // It never changes.
    subscribe: (onEvent) => onEvent({ type: 'add', object: weight }),
    statuses: {
      newest: get,
      write(about, status) {
        if (isEqual(about.status, status)) return Promise.resolve(false);
        logChanges(logger, about.status?.conditions, status.conditions);
        weight = { ...weight, status };
        return Promise.resolve(true);
      },
      forget: () => undefined,
    },
    // The logged conditions say the same.
    events: { event: () => undefined },
    parts: [],
  };
}

function logChanges(logger: Logger, before: Condition[] | undefined, after: Condition[] = []): void {
  for (const { type, status, reason, message } of after) {
    const was = findCondition(before, type);
    if (was?.status === status && was.reason === reason) continue;
    const isFine = status === 'True' || IN_PROGRESS_REASONS.has(reason);
    logger[isFine ? 'info' : 'warn']({ condition: type, status, reason }, message);
  }
}
