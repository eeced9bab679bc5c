import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import { ownEndpointOf, ownerOf } from '../../../weights/plan/plan.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { WeightObjects } from '../objects/weightObjects.ts';
import { isKnown, sourceOfRoute } from '../../../weights/records/httpRoute.ts';
import { withSharedHosts } from '../../../weights/records/sharedHosts.ts';
import type { CachedIngress } from './cachedIngress.ts';
import { BY_OWNER, BY_SERVICE, type Caches, type GatewayCaches } from './caches.ts';
import type { Candidate, Observation } from './observation.ts';

/** Where it is observed. */
export interface Observed {
  readonly caches: Caches;
  readonly weights: WeightObjects['lister'];
  readonly endpoints: Overlay<DnsEndpoint>;
}

/** Observes what decides about the records of a TrafficWeight. */
export function observe(weight: TrafficWeight, { caches, weights, endpoints }: Observed): Observation {
  const endpointOf = (key: string): DnsEndpoint | undefined => endpoints.get(key);
  return {
    weights: [weight, ...weights.list().filter((other) => isOther(other, weight))],
    candidates: candidatesIn(caches),
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

/** One that is being deleted keeps its records as they are, until another one takes them. */
function isOther({ metadata }: TrafficWeight, weight: TrafficWeight): boolean {
  return metadata?.name !== weight.metadata?.name && metadata?.deletionTimestamp === undefined;
}

function candidatesIn({ ingresses, gatewayApi, namespaces }: Caches): Candidate[] {
  const candidates = [
    ...ingresses.lister.list().map(ofIngress),
    ...(gatewayApi === undefined ? [] : ofRoutes(gatewayApi)),
  ];
  return candidates.map((each) => {
    const namespace = namespaces?.lister.get(each.source.namespace);
    return { ...each, namespaceLabels: namespace && (namespace.metadata?.labels ?? {}) };
  });
}

type WithoutNamespace = Omit<Candidate, 'namespaceLabels'>;

function ofIngress({ source, className }: CachedIngress): WithoutNamespace {
  return { source, classNames: className === undefined ? [] : [className], isKnown: true };
}

function ofRoutes({ routes, gateways }: GatewayCaches): WithoutNamespace[] {
  const gatewayAt = (key: string) => gateways.lister.get(key)?.gateway;
  const all = routes.lister.list();
  const sources = withSharedHosts(all.map(({ route }) => sourceOfRoute(route, gatewayAt)));
  return all.flatMap(({ route }, n) => {
    const source = sources[n];
    const classNames = route.parents.flatMap(({ gateway }) => gatewayAt(gateway)?.className ?? []);
    const isComplete = isKnown(route, (gateway) => gatewayAt(gateway) !== undefined);
    return source === undefined ? [] : [{ source, classNames, isKnown: isComplete }];
  });
}
