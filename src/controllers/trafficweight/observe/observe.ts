import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import { ownEndpointOf, ownerOf } from '../../../weights/plan/plan.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { WeightObjects } from '../objects/weightObjects.ts';
import type { CachedIngress } from './cachedIngress.ts';
import { BY_OWNER, BY_SERVICE, type Caches } from './caches.ts';
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
    candidates: caches.ingresses.lister.list().map((ingress) => candidateOf(ingress, caches)),
    endpointOf,
    owned: endpoints.byIndex(BY_OWNER, weight.metadata?.name ?? ''),
    labelOf: (source) => {
      const own = ownEndpointOf(source, endpointOf);
      return own && ownerOf(own);
    },
    isOwner: (other) => weights.get(other) !== undefined,
    isReady: (namespace, service) =>
      caches.slices.lister.byIndex(BY_SERVICE, `${namespace}/${service}`).some(({ isReady }) => isReady),
  };
}

/** One that is being deleted keeps its records as they are, until another one takes them. */
function isOther({ metadata }: TrafficWeight, weight: TrafficWeight): boolean {
  return metadata?.name !== weight.metadata?.name && metadata?.deletionTimestamp === undefined;
}

function candidateOf({ source, className }: CachedIngress, { namespaces }: Caches): Candidate {
  const namespace = namespaces?.lister.get(source.namespace);
  return { source, className, namespaceLabels: namespace && (namespace.metadata?.labels ?? {}) };
}
