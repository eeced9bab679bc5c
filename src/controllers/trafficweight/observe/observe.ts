import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import { createSelectorMatcher } from '../../../api/labelMatcher.ts';
import { isWithoutBody } from '../../../runtime/cache/bodyBudget.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { ownEndpointOf, ownerOf } from '../../../weights/plan/plan.ts';
import { MOST_HOSTS } from '../../../weights/records/dnsEndpoint.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { WeightObjects } from '../weightObjects.ts';
import { gatewayOfSet, type RouteGateway } from '../../../weights/gateway/gateway.ts';
import { GATEWAYS, LISTENER_SETS, type NamespaceSelector } from '../../../weights/gateway/gatewayApi.ts';
import { sourceOfRoute, type RouteParent } from '../../../weights/records/httpRoute.ts';
import { endpointKeyOf, type SourceRef } from '../../../weights/records/source.ts';
import type { CachedIngress, CachedListenerSet } from './cachedObjects.ts';
import { BY_OWNER, BY_SERVICE, unreadSets, type Caches, type GatewayCaches } from './caches.ts';
import type { Candidate, Observation } from './observation.ts';

/** The caches that `observe` reads. */
export interface Observed {
  readonly caches: Caches;
  readonly weights: WeightObjects['lister'];
  readonly endpoints: Overlay<DnsEndpoint>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Collects the inputs of a decision about the records of a TrafficWeight. */
export function observe(weight: TrafficWeight, { caches, weights, endpoints, clock }: Observed): Observation {
  const endpointOf = (key: string): DnsEndpoint | undefined => endpoints.get(key);
  return {
    weights: [weight, ...weights.list().filter((other) => isOther(other, weight))],
    candidates: candidatesIn(caches, endpointOf, clock.now()),
    endpointOf,
    owned: endpoints.byIndex(BY_OWNER, weight.metadata?.name ?? ''),
    labelOf: (source) => {
      const own = ownEndpointOf(source, endpointOf);
      return own && ownerOf(own);
    },
    isOwner: (other) => weights.get(other) !== undefined,
    isReady: (key) => caches.slices.lister.byIndex(BY_SERVICE, key).some(({ isReady }) => isReady),
  };
}

/** Whether it is another TrafficWeight that takes part. The records of a deleted one are unchanged until another takes them. */
function isOther({ metadata }: TrafficWeight, weight: TrafficWeight): boolean {
  return metadata?.name !== weight.metadata?.name && metadata?.deletionTimestamp === undefined;
}

type EndpointOf = Observation['endpointOf'];

function candidatesIn({ ingresses, gatewayApi, namespaces }: Caches, endpointOf: EndpointOf, now: number): Candidate[] {
  const labelsOf = (name: string): Labels | undefined => {
    const namespace = namespaces?.lister.get(name);
    return isWithoutBody(namespace) ? undefined : namespace && (namespace.metadata?.labels ?? {});
  };
  const isBeyond = (cached: KubeObject, source: SourceRef, hosts: number): boolean =>
    hosts > MOST_HOSTS || isWithoutBody(cached) || isWithoutBody(endpointOf(endpointKeyOf(source)));
  return [
    ...ingresses.lister
      .list()
      .map((each) => ofIngress(each, labelsOf, isBeyond(each, each.source, each.source.hosts.length))),
    ...(gatewayApi === undefined ? [] : ofRoutes(gatewayApi, { labelsOf, isBeyond, endpointOf, now })),
  ];
}

type Labels = NonNullable<Candidate['namespaceLabels']>;
type LabelsOf = (namespace: string) => Labels | undefined;

function ofIngress({ source, className }: CachedIngress, labelsOf: LabelsOf, isBeyond: boolean): Candidate {
  const classNames = className === undefined ? [] : [className];
  return { source, classNames, isKnown: true, isBeyond, namespaceLabels: labelsOf(source.namespace) };
}

interface RouteFacts {
  readonly labelsOf: LabelsOf;
  readonly isBeyond: (cached: KubeObject, source: SourceRef, hosts: number) => boolean;
  readonly endpointOf: EndpointOf;
  /** Ms since 1970. */
  readonly now: number;
}

function ofRoutes({ routes, gateways, listenerSets }: GatewayCaches, facts: RouteFacts): Candidate[] {
  const { labelsOf, isBeyond, endpointOf, now } = facts;
  const gatewayOf = (key: string): RouteGateway | undefined => {
    const cached = gateways.lister.get(key);
    return isWithoutBody(cached) ? undefined : cached?.gateway;
  };
  // Without the right to watch them, the cache is stale.
  const unread = unreadSets(listenerSets);
  const setAt = (key: string): CachedListenerSet | undefined =>
    unread === undefined ? listenerSets.lister.get(key) : undefined;
  // One matcher for each selector of a listener: users choose the number of routes and of values.
  const matchers = new Map<NamespaceSelector, ReturnType<typeof createSelectorMatcher>>();
  const matcherOf = (selector: NamespaceSelector) => {
    const matcher = matchers.get(selector) ?? createSelectorMatcher(selector);
    matchers.set(selector, matcher);
    return matcher;
  };
  const matchesOf = (labels: Labels | undefined) =>
    labels && ((selector: NamespaceSelector) => matcherOf(selector)(labels));
  const gatewayAt = ({ kind, key }: Pick<RouteParent, 'kind' | 'key'>): RouteGateway | undefined => {
    if (kind === GATEWAYS.kind) return gatewayOf(key);
    const set = kind === LISTENER_SETS.kind ? setAt(key)?.set : undefined;
    const gateway = set && gatewayOf(set.gateway);
    const matches = set && matchesOf(labelsOf(set.namespace));
    return gateway && matches && gatewayOfSet(set, gateway, matches);
  };
  const isWithout = ({ kind, key }: Pick<RouteParent, 'kind' | 'key'>): boolean => {
    const set = kind === LISTENER_SETS.kind ? setAt(key) : undefined;
    return (
      isWithoutBody(set) || isWithoutBody(gateways.lister.get(kind === GATEWAYS.kind ? key : (set?.set.gateway ?? '')))
    );
  };
  return routes.lister.list().map((cached) => {
    const { route } = cached;
    const namespaceLabels = labelsOf(route.source.namespace);
    // A listener may select by the labels of the namespace.
    const matches = matchesOf(namespaceLabels);
    const endpoint = (): DnsEndpoint | undefined => ownEndpointOf(route.source, endpointOf);
    const { openParents, ...found } = sourceOfRoute(route, { gatewayAt, matches, endpoint, unreadSets: unread, now });
    const { hosts } = found.source;
    const isKnown = openParents.length === 0;
    const open = isKnown ? {} : { open: { why: openParents.join(', '), hostnames: route.hostnames } };
    // A Gateway without its body has addresses that are not known: unlike a missing Gateway, it may serve.
    const isCut = !isKnown && route.parents.some(isWithout);
    const isLeftOut = isCut || isBeyond(cached, route.source, hosts.length);
    return { ...found, ...open, isKnown, isBeyond: isLeftOut, namespaceLabels };
  });
}
