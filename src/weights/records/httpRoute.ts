import { findCondition } from '../../runtime/controller/conditions.ts';
import { createdAt } from './age.ts';
import { normal } from './domain.ts';
import {
  isToGateway,
  type BackendReference,
  type Gateway,
  type HttpRoute,
  type Listener,
  type ParentReference,
} from './gatewayApi.ts';
import { HTTP_ROUTE, type Source } from './source.ts';
import { targetsOf, type LoadBalancerAddress } from './targets.ts';

/** A parent that has accepted a route. */
export interface AcceptedParent {
  /** `namespace/name` of the Gateway. */
  readonly gateway: string;
  readonly sectionName: string | undefined;
  readonly port: number | undefined;
}

/** Of an HTTPRoute what its records need, without its Gateways. */
export interface Route {
  readonly source: Omit<Source, 'hosts' | 'targets'>;
  /** Of the route; none: those of the listeners. */
  readonly hostnames: readonly string[];
  readonly services: readonly string[];
  readonly leadsNowhere: boolean;
  readonly parents: readonly AcceptedParent[];
  /** Whether a Gateway has said anything about it. */
  readonly hasStatus: boolean;
  /** `namespace/name` of all Gateways that it asks for. */
  readonly gateways: readonly string[];
}

/** A listener that serves HTTP. */
interface RouteListener extends Pick<Listener, 'name' | 'hostname' | 'port'> {
  /** The only namespace whose routes it takes; undefined if there are others. */
  readonly onlyNamespace: string | undefined;
}

/** Of a Gateway what the records of its routes need. */
export interface RouteGateway {
  readonly className: string | undefined;
  /** Those that serve HTTP. */
  readonly listeners: readonly RouteListener[];
  readonly addresses: readonly LoadBalancerAddress[];
}

/**
 * Reads an HTTPRoute.
 *
 * | backend, parent                        | counts as                                                   |
 * |----------------------------------------|-------------------------------------------------------------|
 * | a Service with a weight above 0        | one that must be ready                                      |
 * | a backend with the weight 0            | none: it gets no traffic                                    |
 * | another kind                           | ready: its readiness is not known                           |
 * | a rule without backends, which neither redirects nor has an extension | leads nowhere: the Gateway answers 500 |
 * | a parent that has not accepted the route | none: it sends it no traffic                              |
 * | one with ResolvedRefs False            | leads nowhere: a backend is missing, or not permitted       |
 */
export function routeOf({ metadata, spec, status }: HttpRoute): Route {
  const namespace = metadata?.namespace ?? '';
  const rules = (spec?.rules ?? []).map(({ backendRefs = [], filters = [] }) => ({
    backends: backendRefs.filter(({ weight = 1 }) => weight > 0),
    answers: filters.some(({ type }) => type === 'RequestRedirect' || type === 'ExtensionRef'),
  }));
  const asked = (spec?.parentRefs ?? []).filter(isToGateway).map((reference) => parentOf(reference, namespace));
  const parents = (status?.parents ?? []).filter(({ parentRef }) => isToGateway(parentRef));
  // The status may still tell of a parent that the route does not have any more.
  const accepted = parents.filter(
    ({ parentRef, conditions }) =>
      findCondition(conditions, 'Accepted')?.status === 'True' &&
      asked.some((one) => isSame(one, parentOf(parentRef, namespace))),
  );
  return {
    source: {
      kind: HTTP_ROUTE,
      apiVersion: 'gateway.networking.k8s.io/v1',
      ...{ namespace, name: metadata?.name ?? '', uid: metadata?.uid ?? '' },
      createdAt: createdAt(metadata?.creationTimestamp),
      annotations: metadata?.annotations ?? {},
    },
    hostnames: distinct((spec?.hostnames ?? []).map(normal)),
    services: distinct(rules.flatMap(({ backends }) => backends.flatMap((each) => serviceOf(each, namespace)))),
    leadsNowhere:
      rules.some(({ backends, answers }) => backends.length === 0 && !answers) ||
      accepted.some(({ conditions }) => findCondition(conditions, 'ResolvedRefs')?.status === 'False'),
    parents: accepted.map(({ parentRef }) => parentOf(parentRef, namespace)),
    hasStatus: parents.length > 0,
    gateways: distinct(asked.map(({ gateway }) => gateway)),
  };
}

/** Reads a Gateway. */
export function gatewayOf({ metadata, spec, status }: Gateway): RouteGateway {
  return {
    className: spec?.gatewayClassName,
    listeners: (spec?.listeners ?? [])
      .filter(({ protocol }) => protocol === 'HTTP' || protocol === 'HTTPS')
      .map(({ name, hostname, port, allowedRoutes }) => {
        const from = allowedRoutes?.namespaces?.from ?? 'Same';
        return { name, hostname, port, onlyNamespace: from === 'Same' ? metadata?.namespace : undefined };
      }),
    addresses: (status?.addresses ?? []).flatMap(({ type = 'IPAddress', value }): LoadBalancerAddress[] => {
      if (type === 'IPAddress') return [{ ip: value }];
      return type === 'Hostname' ? [{ hostname: value }] : [];
    }),
  };
}

/**
 * An HTTPRoute as a source, by the Gateways that have accepted it. Its hosts are those that the route and a listener have in
 * common; the addresses are those of all these Gateways.
 *
 * @param gateways by `namespace/name`; undefined for one that is not known, or does not count
 */
export function sourceOfRoute(route: Route, gateways: (key: string) => RouteGateway | undefined): Source {
  const { source, hostnames, services, leadsNowhere, parents } = route;
  const attached = parents.flatMap((parent) => {
    const gateway = gateways(parent.gateway);
    return gateway === undefined
      ? []
      : [{ gateway, listeners: gateway.listeners.filter(isOf(parent, source.namespace)) }];
  });
  const hosts = distinct(
    attached.flatMap(({ listeners }) => listeners.flatMap(({ hostname }) => commonHosts(hostnames, hostname))),
  );
  const addresses = attached
    .filter(({ listeners }) => listeners.length > 0)
    .flatMap(({ gateway }) => gateway.addresses);
  return {
    ...source,
    hosts: hosts.map((host) => ({ host, services, leadsNowhere })),
    targets: targetsOf(addresses),
  };
}

/**
 * Whether the hosts and addresses of a route are known. While they are not, its records stay as they are: a Gateway that is made anew
 * must not take its hosts off the DNS.
 *
 * | the route                                                | known |
 * |----------------------------------------------------------|-------|
 * | has no status yet                                        | no    |
 * | was accepted by a Gateway that is missing                | no    |
 * | was accepted by none, and a Gateway of it is missing     | no    |
 * | else                                                     | yes   |
 */
export function isKnown({ hasStatus, parents, gateways }: Route, has: (gateway: string) => boolean): boolean {
  const needed = parents.length > 0 ? parents.map(({ gateway }) => gateway) : gateways;
  return hasStatus && needed.every(has);
}

/**
 * The host names that a route and a listener have in common: the narrower one of each two that overlap. See `hostnames` of
 * https://gateway-api.sigs.k8s.io/reference/spec/#httproutespec.
 *
 * @param listener undefined or empty: any
 */
function commonHosts(hostnames: readonly string[], listener: string | undefined): string[] {
  if (listener === undefined || listener === '') return [...hostnames];
  const own = normal(listener);
  if (hostnames.length === 0) return [own];
  return hostnames.flatMap((host) => {
    if (covers(own, host)) return [host];
    return covers(host, own) ? [own] : [];
  });
}

/** Whether each name of `inner` is one of `outer`. `*.` stands for one label or more. */
function covers(outer: string, inner: string): boolean {
  return outer === inner || (outer.startsWith('*.') && inner.replace(/^[*]/, '').endsWith(outer.slice(1)));
}

function isOf({ sectionName, port }: AcceptedParent, namespace: string): (listener: RouteListener) => boolean {
  return (listener) =>
    (sectionName === undefined || listener.name === sectionName) &&
    (port === undefined || listener.port === port) &&
    (listener.onlyNamespace === undefined || listener.onlyNamespace === namespace);
}

function isSame(a: AcceptedParent, b: AcceptedParent): boolean {
  return a.gateway === b.gateway && a.sectionName === b.sectionName && a.port === b.port;
}

function parentOf({ namespace, name, sectionName, port }: ParentReference, own: string): AcceptedParent {
  return { gateway: `${namespace ?? own}/${name}`, sectionName, port };
}

function serviceOf({ group = '', kind = 'Service', namespace, name }: BackendReference, own: string): string[] {
  if (group !== '' || kind !== 'Service') return [];
  return [namespace === undefined || namespace === own ? name : `${namespace}/${name}`];
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
