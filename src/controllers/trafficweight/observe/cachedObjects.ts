import type { V1EndpointSlice, V1Ingress } from '@kubernetes/client-node';
import { identityOf } from '../../../runtime/cache/bodyBudget.ts';
import { APPLIED_HASH_ANNOTATION } from '../../../runtime/apply/apply.ts';
import { withoutManagedFields } from '../../../runtime/cache/informer.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { SERVICE_NAME_LABEL } from '../../../runtime/client/resources.ts';
import {
  gatewayOf,
  listenerSetOf,
  type RouteGateway,
  type RouteListenerSet,
} from '../../../weights/gateway/gateway.ts';
import { OWNER_LABEL, ownerOf } from '../../../weights/plan/plan.ts';
import { hasController, heirUidOf, sourceUidOf } from '../../../weights/records/dnsEndpoint.ts';
import type { DnsEndpoint, Endpoint } from '../../../weights/records/endpoint.ts';
import { routeOf, type Route } from '../../../weights/records/httpRoute.ts';
import { serviceKey, sourceOfIngress, targetsOf, type Source } from '../../../weights/records/source.ts';

/** Bytes that each host and each Service of a source takes in an index, in the plan, and in metrics. */
const BYTES_OF_NAME = 300;

/** Reduces an object to the fields by which a cache identifies it. */
export function trimmed({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, resourceVersion } = metadata ?? {};
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: { name, namespace, resourceVersion },
  };
}

/**
 * Keeps a DNSEndpoint that an Ingress or HTTPRoute controls or inherits, or that the operator wrote and that nothing controls any longer. Reduces any
 * other to its identity: the operator does not touch it, whatever it contains.
 */
export function toCachedEndpoint(endpoint: DnsEndpoint): DnsEndpoint {
  const isInherited = ownerOf(endpoint) !== undefined && heirUidOf(endpoint) !== undefined;
  return sourceUidOf(endpoint) === undefined && !isInherited && !isOrphan(endpoint)
    ? identityOf(endpoint)
    : withoutManagedFields(wellFormed(endpoint));
}

/** A DNSEndpoint without records that lack a field: some versions of its CRD accept any, and whoever may write it must not stop the others. */
function wellFormed(endpoint: DnsEndpoint): DnsEndpoint {
  const isText = (value: unknown): boolean => typeof value === 'string';
  const records = endpoint.spec?.endpoints?.filter(
    ({ dnsName, recordType, targets }: Partial<Endpoint>) =>
      isText(dnsName) && isText(recordType) && Array.isArray(targets) && targets.every(isText),
  );
  if (records === undefined || records.length === endpoint.spec?.endpoints?.length) return endpoint;
  return { ...endpoint, spec: { ...endpoint.spec, endpoints: records } };
}

/** Whether the operator wrote a DNSEndpoint whose source was deleted without it (`kubectl delete --cascade=orphan`). */
function isOrphan(endpoint: DnsEndpoint): boolean {
  const { annotations = {} } = endpoint.metadata ?? {};
  const isOurs = ownerOf(endpoint) !== undefined && annotations[APPLIED_HASH_ANNOTATION] !== undefined;
  return isOurs && !hasController(endpoint);
}

/** Characters of a real owner: 253 of its name, 36 of its uid, and its kind and API version. The API server takes any text. */
const LONGEST_OWNER = 350;

/** Reduces a DNSEndpoint whose body the cache drops to its identity, its source and its TrafficWeight. */
export function identityOfEndpoint(endpoint: DnsEndpoint): DnsEndpoint {
  const { metadata, ...rest } = identityOf(endpoint, [OWNER_LABEL]);
  const controller = endpoint.metadata?.ownerReferences?.find((owner) => owner.controller === true);
  const { apiVersion = '', kind = '', name = '', uid = '' } = controller ?? {};
  const isBounded = controller !== undefined && [apiVersion, kind, name, uid].join('').length <= LONGEST_OWNER;
  const ownerReferences = isBounded ? [{ apiVersion, kind, name, uid, controller: true }] : [];
  return { ...rest, metadata: { ...metadata, ownerReferences } };
}

/** The class of an Ingress before spec.ingressClassName: https://kubernetes.io/docs/concepts/services-networking/ingress/ */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** An Ingress as the cache keeps it: parsed once, and not in each reconcile. */
export interface CachedIngress extends KubeObject {
  readonly source: Source;
  /** Undefined without a class. */
  readonly className: string | undefined;
}

/** Keeps the fields of an Ingress that its records need. @param target a host name instead of its load balancer */
export function toCachedIngress(object: KubeObject, target?: string): CachedIngress {
  const ingress = object as V1Ingress;
  const source = sourceOfIngress(ingress);
  const { metadata, spec } = ingress;
  return {
    ...trimmed(object),
    source: target === undefined ? source : { ...source, targets: targetsOf([{ hostname: target }]) },
    className: spec?.ingressClassName ?? metadata?.annotations?.[CLASS_ANNOTATION],
  };
}

/** Reduces an Ingress whose body the cache drops to its identity. */
export function identityOfIngress(ingress: CachedIngress): CachedIngress {
  return { ...ingress, source: { ...ingress.source, annotations: {}, hosts: [], targets: [] }, className: undefined };
}

/** Returns the bytes that the names in an Ingress take besides their text. */
export function costOfIngress({ source: { hosts } }: CachedIngress): number {
  return BYTES_OF_NAME * hosts.reduce((names, { services }) => names + 1 + services.length, 0);
}

/** Returns the Services of all hosts of an Ingress, as `namespace/name`. */
export function servicesOf({ source: { namespace, hosts } }: CachedIngress): string[] {
  return hosts.flatMap(({ services }) => services.map((service) => serviceKey(namespace, service)));
}

/** An HTTPRoute as the cache keeps it. */
export interface CachedRoute extends KubeObject {
  readonly route: Route;
}

/** A Gateway as the cache keeps it. */
export interface CachedGateway extends KubeObject {
  readonly gateway: RouteGateway;
}

/** A ListenerSet as the cache keeps it. */
export interface CachedListenerSet extends KubeObject {
  readonly set: RouteListenerSet;
}

/** Keeps the fields of an HTTPRoute that its records need. */
export function toCachedRoute(object: KubeObject): CachedRoute {
  return { ...trimmed(object), route: routeOf(object) };
}

/** Reduces an HTTPRoute whose body the cache drops to its identity. */
export function identityOfRoute({ route, ...object }: CachedRoute): CachedRoute {
  const source = { ...route.source, annotations: {} };
  return { ...object, route: { ...route, source, hostnames: [], services: [], parents: [] } };
}

/** Keeps the fields of a Gateway that the records of its routes need. */
export function toCachedGateway(object: KubeObject): CachedGateway {
  return { ...trimmed(object), gateway: gatewayOf(object) };
}

/** Returns the bytes that the names in an HTTPRoute take besides their text. */
export function costOfRoute({ route: { hostnames, services } }: CachedRoute): number {
  return BYTES_OF_NAME * (hostnames.length + services.length);
}

/** Returns the bytes that the host names of the listeners of a Gateway take in an index, besides their text. */
export function costOfGateway({ gateway: { listeners } }: CachedGateway): number {
  return BYTES_OF_NAME * listeners.length;
}

/** Reduces a Gateway whose body the cache drops to its identity. */
export function identityOfGateway(gateway: CachedGateway): CachedGateway {
  const none = { listeners: [], addresses: [], allowedSets: { from: 'None' as const } };
  return { ...gateway, gateway: { className: undefined, createdAt: '', ...none } };
}

/** Keeps the fields of a ListenerSet that the records of its routes need. */
export function toCachedListenerSet(object: KubeObject): CachedListenerSet {
  return { ...trimmed(object), set: listenerSetOf(object) };
}

/** Returns the bytes that the host names of a ListenerSet take in an index, besides their text. */
export function costOfListenerSet({ set: { listeners } }: CachedListenerSet): number {
  return BYTES_OF_NAME * listeners.length;
}

/** Reduces a ListenerSet whose body the cache drops to its identity. */
export function identityOfListenerSet(cached: CachedListenerSet): CachedListenerSet {
  return { ...cached, set: { ...cached.set, gateway: '', listeners: [] } };
}

/** Returns the Services of a route, as `namespace/name`. */
export function servicesOfRoute({ route: { source, services } }: CachedRoute): string[] {
  return services.map((service) => serviceKey(source.namespace, service));
}

/** An EndpointSlice as the cache keeps it. */
export interface ReadySlice extends KubeObject {
  /** `namespace/name` of its Service; undefined if it belongs to none. */
  readonly service: string | undefined;
  /** Whether one of its endpoints is ready. */
  readonly isReady: boolean;
}

/**
 * Keeps the fields of an EndpointSlice that a weight needs. An endpoint of unknown readiness is ready: EndpointConditions.ready in
 * https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/.
 */
export function trimSlice(object: KubeObject): ReadySlice {
  const { metadata, endpoints } = object as V1EndpointSlice;
  const { namespace, labels } = metadata ?? {};
  const service = labels?.[SERVICE_NAME_LABEL];
  return {
    ...trimmed(object),
    service: service === undefined ? undefined : `${namespace}/${service}`,
    // The API server may leave out an empty list.
    isReady: ((endpoints as typeof endpoints | null) ?? []).some(({ conditions }) => conditions?.ready !== false),
  };
}
