import { TRAFFIC_WEIGHTS, type TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import { createInformer, withoutManagedFields, type Informer } from '../../../runtime/cache/informer.ts';
import { isNotFound } from '../../../runtime/client/errors.ts';
import { resourceName, type KubeObject, type Resource } from '../../../runtime/client/resource.ts';
import { ENDPOINT_SLICES, INGRESSES, NAMESPACES } from '../../../runtime/client/resources.ts';
import { ownerOf } from '../../../weights/plan/plan.ts';
import { DNS_ENDPOINTS, type DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { ControllerContext } from '../../contract/context.ts';
import { servicesOf, toCachedIngress, type CachedIngress } from './cachedIngress.ts';
import { trimSlice, type ReadySlice } from './readySlice.ts';

export const BY_SERVICE = 'service';
export const BY_OWNER = 'owner';

/** The caches of the controller. */
export interface Caches {
  readonly weights: Informer<TrafficWeight>;
  readonly ingresses: Informer<CachedIngress>;
  readonly slices: Informer<ReadySlice>;
  readonly namespaces: Informer<KubeObject>;
  readonly endpoints: Informer<DnsEndpoint>;
}

/** Creates the caches. Indexes by Service have `namespace/name`. */
export function createCaches({ transport, logger, metrics }: ControllerContext): Caches {
  const common = { transport, logger, metrics: metrics.reflector };
  return {
    weights: createInformer({ ...common, resource: TRAFFIC_WEIGHTS, transform: withoutManagedFields }),
    ingresses: createInformer<CachedIngress>({
      ...common,
      resource: INGRESSES as Resource as Resource<CachedIngress>,
      transform: toCachedIngress,
      indexes: { [BY_SERVICE]: servicesOf },
    }),
    slices: createInformer<ReadySlice>({
      ...common,
      resource: ENDPOINT_SLICES as Resource as Resource<ReadySlice>,
      transform: trimSlice,
      indexes: { [BY_SERVICE]: ({ service }) => (service === undefined ? [] : [service]) },
    }),
    namespaces: createInformer<KubeObject>({
      ...common,
      resource: NAMESPACES,
      metadataOnly: true,
      transform: withoutManagedFields,
    }),
    endpoints: createInformer<DnsEndpoint>({
      ...common,
      resource: DNS_ENDPOINTS,
      transform: withoutManagedFields,
      indexes: { [BY_OWNER]: ownersOf },
    }),
  };
}

function ownersOf(endpoint: DnsEndpoint): string[] {
  const owner = ownerOf(endpoint);
  return owner === undefined ? [] : [owner];
}

/** What keeps the caches from being used: missing rights, or a kind that is not served. Undefined if nothing does. */
export function problemOf({ ingresses, slices, namespaces, endpoints }: Caches): string | undefined {
  for (const { resource, synced, refusal } of [endpoints, ingresses, slices, namespaces]) {
    const name = resourceName(resource);
    if (isNotFound(refusal)) return `the API server does not serve ${name}`;
    if (refusal !== undefined) return refusal.detail;
    if (!synced) return `${name} are not read yet`;
  }
  return undefined;
}
