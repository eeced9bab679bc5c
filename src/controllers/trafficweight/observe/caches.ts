import { BodyBudget, createBoundedInformer, SMALL_PAGE } from '../../../runtime/cache/bodyBudget.ts';
import { createInformer, type Informer, type InformerOptions } from '../../../runtime/cache/informer.ts';
import { isForbidden, isNotFound } from '../../../runtime/client/errors.ts';
import { keyOf, resourceName, type KubeObject, type Resource } from '../../../runtime/client/resource.ts';
import { ENDPOINT_SLICES, INGRESSES, NAMESPACES } from '../../../runtime/client/resources.ts';
import { ownerOf } from '../../../weights/plan/plan.ts';
import { DNS_ENDPOINTS, type DnsEndpoint } from '../../../weights/records/endpoint.ts';
import { GATEWAYS, HTTP_ROUTES, LISTENER_SETS } from '../../../weights/gateway/gatewayApi.ts';
import type { ControllerContext } from '../../contract/context.ts';
import {
  costOfGateway,
  costOfIngress,
  costOfListenerSet,
  costOfRoute,
  identityOfEndpoint,
  identityOfGateway,
  identityOfIngress,
  identityOfListenerSet,
  identityOfRoute,
  servicesOf,
  servicesOfRoute,
  toCachedEndpoint,
  toCachedGateway,
  toCachedIngress,
  toCachedListenerSet,
  toCachedRoute,
  trimmed,
  trimSlice,
  type CachedGateway,
  type CachedIngress,
  type CachedListenerSet,
  type CachedRoute,
  type ReadySlice,
} from './cachedObjects.ts';

export const BY_SERVICE = 'service';
export const BY_OWNER = 'owner';
/** Bytes of the labels of one namespace. Namespaces with more are in no selection: 100 labels take 10 KB. */
const LABEL_BYTES = 64 * 1024;

/** The caches of the controller. */
export interface Caches {
  readonly ingresses: Informer<CachedIngress>;
  readonly slices: Informer<ReadySlice>;
  /** Undefined if nothing selects by namespaces. */
  readonly namespaces: Informer<KubeObject> | undefined;
  readonly endpoints: Informer<DnsEndpoint>;
  /** Undefined if only Ingresses are read. */
  readonly gatewayApi: GatewayCaches | undefined;
}

/** The caches of the Gateway API, which a cluster need not have. */
export interface GatewayCaches {
  readonly routes: Informer<CachedRoute>;
  readonly gateways: Informer<CachedGateway>;
  readonly listenerSets: Informer<CachedListenerSet>;
}

/** The options that decide which objects are read, and how. */
export interface CacheOptions {
  /** Whether TrafficWeights, or listeners, may select by the labels of namespaces. Needed for HTTPRoutes. */
  readonly withNamespaces: boolean;
  /** Whether HTTPRoutes have records. */
  readonly withRoutes: boolean;
  /** A host name instead of the load balancers. */
  readonly target?: string | undefined;
}

/**
 * Creates the caches. Indexes by Service have keys `namespace/name`. Users can create many large objects of most kinds: the caches
 * keep their bodies only within a memory budget for each namespace.
 */
export function createCaches(
  { transport, logger, metrics }: Pick<ControllerContext, 'transport' | 'logger' | 'metrics'>,
  { withNamespaces, withRoutes, target }: CacheOptions,
): Caches {
  const common = { transport, logger, metrics: metrics.reflector };
  return {
    ingresses: createBoundedInformer<CachedIngress>(
      {
        ...common,
        resource: INGRESSES as Resource as Resource<CachedIngress>,
        transform: (ingress) => toCachedIngress(ingress, target),
        indexes: { [BY_SERVICE]: servicesOf },
      },
      identityOfIngress,
      { costOf: costOfIngress },
    ),
    slices: createInformer<ReadySlice>({
      ...common,
      resource: ENDPOINT_SLICES as Resource as Resource<ReadySlice>,
      transform: trimSlice,
      indexes: { [BY_SERVICE]: ({ service }) => (service === undefined ? [] : [service]) },
      pageSize: SMALL_PAGE,
    }),
    namespaces: withNamespaces
      ? createBoundedInformer<KubeObject>(
          { ...common, resource: NAMESPACES, metadataOnly: true, transform: withLabels },
          trimmed,
          { budget: new BodyBudget(LABEL_BYTES, keyOf) },
        )
      : undefined,
    endpoints: createBoundedInformer<DnsEndpoint>(
      { ...common, resource: DNS_ENDPOINTS, transform: toCachedEndpoint, indexes: { [BY_OWNER]: ownersOf } },
      identityOfEndpoint,
    ),
    gatewayApi: withRoutes ? gatewayCaches(common) : undefined,
  };
}

/** Keeps of a namespace its labels, by which TrafficWeights and listeners select. */
function withLabels(namespace: KubeObject): KubeObject {
  const { metadata, ...identity } = trimmed(namespace);
  const labels = namespace.metadata?.labels;
  return { ...identity, metadata: { ...metadata, ...(labels !== undefined && { labels }) } };
}

function gatewayCaches(common: Pick<InformerOptions<KubeObject>, 'transport' | 'logger' | 'metrics'>): GatewayCaches {
  return {
    routes: createBoundedInformer<CachedRoute>(
      {
        ...common,
        resource: HTTP_ROUTES as Resource as Resource<CachedRoute>,
        transform: toCachedRoute,
        indexes: { [BY_SERVICE]: servicesOfRoute },
      },
      identityOfRoute,
      { costOf: costOfRoute },
    ),
    gateways: createBoundedInformer<CachedGateway>(
      { ...common, resource: GATEWAYS as Resource as Resource<CachedGateway>, transform: toCachedGateway },
      identityOfGateway,
      { costOf: costOfGateway },
    ),
    listenerSets: createBoundedInformer<CachedListenerSet>(
      {
        ...common,
        resource: LISTENER_SETS as Resource as Resource<CachedListenerSet>,
        transform: toCachedListenerSet,
      },
      identityOfListenerSet,
      { costOf: costOfListenerSet },
    ),
  };
}

function ownersOf(endpoint: DnsEndpoint): string[] {
  const owner = ownerOf(endpoint);
  return owner === undefined ? [] : [owner];
}

/**
 * Returns why the caches cannot be used: missing rights, or a kind that is not served. Undefined if they can. A missing
 * Gateway API is not a problem: such a cluster has no HTTPRoutes. Neither is a missing right to ListenerSets, see unreadSets().
 */
export function problemOf({ ingresses, slices, namespaces, endpoints, gatewayApi }: Caches): string | undefined {
  const optional: (Pick<Informer<KubeObject>, 'resource' | 'synced' | 'refusal'> | undefined)[] = [
    gatewayApi?.gateways,
    gatewayApi?.listenerSets,
    gatewayApi?.routes,
  ];
  for (const cache of [endpoints, ingresses, slices, namespaces, ...optional]) {
    if (cache === undefined) continue;
    const { resource, synced, refusal } = cache;
    const name = resourceName(resource);
    if (isNotFound(refusal) && optional.includes(cache)) continue;
    if (cache === gatewayApi?.listenerSets && unreadSets(cache) !== undefined) continue;
    if (isNotFound(refusal)) return `the API server does not serve ${name}`;
    if (refusal !== undefined) return refusal.detail;
    if (!synced) return `${name} are not read yet`;
  }
  return undefined;
}

/**
 * Returns why ListenerSets cannot be read, if the right is missing: rights that were granted for an older version lack it, also in a cluster
 * without the kind. Routes to ListenerSets are then open; all others need no ListenerSet.
 */
export function unreadSets({ refusal }: Pick<Informer<CachedListenerSet>, 'refusal'>): string | undefined {
  return isForbidden(refusal) ? refusal.detail : undefined;
}
