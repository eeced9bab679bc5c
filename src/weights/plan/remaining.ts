import { createHash } from 'node:crypto';
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

/** Hosts that would lose their records since no owner selects them any longer. */
export interface Removal {
  /** Sorted. */
  readonly hosts: readonly string[];
  /** The hosts with records before. */
  readonly of: number;
  /** The value of spec.allowRemoval that confirms it. */
  readonly confirm: string;
}

/** The value of spec.allowRemoval that confirms every removal. */
export const ANY_REMOVAL = 'Any';
/** A removal of more hosts, and of a larger share of the hosts, needs a confirmation. */
const FREE_HOSTS = 1;
const FREE_SHARE = 0.25;
/** Digits of a confirmation. */
const CONFIRM_DIGITS = 8;

/** The confirmation of removals. */
export interface Confirmation {
  /** spec.allowRemoval */
  readonly allowed: string | undefined;
  /** The hosts of the last confirmed removal that has not ended. */
  readonly before: ReadonlySet<string>;
}

/**
 * Decides whether hosts may lose their records.
 *
 * | the hosts                                                       | lose their records |
 * |-----------------------------------------------------------------|--------------------|
 * | one, or at most a quarter of the hosts                          | yes                |
 * | have the confirmation, or it is Any                             | yes                |
 * | are the rest of a removal that was confirmed: it takes rounds   | yes                |
 * | anything else                                                   | no                 |
 *
 * @param published returns the number of hosts with records
 * @returns the removal that waits, if any, and the hosts whose removal is confirmed
 */
export function decideRemoval(
  lost: ReadonlySet<string>,
  published: () => number,
  { allowed, before }: Confirmation,
): { readonly waits?: Removal; readonly confirmed: ReadonlySet<string> } {
  if (lost.size <= FREE_HOSTS) return { confirmed: new Set() };
  const of = published();
  if (lost.size <= FREE_SHARE * of) return { confirmed: new Set() };
  const hosts = [...lost].sort();
  const confirm = createHash('sha256').update(JSON.stringify(hosts)).digest('hex').slice(0, CONFIRM_DIGITS);
  if (allowed === ANY_REMOVAL || allowed === confirm) return { confirmed: lost };
  if (hosts.every((host) => before.has(host))) return { confirmed: before };
  return { waits: { hosts, of, confirm }, confirmed: new Set() };
}

/** Returns the records of a DNSEndpoint of these hosts, with no weight above `most`. */
export function recordsAtMost(live: DnsEndpoint | undefined, hosts: readonly string[], most: number): Endpoint[] {
  const records = live?.spec?.endpoints ?? [];
  return records.filter((record) => hostsIn([record]).some((host) => hosts.includes(host))).map((r) => atMost(r, most));
}
