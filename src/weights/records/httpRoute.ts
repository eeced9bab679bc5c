import { findCondition } from '../../runtime/controller/conditions.ts';
import { normal } from './domain.ts';
import {
  commonHosts,
  listenersFor,
  type ListenerReference,
  type RouteGateway,
  type RouteNamespace,
} from '../gateway/gateway.ts';
import { isToGateway, type BackendReference, type HttpRoute, type ParentReference } from '../gateway/gatewayApi.ts';
import { targetsOf, createdAt, HTTP_ROUTE, type Source } from './source.ts';

/** A parent that has accepted a route. */
export interface AcceptedParent extends ListenerReference {
  /** `namespace/name` of the Gateway. */
  readonly gateway: string;
}

/** The parts of an HTTPRoute that its records need, without its Gateways. */
export interface Route {
  readonly source: Omit<Source, 'hosts' | 'targets'>;
  /** Host names of the route. Empty: the host names of the listeners count. */
  readonly hostnames: readonly string[];
  readonly services: readonly string[];
  readonly leadsNowhere: boolean;
  readonly parents: readonly AcceptedParent[];
  /** Whether the status names a Gateway. */
  readonly hasStatus: boolean;
  /** `namespace/name` of all Gateways in spec.parentRefs. */
  readonly gateways: readonly string[];
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
 * | a backend of another namespace, and a parent without ResolvedRefs True | leads nowhere: whether a ReferenceGrant permits it is not read |
 * | a name that no Service can have        | leads nowhere                                               |
 */
export function routeOf({ metadata, spec, status }: HttpRoute): Route {
  const namespace = metadata?.namespace ?? '';
  const rules = (spec?.rules ?? []).map(({ backendRefs = [], filters = [] }) => ({
    backends: backendRefs.filter(({ weight = 1 }) => weight > 0),
    answers: filters.some(({ type }) => type === 'RequestRedirect' || type === 'ExtensionRef'),
  }));
  const asked = (spec?.parentRefs ?? []).filter(isToGateway).map((reference) => parentOf(reference, namespace));
  const parents = (status?.parents ?? []).filter(({ parentRef }) => isToGateway(parentRef));
  const accepted = acceptedBy(parents, asked, namespace);
  const backends = rules.flatMap((rule) => rule.backends);
  return {
    source: {
      kind: HTTP_ROUTE,
      apiVersion: 'gateway.networking.k8s.io/v1',
      ...{ namespace, name: metadata?.name ?? '', uid: metadata?.uid ?? '' },
      createdAt: createdAt(metadata?.creationTimestamp),
      annotations: metadata?.annotations ?? {},
    },
    hostnames: distinct((spec?.hostnames ?? []).map(normal)),
    services: distinct(backends.flatMap((each) => serviceOf(each, namespace))),
    leadsNowhere:
      rules.some((rule) => rule.backends.length === 0 && !rule.answers) ||
      backends.some(({ name }) => name.includes('/')) ||
      !accepted.every(resolves(backends.some((each) => (each.namespace ?? namespace) !== namespace))),
    parents: accepted.map(({ parentRef }) => parentOf(parentRef, namespace)),
    hasStatus: parents.length > 0,
    gateways: distinct(asked.map(({ gateway }) => gateway)),
  };
}

/** An HTTPRoute as a source. */
export interface RouteSource {
  readonly source: Source;
  /** The classes of the Gateways that take it. */
  readonly classNames: readonly string[];
}

/**
 * Returns an HTTPRoute as a source. Its hosts are the host names that the route and a listener of an accepting Gateway have in
 * common; its targets are the addresses of all these Gateways. The listeners must also take the route: the status alone proves
 * nothing, because whoever may write it can claim that a Gateway has accepted the route.
 *
 * @param gateways by `namespace/name`; undefined for one that is not known, or does not count
 * @param matches whether the labels of the route's namespace match; false while they are not known
 */
export function sourceOfRoute(
  route: Route,
  gateways: (key: string) => RouteGateway | undefined,
  matches: RouteNamespace['matches'],
): RouteSource {
  const { source, hostnames, services, leadsNowhere, parents } = route;
  const namespace = { name: source.namespace, matches };
  const attached = parents.flatMap((parent) => {
    const gateway = gateways(parent.gateway);
    const listeners = gateway === undefined ? [] : listenersFor(gateway, parent, namespace);
    return gateway === undefined || listeners.length === 0 ? [] : [{ gateway, listeners }];
  });
  const hosts = distinct(
    attached.flatMap(({ listeners }) => listeners.flatMap(({ hostname }) => commonHosts(hostnames, hostname))),
  );
  return {
    source: {
      ...source,
      hosts: hosts.map((host) => ({ host, services, leadsNowhere })),
      targets: targetsOf(attached.flatMap(({ gateway }) => gateway.addresses)),
    },
    classNames: attached.flatMap(({ gateway }) => gateway.className ?? []),
  };
}

/**
 * Returns whether the hosts and addresses of a route are known. Until then its records are unchanged: a Gateway that is deleted
 * and created again must not take its hosts off the DNS.
 *
 * | the route                                                | known |
 * |----------------------------------------------------------|-------|
 * | has no status yet                                        | no    |
 * | was accepted by a Gateway that is missing                | no    |
 * | was accepted by none, and one of its Gateways is missing | no    |
 * | else                                                     | yes   |
 */
export function isKnown({ hasStatus, parents, gateways }: Route, has: (gateway: string) => boolean): boolean {
  const needed = parents.length > 0 ? parents.map(({ gateway }) => gateway) : gateways;
  return hasStatus && needed.every(has);
}

type ParentStatus = NonNullable<NonNullable<HttpRoute['status']>['parents']>[number];

/**
 * Returns the parents that have accepted the route. Skips parents in the status that the route no longer asks for. If several
 * controllers write about one parent, each must have accepted the route.
 */
function acceptedBy(
  parents: readonly ParentStatus[],
  asked: readonly AcceptedParent[],
  namespace: string,
): ParentStatus[] {
  const accepts = ({ conditions }: ParentStatus, status: string): boolean =>
    findCondition(conditions, 'Accepted')?.status === status;
  const named = parents.map((each) => ({ each, parent: parentOf(each.parentRef, namespace) }));
  const refused = named.filter(({ each }) => accepts(each, 'False'));
  return named
    .filter(({ each, parent }) => accepts(each, 'True') && asked.some((one) => isSame(one, parent)))
    .filter(({ parent }) => !refused.some((one) => isSame(one.parent, parent)))
    .map(({ each }) => each);
}

/** Returns a check whether a parent resolves the backends of a route. @param crosses whether a backend is in another namespace */
function resolves(crosses: boolean): (parent: ParentStatus) => boolean {
  return ({ conditions }) => {
    const status = findCondition(conditions, 'ResolvedRefs')?.status;
    return status === 'True' || (status !== 'False' && !crosses);
  };
}

function isSame(a: AcceptedParent, b: AcceptedParent): boolean {
  return a.gateway === b.gateway && a.sectionName === b.sectionName && a.port === b.port;
}

function parentOf({ namespace, name, sectionName, port }: ParentReference, own: string): AcceptedParent {
  return { gateway: `${namespace ?? own}/${name}`, sectionName, port };
}

function serviceOf({ group = '', kind = 'Service', namespace, name }: BackendReference, own: string): string[] {
  // The API accepts any name. A name with a slash would be read as a Service in another namespace.
  if (group !== '' || kind !== 'Service' || name.includes('/')) return [];
  return [namespace === undefined || namespace === own ? name : `${namespace}/${name}`];
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
