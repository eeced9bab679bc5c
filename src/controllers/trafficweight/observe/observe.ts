import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { CachedIngress } from './cachedIngress.ts';
import { BY_OWNER, BY_SERVICE, type Caches } from './caches.ts';
import type { Candidate, Observation } from './observation.ts';

/** Observes what decides about the records of a TrafficWeight. */
export function observe(weight: TrafficWeight, caches: Caches, endpoints: Overlay<DnsEndpoint>): Observation {
  const name = weight.metadata?.name ?? '';
  return {
    weight,
    candidates: caches.ingresses.lister.list().map((ingress) => candidateOf(ingress, caches)),
    endpointOf: (key) => endpoints.get(key),
    owned: endpoints.byIndex(BY_OWNER, name),
    isOther: (other) => other !== name && caches.weights.lister.get(other) !== undefined,
    isReady: (namespace, service) =>
      caches.slices.lister.byIndex(BY_SERVICE, `${namespace}/${service}`).some(({ isReady }) => isReady),
  };
}

function candidateOf({ source, className }: CachedIngress, { namespaces }: Caches): Candidate {
  const namespace = namespaces.lister.get(source.namespace);
  return { source, className, namespaceLabels: namespace && (namespace.metadata?.labels ?? {}) };
}
