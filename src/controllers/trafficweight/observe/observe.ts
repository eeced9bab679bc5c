import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import { OWNER_LABEL } from '../../../weights/plan/plan.ts';
import { isOf } from '../../../weights/records/dnsEndpoint.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import { keyOfSource } from '../../../weights/records/records.ts';
import type { CachedIngress } from './cachedIngress.ts';
import { BY_OWNER, BY_SERVICE, type Caches } from './caches.ts';
import type { Candidate, Observation } from './observation.ts';

/** Observes what decides about the records of a TrafficWeight. */
export function observe(weight: TrafficWeight, caches: Caches, endpoints: Overlay<DnsEndpoint>): Observation {
  const name = weight.metadata?.name ?? '';
  return {
    weights: [weight, ...caches.weights.lister.list().filter((other) => isOther(other, weight))],
    candidates: caches.ingresses.lister.list().map((ingress) => candidateOf(ingress, caches)),
    endpointOf: (key) => endpoints.get(key),
    owned: endpoints.byIndex(BY_OWNER, name),
    labelOf: (source) => {
      const live = endpoints.get(keyOfSource(source));
      return live !== undefined && isOf(live, source) ? live.metadata?.labels?.[OWNER_LABEL] : undefined;
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
