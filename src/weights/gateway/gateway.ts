import { normal } from '../records/domain.ts';
import { createdAt, type LoadBalancerAddress } from '../records/source.ts';
import { isHttpRoute, type Gateway, type Listener, type ListenerSet, type NamespaceSelector } from './gatewayApi.ts';

/** The namespaces whose routes a listener takes, or whose ListenerSets a Gateway takes. */
export type AllowedNamespaces =
  | { readonly from: 'All' | 'None' }
  | { readonly from: 'Same'; readonly namespace: string }
  | { readonly from: 'Selector'; readonly selector: NamespaceSelector };

/** A listener that serves HTTP and takes HTTPRoutes. */
export interface RouteListener extends Pick<Listener, 'name' | 'hostname' | 'port'> {
  readonly allowed: AllowedNamespaces;
}

/** The parts of a Gateway that the records of its routes need. */
export interface RouteGateway {
  readonly className: string | undefined;
  /** RFC 3339. */
  readonly createdAt: string;
  /** The listeners that serve HTTP and take HTTPRoutes. */
  readonly listeners: readonly RouteListener[];
  readonly addresses: readonly LoadBalancerAddress[];
  /** The namespaces whose ListenerSets it takes. */
  readonly allowedSets: AllowedNamespaces;
}

/** The parts of a ListenerSet that the records of its routes need. */
export interface RouteListenerSet extends Pick<RouteGateway, 'createdAt' | 'listeners'> {
  readonly namespace: string;
  /** Its Gateway: `namespace/name`. */
  readonly gateway: string;
}

/** The listeners of a Gateway that a route asks for: all listeners if both fields are undefined. */
export interface ListenerReference {
  readonly sectionName: string | undefined;
  readonly port: number | undefined;
}

/** The namespace of a route or ListenerSet. */
export interface RouteNamespace {
  readonly name: string;
  /** Whether its labels match. */
  readonly matches: (selector: NamespaceSelector) => boolean;
}

/** Returns the parts of a Gateway that the records of its routes need. */
export function gatewayOf({ metadata, spec, status }: Gateway): RouteGateway {
  return {
    className: spec?.gatewayClassName,
    createdAt: createdAt(metadata?.creationTimestamp),
    listeners: routeListeners(spec?.listeners, metadata?.namespace),
    addresses: (status?.addresses ?? []).flatMap(({ type = 'IPAddress', value }): LoadBalancerAddress[] => {
      if (type === 'IPAddress') return [{ ip: value }];
      return type === 'Hostname' ? [{ hostname: value }] : [];
    }),
    allowedSets: allowedNamespaces({ from: 'None', ...spec?.allowedListeners?.namespaces }, metadata?.namespace ?? ''),
  };
}

/** Returns the parts of a ListenerSet that the records of its routes need. */
export function listenerSetOf({ metadata, spec }: ListenerSet): RouteListenerSet {
  const { namespace = '' } = metadata ?? {};
  const { namespace: of = namespace, name = '' } = spec?.parentRef ?? {};
  return {
    ...{ namespace, gateway: `${of}/${name}`, createdAt: createdAt(metadata?.creationTimestamp) },
    listeners: routeListeners(spec?.listeners, namespace),
  };
}

/** Returns a Gateway as the routes of a ListenerSet see it: without listeners if it does not take the ListenerSet. */
export function gatewayOfSet(
  set: RouteListenerSet,
  gateway: RouteGateway,
  matches: RouteNamespace['matches'],
): RouteGateway {
  const isTaken = isAllowed(gateway.allowedSets, { name: set.namespace, matches });
  const [created = ''] = [set.createdAt, gateway.createdAt].sort().reverse();
  return { ...gateway, createdAt: created, listeners: isTaken ? set.listeners : [] };
}

/** @param namespace of their Gateway or ListenerSet */
function routeListeners(listeners: readonly Listener[] = [], namespace = ''): RouteListener[] {
  return listeners
    .filter(({ protocol }) => protocol === 'HTTP' || protocol === 'HTTPS')
    .filter(({ allowedRoutes: { kinds = [] } = {} }) => kinds.length === 0 || kinds.some(isHttpRoute))
    .map(({ name, hostname, port, allowedRoutes }) => {
      const allowed = allowedNamespaces(allowedRoutes?.namespaces, namespace);
      return { name, port, allowed, ...(hostname !== undefined && { hostname }) };
    });
}

/** An unknown value of `from` takes no route, since its meaning may be narrow. A missing selector matches nothing. */
function allowedNamespaces(
  { from = 'Same', selector }: { from?: string; selector?: NamespaceSelector } = {},
  namespace: string,
): AllowedNamespaces {
  if (from === 'All') return { from };
  if (from === 'Same') return { from, namespace };
  return from === 'Selector' && selector !== undefined ? { from, selector } : { from: 'None' };
}

/**
 * Returns the listeners that take a route: see RouteNamespaces, and sectionName and port of ParentReference, in
 * https://gateway-api.sigs.k8s.io/reference/spec/.
 */
export function listenersFor(
  { listeners }: RouteGateway,
  { sectionName, port }: ListenerReference,
  namespace: RouteNamespace,
): RouteListener[] {
  return listeners.filter(
    (listener) =>
      (sectionName === undefined || listener.name === sectionName) &&
      (port === undefined || listener.port === port) &&
      isAllowed(listener.allowed, namespace),
  );
}

function isAllowed(allowed: AllowedNamespaces, { name, matches }: RouteNamespace): boolean {
  if (allowed.from === 'Selector') return matches(allowed.selector);
  return allowed.from === 'Same' ? allowed.namespace === name : allowed.from === 'All';
}

/**
 * Returns the host names that a route and a listener have in common: the narrower name of each pair that overlaps. See `hostnames` of
 * https://gateway-api.sigs.k8s.io/reference/spec/#httproutespec.
 *
 * @param listener undefined or empty: any
 */
export function commonHosts(hostnames: readonly string[], listener: string | undefined): string[] {
  if (listener === undefined || listener === '') return [...hostnames];
  const own = normal(listener);
  if (hostnames.length === 0) return [own];
  return hostnames.flatMap((host) => {
    if (covers(own, host)) return [host];
    return covers(host, own) ? [own] : [];
  });
}

/** Returns whether `outer` covers each name of `inner`. `*.` stands for one label or more. */
function covers(outer: string, inner: string): boolean {
  return outer === inner || (outer.startsWith('*.') && inner.replace(/^[*]/, '').endsWith(outer.slice(1)));
}
