import { createSelectorMatcher } from '../../../api/labelMatcher.ts';
import { isWithoutBody } from '../../../runtime/cache/bodyBudget.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import {
  gatewayOfSet,
  TakenListeners,
  type RouteGateway,
  type RouteNamespace,
} from '../../../weights/gateway/gateway.ts';
import { GATEWAYS, LISTENER_SETS, type NamespaceSelector } from '../../../weights/gateway/gatewayApi.ts';
import { ownEndpointOf } from '../../../weights/plan/plan.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import { sourceOfRoute, type RouteParent } from '../../../weights/records/httpRoute.ts';
import { byAge, type SourceRef } from '../../../weights/records/source.ts';
import type { CachedListenerSet, CachedRoute } from './cachedObjects.ts';
import { unreadSets, type GatewayCaches } from './caches.ts';
import type { Candidate, Observation } from './observation.ts';

/**
 * The names that the routes of one namespace may take from listeners: each host and each of its Services is one. 1,000 routes with 2,000 listeners
 * would have 2 million hosts. A name takes about half a KiB in a plan, so these take 25 MiB.
 */
export const MOST_LISTENER_NAMES = 50_000;

type Labels = NonNullable<Candidate['namespaceLabels']>;
export type LabelsOf = (namespace: string) => Labels | undefined;
type Parent = Pick<RouteParent, 'kind' | 'key'>;

/** The facts about HTTPRoutes besides the Gateway API. */
export interface RouteFacts {
  readonly labelsOf: LabelsOf;
  readonly isBeyond: (cached: KubeObject, source: SourceRef, hosts: number) => boolean;
  readonly endpointOf: Observation['endpointOf'];
  /** Ms since 1970. */
  readonly now: number;
}

/**
 * Returns the HTTPRoutes as candidates. Each Gateway and each ListenerSet is read once for each namespace of routes, however many routes it has: the
 * work grows with the sum of routes, parents and listeners, and not with their product.
 */
export function ofRoutes({ routes, gateways, listenerSets }: GatewayCaches, facts: RouteFacts): Candidate[] {
  const { labelsOf, isBeyond, endpointOf, now } = facts;
  // Without the right to watch them, the cache is stale.
  const unread = unreadSets(listenerSets);
  const setAt = (key: string): CachedListenerSet | undefined =>
    unread === undefined ? listenerSets.lister.get(key) : undefined;
  const isWithout = ({ kind, key }: Parent): boolean => {
    const set = kind === LISTENER_SETS.kind ? setAt(key) : undefined;
    return (
      isWithoutBody(set) || isWithoutBody(gateways.lister.get(kind === GATEWAYS.kind ? key : (set?.set.gateway ?? '')))
    );
  };
  const matchesOf = createMatches();
  const gatewayAt = createGateways({ gateways, setAt }, (namespace) => matchesOf(labelsOf(namespace)));
  const listenersOf = createListeners();
  const hasRoom = createRooms();
  return byAgeOf(routes.lister.list()).map((cached) => {
    const { route } = cached;
    const namespaceLabels = labelsOf(route.source.namespace);
    // A listener may select by the labels of the namespace.
    const matches = matchesOf(namespaceLabels);
    const endpoint = (): DnsEndpoint | undefined => ownEndpointOf(route.source, endpointOf);
    const { openParents, isTooLarge, ...found } = sourceOfRoute(route, {
      ...{ gatewayAt, matches, listenersOf, endpoint, unreadSets: unread, now },
      hasRoom: (names) => hasRoom(route.source.namespace, names),
    });
    const { hosts } = found.source;
    const isKnown = openParents.length === 0;
    const open = isKnown ? {} : { open: { why: openParents.join(', '), hostnames: route.hostnames } };
    // A Gateway without its body has addresses that are not known: unlike a missing Gateway, it may serve.
    const isCut = !isKnown && route.parents.some(isWithout);
    const isLeftOut = isCut || isTooLarge || isBeyond(cached, route.source, hosts.length);
    return { ...found, ...open, isKnown, isBeyond: isLeftOut, namespaceLabels };
  });
}

/** Returns the routes, the older ones first. */
function byAgeOf(routes: readonly CachedRoute[]): CachedRoute[] {
  return routes.toSorted((a, b) => byAge(a.route.source, b.route.source));
}

/** Returns a check whether the routes of a namespace so far have room for so many names of listeners. A route without room takes none from younger ones. */
function createRooms(): (namespace: string, names: number) => boolean {
  const used = new Map<string, number>();
  return (namespace, names) => {
    const all = (used.get(namespace) ?? 0) + names;
    if (all > MOST_LISTENER_NAMES) return false;
    used.set(namespace, all);
    return true;
  };
}

type Matches = RouteNamespace['matches'];

/** Returns a function that makes the check of a namespace's labels. One matcher for each selector of a listener: users choose the number of routes and of values. */
function createMatches(): (labels: Labels | undefined) => Matches | undefined {
  const matcherOf = memoized((selector: NamespaceSelector) => createSelectorMatcher(selector));
  return (labels) => labels && ((selector) => matcherOf(selector)(labels));
}

interface GatewayLookups extends Pick<GatewayCaches, 'gateways'> {
  readonly setAt: (key: string) => CachedListenerSet | undefined;
}

/** Returns a function that finds the Gateway of a parent, with the listeners of the parent: the same object for the same parent. */
function createGateways(
  { gateways, setAt }: GatewayLookups,
  matchesIn: (namespace: string) => Matches | undefined,
): (parent: Parent) => RouteGateway | undefined {
  const gatewayOf = (key: string): RouteGateway | undefined => {
    const cached = gateways.lister.get(key);
    return isWithoutBody(cached) ? undefined : cached?.gateway;
  };
  const gatewayOfSetAt = memoized((key: string) => {
    const set = setAt(key)?.set;
    const gateway = set && gatewayOf(set.gateway);
    const matches = set && matchesIn(set.namespace);
    return gateway && matches && gatewayOfSet(set, gateway, matches);
  });
  return ({ kind, key }) => {
    if (kind === GATEWAYS.kind) return gatewayOf(key);
    return kind === LISTENER_SETS.kind ? gatewayOfSetAt(key) : undefined;
  };
}

/** Returns a function that finds the listeners of a Gateway that take the routes of a namespace: the same object for the same names. */
function createListeners(): (gateway: RouteGateway, namespace: RouteNamespace) => TakenListeners {
  const byGateway = memoized<RouteGateway, Map<string, TakenListeners>>(() => new Map());
  return (gateway, namespace) => {
    const known = byGateway(gateway);
    const listeners = known.get(namespace.name) ?? new TakenListeners(gateway, namespace);
    known.set(namespace.name, listeners);
    return listeners;
  };
}

/** Returns a function that remembers its results, also undefined, as long as it is used: for one reconcile. */
function memoized<K, V>(make: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    if (!known.has(key)) known.set(key, make(key));
    return known.get(key) as V;
  };
}
