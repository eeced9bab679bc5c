import { isDeepStrictEqual } from 'node:util';
import type { InformerEvent } from '../../../runtime/cache/store.ts';
import { type KubeObject, sameSpec } from '../../../runtime/client/resource.ts';
import type { ReadySlice } from './readySlice.ts';

/**
 * Whether a change of a TrafficWeight needs a reconcile. The operator's own status writes do not: after a failed write, each
 * of them would start the next attempt at once, without the backoff.
 */
export function needsReconcile(event: InformerEvent<KubeObject>): boolean {
  if (event.type !== 'update' || !sameSpec(event.old, event.object)) return true;
  return event.old?.metadata?.deletionTimestamp !== event.object.metadata?.deletionTimestamp;
}

/** Whether a change of a namespace may change which selectors match it. */
export function hasNewLabels(event: InformerEvent<KubeObject>): boolean {
  if (event.type !== 'update') return true;
  return !isDeepStrictEqual(event.old?.metadata?.labels ?? {}, event.object.metadata?.labels ?? {});
}

/** Returns the Services whose readiness a change of an EndpointSlice may change, as `namespace/name`. */
export function servicesWithNews(event: InformerEvent<ReadySlice>): string[] {
  const { object } = event;
  const old = event.type === 'update' ? event.old : undefined;
  if (old !== undefined && old.service === object.service && old.isReady === object.isReady) return [];
  return [...new Set([object.service, old?.service])].filter((service) => service !== undefined);
}
