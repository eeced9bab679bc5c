import type { KubeObject } from '../../../runtime/client/resource.ts';
import { gatewayOf, routeOf, type Route, type RouteGateway } from '../../../weights/records/httpRoute.ts';
import { serviceKey } from '../../../weights/records/source.ts';
import { trimmed } from './trimmed.ts';

/** An HTTPRoute as the cache keeps it. */
export interface CachedRoute extends KubeObject {
  readonly route: Route;
}

/** A Gateway as the cache keeps it. */
export interface CachedGateway extends KubeObject {
  readonly gateway: RouteGateway;
}

/** Keeps of an HTTPRoute what its records need. */
export function toCachedRoute(object: KubeObject): CachedRoute {
  return { ...trimmed(object), route: routeOf(object) };
}

/** Keeps of a Gateway what the records of its routes need. */
export function toCachedGateway(object: KubeObject): CachedGateway {
  return { ...trimmed(object), gateway: gatewayOf(object) };
}

/** The Services of a route, as `namespace/name`. */
export function servicesOfRoute({ route: { source, services } }: CachedRoute): string[] {
  return services.map((service) => serviceKey(source.namespace, service));
}
