import { IN_PROGRESS_REASONS } from '../../api/trafficweight/reasons.ts';
import { TRAFFIC_WEIGHTS, type TrafficWeight, type TrafficWeightSpec } from '../../api/trafficweight/trafficWeight.ts';
import { isEqual } from '../../runtime/apply/mergePatch.ts';
import { createInformer, withoutAnnotations, withoutManagedFields } from '../../runtime/cache/informer.ts';
import { createOverlay } from '../../runtime/cache/overlay.ts';
import type { InformerEvent, Lister } from '../../runtime/cache/store.ts';
import { findCondition, type Condition } from '../../runtime/controller/conditions.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import { optionalCachePart } from '../../runtime/manager/manager.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { Part } from '../../runtime/process/part.ts';
import { StatusWriter } from '../../runtime/status/statusWriter.ts';
import type { ControllerContext } from '../contract/context.ts';

/** Field manager of the controller's writes. */
export const FIELD_MANAGER = 'traffic-operator-trafficweight';

/** The TrafficWeights of a process, and the writers of their status and events. */
export interface WeightObjects {
  readonly lister: Pick<Lister<TrafficWeight>, 'get' | 'list'>;
  /** Calls `onEvent` for each existing TrafficWeight, and for each change. */
  subscribe(onEvent: (event: InformerEvent<TrafficWeight>) => void): void;
  readonly statuses: Pick<StatusWriter<TrafficWeight>, 'newest' | 'write' | 'forget'>;
  /** Records events about a TrafficWeight. */
  readonly events: Pick<EventRecorder, 'event'>;
  readonly parts: readonly Part[];
}

/** Creates access to the TrafficWeights of the API server. */
export function storedWeights({
  client,
  transport,
  events,
  metrics,
  clock,
  logger,
}: Pick<ControllerContext, 'client' | 'transport' | 'events' | 'metrics' | 'clock' | 'logger'>): WeightObjects {
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
