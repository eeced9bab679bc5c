import { IN_PROGRESS_REASONS } from '../../api/trafficweight/reasons.ts';
import { TRAFFIC_WEIGHTS, type TrafficWeight, type TrafficWeightSpec } from '../../api/trafficweight/trafficWeight.ts';
import { isEqual } from '../../runtime/apply/mergePatch.ts';
import { BodyBudget, createBoundedInformer, identityOf, reportedFields } from '../../runtime/cache/bodyBudget.ts';
import { shareOfHeap } from '../../runtime/cache/fairShare.ts';
import { withoutAnnotations, withoutManagedFields } from '../../runtime/cache/informer.ts';
import { keyOf } from '../../runtime/client/resource.ts';
import { createOverlay } from '../../runtime/cache/overlay.ts';
import type { InformerEvent, Lister } from '../../runtime/cache/store.ts';
import { findCondition, type Condition } from '../../runtime/controller/conditions.ts';
import type { EventRecorder } from '../../runtime/controller/events.ts';
import { ANY_REMOVAL } from '../../weights/plan/removal.ts';
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

/** Part of the heap for the bodies of all TrafficWeights. */
const PART_OF_HEAP = 1 / 16;
/** Characters of `spec.clusterName` in the CRD. */
const LONGEST_CLUSTER_NAME = 128;

/**
 * Returns what the cache keeps of a TrafficWeight whose body it drops, in a bounded size. Its spec is invalid, except for the name of the
 * cluster: so it keeps its records, as any TrafficWeight with an invalid spec.
 */
export function identityOfWeight(weight: TrafficWeight): TrafficWeight {
  // An older CRD may have accepted anything.
  const { clusterName } = (weight.spec as Partial<TrafficWeightSpec> | undefined) ?? {};
  const isKept = typeof clusterName === 'string' && clusterName.length <= LONGEST_CLUSTER_NAME;
  const spec = isKept ? { clusterName } : {};
  const status = reportedFields(weight.status, ['conditions', 'observedGeneration']);
  return { ...identityOf(weight), spec: spec as TrafficWeightSpec, ...(status !== undefined && { status }) };
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
  const transform = (weight: TrafficWeight): TrafficWeight => withoutAnnotations(withoutManagedFields(weight));
  const cache = createBoundedInformer<TrafficWeight>(
    { ...{ transport, logger, metrics: metrics.reflector }, resource: TRAFFIC_WEIGHTS, transform },
    identityOfWeight,
    { budget: new BodyBudget(Infinity, keyOf), share: shareOfHeap(PART_OF_HEAP) },
  );
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
  // A process with another selection has another name, and so no records that it would remove.
  let weight: TrafficWeight = { metadata: { name }, spec: { ...spec, allowRemoval: ANY_REMOVAL } };
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
