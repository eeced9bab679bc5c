import type { V1Ingress } from '@kubernetes/client-node';
import { TRAFFIC_WEIGHTS, type TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import { createInformer, withoutManagedFields, type Informer } from '../../../runtime/cache/informer.ts';
import type { Resource } from '../../../runtime/client/resource.ts';
import { ENDPOINT_SLICES, INGRESSES, NAMESPACES } from '../../../runtime/client/resources.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { OWNER_LABEL } from '../../../weights/plan/plan.ts';
import { DNS_ENDPOINTS, type DnsEndpoint } from '../../../weights/records/endpoint.ts';
import { sourceOfIngress } from '../../../weights/records/source.ts';
import type { ControllerContext } from '../../contract/context.ts';
import { trimSlice, type ReadySlice } from './readySlice.ts';

export const BY_SERVICE = 'service';
export const BY_OWNER = 'owner';

/** The caches of the controller. */
export interface Caches {
  readonly weights: Informer<TrafficWeight>;
  readonly ingresses: Informer<V1Ingress>;
  readonly slices: Informer<ReadySlice>;
  readonly namespaces: Informer<KubeObject>;
  readonly endpoints: Informer<DnsEndpoint>;
}

/** Creates the caches. Indexes by Service have `namespace/name`. */
export function createCaches({ transport, logger, metrics }: ControllerContext): Caches {
  const common = { transport, logger, metrics: metrics.reflector };
  return {
    weights: createInformer({ ...common, resource: TRAFFIC_WEIGHTS, transform: withoutManagedFields }),
    ingresses: createInformer({
      ...common,
      resource: INGRESSES,
      transform: withoutManagedFields,
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

function servicesOf(ingress: V1Ingress): string[] {
  const { namespace, hosts } = sourceOfIngress(ingress);
  return hosts.flatMap(({ services }) => services.map((service) => `${namespace}/${service}`));
}

function ownersOf({ metadata }: DnsEndpoint): string[] {
  const owner = metadata?.labels?.[OWNER_LABEL];
  return owner === undefined ? [] : [owner];
}

/** What keeps the caches from being used: missing rights, or a kind that is not served. Undefined if nothing does. */
export function problemOf({ ingresses, slices, namespaces, endpoints }: Caches): string | undefined {
  for (const { resource, synced, refusal } of [endpoints, ingresses, slices, namespaces]) {
    const name = `${resource.plural}${resource.group === '' ? '' : `.${resource.group}`}`;
    if (refusal?.status === 404) return `the API server does not serve ${name}`;
    if (refusal !== undefined) return refusal.detail;
    if (!synced) return `${name} are not read yet`;
  }
  return undefined;
}
