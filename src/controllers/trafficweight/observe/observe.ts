import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import { isWithoutBody } from '../../../runtime/cache/bodyBudget.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { ownEndpointOf, ownerOf } from '../../../weights/plan/plan.ts';
import { MOST_HOSTS } from '../../../weights/records/dnsEndpoint.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';
import type { WeightObjects } from '../weightObjects.ts';
import { endpointKeyOf, type SourceRef } from '../../../weights/records/source.ts';
import type { CachedIngress } from './cachedObjects.ts';
import { BY_OWNER, BY_SERVICE, type Caches } from './caches.ts';
import type { Candidate, Observation } from './observation.ts';
import { ofRoutes, type LabelsOf } from './routes.ts';

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
  const labelsOf: LabelsOf = (name) => {
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

function ofIngress({ source, className }: CachedIngress, labelsOf: LabelsOf, isBeyond: boolean): Candidate {
  const classNames = className === undefined ? [] : [className];
  return { source, classNames, isKnown: true, isBeyond, namespaceLabels: labelsOf(source.namespace) };
}
