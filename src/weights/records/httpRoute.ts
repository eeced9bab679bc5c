import { findCondition } from '../../runtime/controller/conditions.ts';
import { normal } from './domain.ts';
import { hostsIn, targetsIn, type DnsEndpoint } from './endpoint.ts';
import type { ListenerReference, RouteGateway, RouteNamespace, TakenListeners } from '../gateway/gateway.ts';
import {
  GATEWAYS,
  isToGateway,
  isToListenerSet,
  LISTENER_SETS,
  type BackendReference,
  type HttpRoute,
  type ParentReference,
} from '../gateway/gatewayApi.ts';
import { HostNames } from '../gateway/hostNames.ts';
import { targetsOf, createdAt, HTTP_ROUTE, type LoadBalancerAddress, type Source } from './source.ts';

/** A parent that a route asks for, and what the status of the route says about it. */
export interface RouteParent extends ListenerReference {
  /** Gateway, ListenerSet or XListenerSet. */
  readonly kind: string;
  /** `namespace/name`. */
  readonly key: string;
  /** Whether all controllers that report on the parent have accepted this generation of the route, and one has. */
  readonly isAccepted: boolean;
  /** When a controller refused this generation of the route: ms since 1970, NaN if the status does not say it; undefined if none has. */
  readonly refusedAt: number | undefined;
}

/** The parts of an HTTPRoute that its records need, without its Gateways. */
export interface Route {
  readonly source: Omit<Source, 'hosts' | 'targets'>;
  /** Host names of the route. Empty: the host names of the listeners count. */
  readonly hostnames: readonly string[];
  readonly services: readonly string[];
  readonly leadsNowhere: boolean;
  /** The Gateways and ListenerSets that the spec asks for. */
  readonly parents: readonly RouteParent[];
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
 * | one with ResolvedRefs False            | leads nowhere: a backend is missing, or not permitted; unless it may be one with the weight 0 or of a mirror |
 * | a backend of another namespace, and a parent without ResolvedRefs True | leads nowhere: whether a ReferenceGrant permits it is not read |
 * | a name that no Service can have        | leads nowhere                                               |
 */
export function routeOf({ metadata, spec, status }: HttpRoute): Route {
  const namespace = metadata?.namespace ?? '';
  const rules = (spec?.rules ?? []).map(({ backendRefs = [], filters = [] }) => ({
    backends: backendRefs.filter(({ weight = 1 }) => weight > 0),
    hasIdle: backendRefs.some(({ weight }) => weight === 0) || filters.some(({ type }) => type === 'RequestMirror'),
    answers: filters.some(({ type }) => type === 'RequestRedirect' || type === 'ExtensionRef'),
  }));
  const generation = metadata?.generation ?? 0;
  const reported = (status?.parents ?? []).filter(({ parentRef }) => hasListeners(parentRef));
  const said = Map.groupBy(reported, ({ parentRef }) => idOf(referenceOf(parentRef, namespace)));
  const asked = (spec?.parentRefs ?? [])
    .filter(hasListeners)
    .map((reference) => parentOf(reference, { said, namespace, generation }));
  const backends = rules.flatMap((rule) => rule.backends);
  const isKnownAlone = rules.some(({ hasIdle }) => hasIdle) && backends.every((each) => isOwnService(each, namespace));
  const crosses = backends.some((each) => (each.namespace ?? namespace) !== namespace);
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
      !asked.every(({ parent, statuses }) => !parent.isAccepted || statuses.every(resolves({ crosses, isKnownAlone }))),
    parents: asked.map(({ parent }) => parent),
  };
}

/** An HTTPRoute as a source. */
export interface RouteSource {
  readonly source: Source;
  /** The classes of the Gateways that take it, or may take it. */
  readonly classNames: readonly string[];
  /** The parents that have neither accepted nor refused it, for users: its hosts are not known. */
  readonly openParents: readonly string[];
  /** Whether it would take more hosts from listeners than there is room for: then it has none of them. */
  readonly isTooLarge: boolean;
}

/** The inputs of `sourceOfRoute` besides the route. */
export interface RouteSurroundings {
  /** Returns the Gateway of a parent, with the listeners of the parent; undefined for one that is not known, or does not count. */
  readonly gatewayAt: (parent: Pick<RouteParent, 'kind' | 'key'>) => RouteGateway | undefined;
  /** Whether the labels of the route's namespace match; undefined while they are not known. */
  readonly matches: RouteNamespace['matches'] | undefined;
  /** Returns the listeners of a Gateway of `gatewayAt` that take the routes of a namespace. */
  readonly listenersOf: (gateway: RouteGateway, namespace: RouteNamespace) => TakenListeners;
  /** Whether there is room for so many names that the route takes from listeners: the hosts, each with its Services. */
  readonly hasRoom: (names: number) => boolean;
  /** Returns the present DNSEndpoint of the route; undefined without one. */
  readonly endpoint: () => DnsEndpoint | undefined;
  /** Why ListenerSets cannot be read, for users; undefined if they can. */
  readonly unreadSets?: string | undefined;
  /** Ms since 1970. */
  readonly now: number;
}

/**
 * Returns an HTTPRoute as a source. Its hosts are the host names that the route and a listener of an accepting Gateway have in
 * common; its targets are the addresses of all these Gateways. The listeners must also take the route: the status alone proves
 * nothing, because whoever may write it can claim that a Gateway has accepted the route.
 *
 * While a parent is open, the route also keeps its published hosts, unless it no longer asks for them, and the published addresses
 * that the Gateway of the open parent still has: resolvers remember for minutes that a name does not exist.
 *
 * | a parent in the spec                                                     |          |
 * |--------------------------------------------------------------------------|----------|
 * | it is missing or cannot be read, or the Gateway of the ListenerSet is missing, or it is an XListenerSet, which is not read | open |
 * | one controller has accepted this generation of the route, none has refused it | accepted |
 * | refused, before its Gateway was created, at most MOST_OPEN_MS ago        | open     |
 * | refused, else                                                            | refused  |
 * | no status, an unknown one, or the status of an earlier generation        | open     |
 */
export function sourceOfRoute(
  route: Route,
  { gatewayAt, matches, listenersOf, hasRoom, endpoint, unreadSets, now }: RouteSurroundings,
): RouteSource {
  const { source, hostnames, services, leadsNowhere } = route;
  const parents = route.parents.map((parent) => ({ parent, gateway: gatewayAt(parent) }));
  const open = parents.filter(({ parent, gateway }) => matches === undefined || isOpen(parent, gateway, now));
  const attached = parents.flatMap(({ parent, gateway }) => {
    if (gateway === undefined || matches === undefined || !parent.isAccepted) return [];
    const listeners = listenersOf(gateway, { name: source.namespace, matches }).hostsFor(parent);
    return listeners === undefined ? [] : [{ gateway, listeners }];
  });
  const isTooLarge = takesNames(route) && !hasRoom(namesIn(attached, hostnames) * (1 + services.length));
  const taken = isTooLarge ? [] : attached.flatMap(({ listeners }) => listeners.inCommonWith(hostnames));
  const kept = open.length === 0 ? NOTHING_KEPT : keptOf(route, open, endpoint());
  return {
    source: {
      ...source,
      hosts: distinct([...taken, ...kept.hosts]).map((host) => ({ host, services, leadsNowhere })),
      targets: targetsOf([...attached.flatMap(({ gateway }) => gateway.addresses), ...kept.addresses]),
    },
    classNames: [...attached, ...open].flatMap(({ gateway }) => gateway?.className ?? []),
    openParents: distinct(open.map(({ parent, gateway }) => openness(parent, gateway, unreadSets))),
    isTooLarge,
  };
}

/** Whether the hosts of a route come from its listeners: their number is the product of routes and listeners. */
function takesNames({ hostnames }: Route): boolean {
  return hostnames.length === 0 || hostnames.some((host) => host.startsWith('*.'));
}

function namesIn(attached: readonly { readonly listeners: HostNames }[], hostnames: readonly string[]): number {
  return attached.reduce((names, { listeners }) => names + listeners.countInCommonWith(hostnames), 0);
}

interface Kept {
  readonly hosts: readonly string[];
  readonly addresses: readonly LoadBalancerAddress[];
}

const NOTHING_KEPT: Kept = { hosts: [], addresses: [] };

/** Returns the hosts and addresses that a route keeps while parents are open. @param endpoint its present DNSEndpoint */
function keptOf(
  { hostnames }: Route,
  open: readonly { readonly gateway: RouteGateway | undefined }[],
  endpoint: DnsEndpoint | undefined,
): Kept {
  if (endpoint === undefined) return NOTHING_KEPT;
  const targets = new Set(targetsIn(endpoint).flatMap((one) => one.targets));
  const asked = new HostNames(hostnames);
  return {
    // Whether a listener could give the host to the route.
    hosts: hostsIn(endpoint.spec?.endpoints).filter((host) => hostnames.length === 0 || asked.covers(host)),
    addresses: open
      .flatMap(({ gateway }) => gateway?.addresses ?? [])
      .filter(({ ip, hostname }) => targets.has(ip ?? hostname ?? '')),
  };
}

/**
 * How long after the creation of a Gateway an earlier refusal does not count: ms. A controller that refuses a route again does not
 * renew the time of the condition, so a refusal must count at some time.
 */
const MOST_OPEN_MS = 10 * 60_000;

function isOpen({ isAccepted, refusedAt }: RouteParent, gateway: RouteGateway | undefined, now: number): boolean {
  if (gateway === undefined) return true;
  if (isAccepted || refusedAt === undefined) return !isAccepted;
  const created = Date.parse(gateway.createdAt);
  return refusedAt <= created && now - created < MOST_OPEN_MS;
}

function openness({ kind, key }: RouteParent, gateway: RouteGateway | undefined, unreadSets?: string): string {
  if (gateway !== undefined) return `${kind} ${key} has neither accepted nor refused it`;
  if (kind === GATEWAYS.kind) return `Gateway ${key} does not exist`;
  if (kind === LISTENER_SETS.kind && unreadSets !== undefined)
    return `ListenerSet ${key} cannot be read: ${unreadSets}; give the ServiceAccount the right to list and watch listenersets`;
  if (kind === LISTENER_SETS.kind) return `ListenerSet ${key} or its Gateway does not exist`;
  return `${kind} ${key} is of an experimental API, which is not read: make it a ListenerSet of gateway.networking.k8s.io/v1`;
}

/** Whether a parent may have listeners. Routes may also have Services as parents, in a mesh. */
function hasListeners(reference: ParentReference): boolean {
  return isToGateway(reference) || isToListenerSet(reference);
}

type ParentStatus = NonNullable<NonNullable<HttpRoute['status']>['parents']>[number];

interface Judged {
  readonly parent: RouteParent;
  readonly statuses: readonly ParentStatus[];
}

/** Reads the status of a parent. A refusal of an earlier generation is not one of this generation, but prevents an acceptance. */
function parentOf(
  reference: ParentReference,
  { said, namespace, generation }: { said: ReadonlyMap<string, ParentStatus[]>; namespace: string; generation: number },
): Judged {
  const asked = referenceOf(reference, namespace);
  const statuses = said.get(idOf(asked)) ?? [];
  const verdicts = statuses.flatMap(({ conditions }) => findCondition(conditions, 'Accepted') ?? []);
  const current = verdicts.filter(({ observedGeneration = generation }) => observedGeneration >= generation);
  const refusal = current.find(({ status }) => status === 'False');
  const isAccepted =
    current.some(({ status }) => status === 'True') && verdicts.every(({ status }) => status !== 'False');
  return { parent: { ...asked, isAccepted, refusedAt: refusal && Date.parse(refusal.lastTransitionTime) }, statuses };
}

/** Reasons of ResolvedRefs that may be about a backend without traffic. */
const OF_ANY_BACKEND: readonly string[] = ['BackendNotFound', 'RefNotPermitted', 'InvalidKind'];

interface Backends {
  /** Whether one is in another namespace. */
  readonly crosses: boolean;
  /** Whether EndpointSlices show which backends with traffic are ready, so that a refusal may be about one without traffic. */
  readonly isKnownAlone: boolean;
}

/** Returns a check whether a parent resolves the backends of a route that get traffic. */
function resolves({ crosses, isKnownAlone }: Backends): (parent: ParentStatus) => boolean {
  return ({ conditions }) => {
    const { status, reason = '' } = findCondition(conditions, 'ResolvedRefs') ?? {};
    if (status === 'False') return isKnownAlone && OF_ANY_BACKEND.includes(reason);
    return status === 'True' || !crosses;
  };
}

function isOwnService(backend: BackendReference, own: string): boolean {
  return (backend.namespace ?? own) === own && serviceOf(backend, own).length > 0;
}

type Reference = Pick<RouteParent, 'kind' | 'key' | 'sectionName' | 'port'>;

/** Returns the same text for two references to the same listeners, and for no others. */
function idOf({ kind, key, sectionName, port }: Reference): string {
  return JSON.stringify([kind, key, sectionName ?? null, port ?? null]);
}

function referenceOf(
  { kind = GATEWAYS.kind, namespace, name, sectionName, port }: ParentReference,
  own: string,
): Reference {
  return { kind, key: `${namespace ?? own}/${name}`, sectionName, port };
}

function serviceOf({ group = '', kind = 'Service', namespace, name }: BackendReference, own: string): string[] {
  // The API accepts any name. A name with a slash would be read as a Service in another namespace.
  if (group !== '' || kind !== 'Service' || name.includes('/')) return [];
  return [namespace === undefined || namespace === own ? name : `${namespace}/${name}`];
}

function distinct(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}
