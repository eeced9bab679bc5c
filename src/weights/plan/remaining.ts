import { apiVersionOf, keyOf } from '../../runtime/client/resource.ts';
import { hasController } from '../records/dnsEndpoint.ts';
import {
  atMost,
  DNS_ENDPOINTS,
  hostsIn,
  KEPT_ANNOTATION,
  recordWeight,
  type DnsEndpoint,
  type Endpoint,
} from '../records/endpoint.ts';

/** A DNSEndpoint of this owner that no source plans, and that is not removed. */
export interface Remaining {
  /** `namespace/name` */
  readonly key: string;
  readonly live: DnsEndpoint;
  /** The DNSEndpoint to apply, with lower weights; undefined if no weight is too high. */
  readonly desired: DnsEndpoint | undefined;
  /** Whether its Ingress or HTTPRoute was deleted without it. */
  readonly isOrphan: boolean;
}

/** Returns a DNSEndpoint that nothing plans, and what is applied so that no weight is above `most`. @param labels its label with the owner */
export function remainingOf(live: DnsEndpoint, labels: Record<string, string>, most: number): Remaining {
  const isHigher = live.spec?.endpoints?.some((record) => (recordWeight(record) ?? most) > most);
  const desired = isHigher === true ? lowered(live, labels, most) : undefined;
  return { key: keyOf(live), live, desired, isOrphan: !hasController(live) };
}

function lowered({ metadata, spec }: DnsEndpoint, labels: Record<string, string>, most: number): DnsEndpoint {
  const { name, namespace, annotations, ownerReferences = [] } = metadata ?? {};
  const kept = annotations?.[KEPT_ANNOTATION];
  return {
    apiVersion: apiVersionOf(DNS_ENDPOINTS),
    kind: DNS_ENDPOINTS.kind,
    metadata: {
      ...{ name, namespace, labels },
      ...(kept !== undefined && { annotations: { [KEPT_ANNOTATION]: kept } }),
      // With the heir, to which the garbage collector leaves the records.
      ...(ownerReferences.length > 0 && {
        ownerReferences: ownerReferences.map(({ apiVersion, kind, name: of, uid, controller }) => ({
          ...{ apiVersion, kind, name: of, uid, ...(controller === true && { controller }) },
        })),
      }),
    },
    spec: { endpoints: (spec?.endpoints ?? []).map((record) => atMost(record, most)) },
  };
}

/** Returns the records of a DNSEndpoint of these hosts, with no weight above `most`. */
export function recordsAtMost(live: DnsEndpoint | undefined, hosts: readonly string[], most: number): Endpoint[] {
  const kept = new Set(hosts);
  const records = live?.spec?.endpoints ?? [];
  return records.filter((record) => hostsIn([record]).some((host) => kept.has(host))).map((r) => atMost(r, most));
}
