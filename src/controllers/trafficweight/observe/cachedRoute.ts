import type { KubeObject } from '../../../runtime/client/resource.ts';
import { gatewayOf, type RouteGateway } from '../../../weights/gateway/gateway.ts';
import { routeOf, type Route } from '../../../weights/records/httpRoute.ts';
import { serviceKey } from '../../../weights/records/source.ts';
import { BYTES_OF_NAME, trimmed } from './trimmed.ts';

/** An HTTPRoute as the cache keeps it. */
export interface CachedRoute extends KubeObject {
  readonly route: Route;
}

/** A Gateway as the cache keeps it. */
export interface CachedGateway extends KubeObject {
  readonly gateway: RouteGateway;
}

/** Keeps the fields of an HTTPRoute that its records need. */
export function toCachedRoute(object: KubeObject): CachedRoute {
  return { ...trimmed(object), route: routeOf(object) };
}

/** Reduces an HTTPRoute whose body the cache drops to its identity. */
export function identityOfRoute({ route, ...object }: CachedRoute): CachedRoute {
  const source = { ...route.source, annotations: {} };
  return { ...object, route: { ...route, source, hostnames: [], services: [], parents: [], gateways: [] } };
}

/** Keeps the fields of a Gateway that the records of its routes need. */
export function toCachedGateway(object: KubeObject): CachedGateway {
  return { ...trimmed(object), gateway: gatewayOf(object) };
}

/** Returns the bytes that the names in an HTTPRoute take besides their text. */
export function costOfRoute({ route: { hostnames, services } }: CachedRoute): number {
  return BYTES_OF_NAME * (hostnames.length + services.length);
}

/** Reduces a Gateway whose body the cache drops to its identity. */
export function identityOfGateway(gateway: CachedGateway): CachedGateway {
  return { ...gateway, gateway: { className: undefined, listeners: [], addresses: [] } };
}

/** Returns the Services of a route, as `namespace/name`. */
export function servicesOfRoute({ route: { source, services } }: CachedRoute): string[] {
  return services.map((service) => serviceKey(source.namespace, service));
}
