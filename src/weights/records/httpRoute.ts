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
  /** Whether a Gateway has said anything about it. */
  readonly hasStatus: boolean;
  readonly parents: readonly AcceptedParent[];
}

/** Of a Gateway what the records of its routes need. */
export interface RouteGateway {
  readonly className: string | undefined;
  readonly listeners: readonly Pick<Listener, 'name' | 'hostname' | 'port'>[];
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
 * | a rule without backends, which does not redirect | leads nowhere: the Gateway answers 500            |
 * | a parent that has not accepted the route | none: it sends it no traffic                              |
 * | one with ResolvedRefs False            | leads nowhere: a backend is missing, or not permitted       |
 */
export function routeOf({ metadata, spec, status }: HttpRoute): Route {
  const namespace = metadata?.namespace ?? '';
  const rules = (spec?.rules ?? []).map(({ backendRefs = [], filters = [] }) => ({
    backends: backendRefs.filter(({ weight = 1 }) => weight > 0),
    redirects: filters.some(({ type }) => type === 'RequestRedirect'),
  }));
  const accepted = (status?.parents ?? []).filter(
    ({ parentRef, conditions }) => isToGateway(parentRef) && statusOf(conditions, 'Accepted') === 'True',
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
      rules.some(({ backends, redirects }) => backends.length === 0 && !redirects) ||
      accepted.some(({ conditions }) => statusOf(conditions, 'ResolvedRefs') === 'False'),
    hasStatus: (status?.parents ?? []).length > 0,
    parents: accepted.map(({ parentRef }) => parentOf(parentRef, namespace)),
  };
}

/** Reads a Gateway. */
export function gatewayOf({ spec, status }: Gateway): RouteGateway {
  return {
    className: spec?.gatewayClassName,
    listeners: (spec?.listeners ?? []).map(({ name, hostname, port }) => ({ name, hostname, port })),
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
    return gateway === undefined ? [] : [{ gateway, listeners: gateway.listeners.filter(isOf(parent)) }];
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

function isOf({ sectionName, port }: AcceptedParent): (listener: Pick<Listener, 'name' | 'port'>) => boolean {
  return (listener) =>
    (sectionName === undefined || listener.name === sectionName) && (port === undefined || listener.port === port);
}

function parentOf({ namespace, name, sectionName, port }: ParentReference, own: string): AcceptedParent {
  return { gateway: `${namespace ?? own}/${name}`, sectionName, port };
}

function serviceOf({ group = '', kind = 'Service', namespace, name }: BackendReference, own: string): string[] {
  if (group !== '' || kind !== 'Service') return [];
  return [namespace === undefined || namespace === own ? name : `${namespace}/${name}`];
}

function statusOf(conditions: readonly { type: string; status: string }[] = [], type: string): string | undefined {
  return conditions.find((condition) => condition.type === type)?.status;
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
