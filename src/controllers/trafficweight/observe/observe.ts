import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import { ownEndpointOf, ownerOf } from '../../../weights/plan/plan.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { CachedIngress } from './cachedIngress.ts';
import { BY_OWNER, BY_SERVICE, type Caches } from './caches.ts';
import type { Candidate, Observation } from './observation.ts';

/** Observes what decides about the records of a TrafficWeight. */
export function observe(weight: TrafficWeight, caches: Caches, endpoints: Overlay<DnsEndpoint>): Observation {
  const endpointOf = (key: string): DnsEndpoint | undefined => endpoints.get(key);
  return {
    weights: [weight, ...caches.weights.lister.list().filter((other) => isOther(other, weight))],
    candidates: caches.ingresses.lister.list().map((ingress) => candidateOf(ingress, caches)),
    endpointOf,
    owned: endpoints.byIndex(BY_OWNER, weight.metadata?.name ?? ''),
    labelOf: (source) => {
      const own = ownEndpointOf(source, endpointOf);
      return own && ownerOf(own);
    },
    isOwner: (other) => caches.weights.lister.get(other) !== undefined,
    isReady: (namespace, service) =>
      caches.slices.lister.byIndex(BY_SERVICE, `${namespace}/${service}`).some(({ isReady }) => isReady),
  };
}

/** One that is being deleted keeps its records as they are, until another one takes them. */
function isOther({ metadata }: TrafficWeight, weight: TrafficWeight): boolean {
  return metadata?.name !== weight.metadata?.name && metadata?.deletionTimestamp === undefined;
}

function candidateOf({ source, className }: CachedIngress, { namespaces }: Caches): Candidate {
  const namespace = namespaces.lister.get(source.namespace);
  return { source, className, namespaceLabels: namespace && (namespace.metadata?.labels ?? {}) };
}
