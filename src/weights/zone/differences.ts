import { normal } from '../records/domain.ts';
import { recordWeight, type DnsEndpoint, type Endpoint } from '../records/endpoint.ts';
import { LONGEST_LABEL } from './published.ts';
import { isApex, zonesOfHost, type RecordSet, type Zone } from './recordSets.ts';

/** A host whose record sets in a hosted zone differ from its DNSEndpoint. */
export interface ZoneDifference {
  readonly host: string;
  /** For users: the zone, and how it differs. */
  readonly how: string;
}

/**
 * Compares the records of DNSEndpoints with the hosted zones: the type, the set identifier and the weight. Returns one difference for
 * each host that differs.
 *
 * | the zone has, of the host's name and the set identifier | difference |
 * |---------------------------------------------------------|------------|
 * | no record set of the type                               | yes, unless the weight is 0: the cluster gets no traffic either way |
 * | a record set with another weight                        | yes        |
 * | A or AAAA where a CNAME is asked for                    | by weight: external-dns publishes a CNAME to AWS as an alias |
 * | no zone contains the host                               | yes        |
 */
export function differencesIn(endpoints: Iterable<DnsEndpoint | undefined>, zones: readonly Zone[]): ZoneDifference[] {
  const byHost = new Map<string, string>();
  for (const endpoint of endpoints) {
    for (const record of endpoint?.spec?.endpoints ?? []) {
      const host = normal(record.dnsName);
      if (byHost.has(host)) continue;
      const how = differenceOf(host, record, zones);
      if (how !== undefined) byHost.set(host, how);
    }
  }
  return [...byHost].map(([host, how]) => ({ host, how }));
}

function differenceOf(host: string, record: Endpoint, zones: readonly Zone[]): string | undefined {
  const around = zonesOfHost(zones, host);
  if (around.length === 0) return 'no zone of hostedZoneIDs contains it';
  const { setIdentifier = '', recordType } = record;
  const weight = recordWeight(record);
  for (const { id, sets } of around) {
    const own = (sets.get(host) ?? []).filter((set) => set.setIdentifier === setIdentifier && isLike(set, recordType));
    const other = own.find((set) => set.weight !== weight);
    const of = `the zone ${id} has`;
    const hint = hintOf(markProblem(host, recordType, isApex(around, host)));
    if (own.length === 0 && weight !== 0) return `${of} no ${recordType} record of ${setIdentifier}${hint}`;
    if (other === undefined) continue;
    const has = other.weight === undefined ? 'no weight' : `the weight ${other.weight}`;
    return `${of} ${has} instead of ${weight}${hint}`;
  }
  return undefined;
}

function isLike({ type }: RecordSet, recordType: string): boolean {
  return recordType === 'CNAME' || type === recordType;
}

function hintOf(problem: string | undefined): string {
  return problem === undefined ? '' : `; ${problem}`;
}

/** Returns the hosts that external-dns may not be able to mark, if their zones are not known: see `markProblem`. */
export function unmarkable(endpoints: Iterable<DnsEndpoint | undefined>): ZoneDifference[] {
  const byHost = new Map<string, string>();
  for (const endpoint of endpoints) {
    for (const { dnsName, recordType } of endpoint?.spec?.endpoints ?? []) {
      const host = normal(dnsName);
      const how = markProblem(host, recordType, isApex([], host));
      if (how !== undefined) byHost.set(host, how);
    }
  }
  return [...byHost].map(([host, how]) => ({ host, how }));
}

/**
 * Returns why external-dns with its default flags cannot mark a record as its own; undefined if it can. With the TXT registry, the mark of
 * `web.example.org` is the TXT record `cname-web.example.org`. external-dns creates a record without a mark, and never changes it again.
 *
 * @param isAtApex whether the host has the name of its zone
 */
function markProblem(host: string, recordType: string, isAtApex: boolean): string | undefined {
  const prefix = `${recordType.toLowerCase()}-`;
  const { length } = host.split('.')[0] ?? '';
  const cannot = 'external-dns cannot mark it with its default flags';
  const flag = 'use --txt-prefix="%{record_type}-mark."';
  if (isAtApex) return `${cannot}, since ${prefix}${host} is not in the zone: ${flag}`;
  if (prefix.length + length <= LONGEST_LABEL) return undefined;
  return `${cannot}, since ${prefix} and its first label have ${prefix.length + length} characters, and DNS allows ${LONGEST_LABEL}: ${flag}`;
}
