import { createdAt, type LoadBalancerAddress } from '../records/source.ts';
import { HostNames } from './hostNames.ts';
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
 * The listeners of a Gateway or ListenerSet that take the routes of one namespace. The routes of a namespace share it: going through all listeners
 * for each parent of each route would take the product of their numbers, which users choose.
 */
export class TakenListeners {
  readonly #all: HostNames | undefined;
  readonly #byName: ReadonlyMap<string, readonly RouteListener[]>;
  readonly #byPort: ReadonlyMap<number, HostNames | undefined>;

  constructor({ listeners }: Pick<RouteGateway, 'listeners'>, namespace: RouteNamespace) {
    const taken = listeners.filter(({ allowed }) => isAllowed(allowed, namespace));
    this.#all = hostsOf(taken);
    this.#byName = Map.groupBy(taken, ({ name }) => name);
    this.#byPort = new Map([...Map.groupBy(taken, ({ port }) => port)].map(([port, each]) => [port, hostsOf(each)]));
  }

  /**
   * Returns the hosts of the listeners that a parent of a route asks for; undefined if none takes the route. See RouteNamespaces, and sectionName
   * and port of ParentReference, in https://gateway-api.sigs.k8s.io/reference/spec/.
   */
  hostsFor({ sectionName, port }: ListenerReference): HostNames | undefined {
    if (sectionName === undefined) return port === undefined ? this.#all : this.#byPort.get(port);
    const named = this.#byName.get(sectionName) ?? [];
    return hostsOf(named.filter((listener) => port === undefined || listener.port === port));
  }
}

function hostsOf(listeners: readonly RouteListener[]): HostNames | undefined {
  return listeners.length === 0 ? undefined : new HostNames(listeners.map(({ hostname }) => hostname));
}

function isAllowed(allowed: AllowedNamespaces, { name, matches }: RouteNamespace): boolean {
  if (allowed.from === 'Selector') return matches(allowed.selector);
  return allowed.from === 'Same' ? allowed.namespace === name : allowed.from === 'All';
}
