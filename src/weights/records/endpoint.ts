import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import { normal } from './domain.ts';
import type { Targets, SourceHost } from './source.ts';
import { MOST_WEIGHT, readShare } from './weight.ts';

/** One record set, as external-dns' CRD has it. */
export interface Endpoint {
  dnsName: string;
  targets: string[];
  recordType: string;
  setIdentifier?: string;
  /** Seconds. Absent: 300, the default of external-dns' AWS provider. */
  recordTTL?: number;
  providerSpecific?: { name: string; value: string }[];
}

/** externaldns.k8s.io/v1alpha1, the part that is read and written here. */
export interface DnsEndpoint extends KubeObject {
  spec?: { endpoints?: Endpoint[] };
  status?: { observedGeneration?: number };
}

export const DNS_ENDPOINTS: Resource<DnsEndpoint> = {
  group: 'externaldns.k8s.io',
  version: 'v1alpha1',
  kind: 'DNSEndpoint',
  plural: 'dnsendpoints',
  namespaced: true,
};

/** Annotation of a DNSEndpoint: the KeptShare, as text, that applies while the annotation of its source is invalid. */
export const KEPT_ANNOTATION = 'traffic.example.com/last-valid-weight';
/** TTL of a record without a TTL, seconds: the default of external-dns' AWS provider. */
export const DEFAULT_TTL = 300;
const WEIGHT = 'aws/weight';
const HEALTH_CHECK = 'aws/health-check-id';

/** Settings of all record sets of a cluster. */
export interface RecordSettings {
  /** Distinguishes the record sets of the clusters. */
  readonly clusterName: string;
  readonly healthCheckId?: string | undefined;
  /** Seconds. */
  readonly recordTtl?: number | undefined;
}

/** The targets of records of one type, and their TTL in seconds; undefined for the default of external-dns. */
export interface TargetsWithTtl extends Targets {
  readonly ttl: number | undefined;
}

/** Returns the record sets of one host. @param weight integer, 0 to 255 */
export function endpointsOf(
  { host }: Pick<SourceHost, 'host'>,
  weight: number,
  targets: readonly TargetsWithTtl[],
  { clusterName, healthCheckId }: Omit<RecordSettings, 'recordTtl'>,
): Endpoint[] {
  const providerSpecific = [{ name: WEIGHT, value: String(weight) }];
  if (healthCheckId !== undefined) providerSpecific.push({ name: HEALTH_CHECK, value: healthCheckId });
  return targets.map(({ recordType, targets: values, ttl }) => ({
    dnsName: host,
    targets: [...values],
    recordType,
    setIdentifier: clusterName,
    ...(ttl !== undefined && { recordTTL: ttl }),
    providerSpecific,
  }));
}

/** Returns the distinct hosts of records, see `normal`. */
export function hostsIn(records: readonly Endpoint[] = []): string[] {
  return [...new Set(records.map(({ dnsName }) => normal(dnsName)))];
}

/** Longest TTL that counts, seconds: resolvers keep a record no longer than about a day (RFC 8767), and whoever may write a record must not stop a ramp. */
const LONGEST_COUNTED_TTL = 86_400;

/** Returns the longest TTL of records, seconds, at most a day; 0 without records. */
export function longestTtl(endpoints: Iterable<DnsEndpoint | undefined>): number {
  let longest = 0;
  for (const endpoint of endpoints) {
    for (const { recordTTL = DEFAULT_TTL } of endpoint?.spec?.endpoints ?? []) longest = Math.max(longest, recordTTL);
  }
  return Math.min(longest, LONGEST_COUNTED_TTL);
}

/** Returns the weight of a host's records; undefined without a weight that is an integer from 0 to 255. */
export function weightIn({ spec }: DnsEndpoint, host: string): number | undefined {
  const record = spec?.endpoints?.find(({ dnsName }) => normal(dnsName) === host);
  return record && recordWeight(record);
}

/** Returns the weight of a record; undefined without a weight that is an integer from 0 to 255. */
export function recordWeight(record: Endpoint): number | undefined {
  return readWeight(weightText(record));
}

/** Returns the record with a weight of at most `most`. */
export function atMost(record: Endpoint, most: number): Endpoint {
  if ((recordWeight(record) ?? most) <= most) return record;
  const providerSpecific = record.providerSpecific?.map((each) =>
    each.name === WEIGHT ? { ...each, value: String(most) } : each,
  );
  return { ...record, ...(providerSpecific !== undefined && { providerSpecific }) };
}

/** Returns the targets of the records of a DNSEndpoint: all its hosts have the same. */
export function targetsIn({ spec }: DnsEndpoint): Targets[] {
  const [first] = spec?.endpoints ?? [];
  return (spec?.endpoints ?? [])
    .filter(({ dnsName }) => dnsName === first?.dnsName)
    .flatMap(({ recordType, targets }) =>
      recordType === 'CNAME' || recordType === 'A' || recordType === 'AAAA' ? [{ recordType, targets }] : [],
    );
}

/**
 * The last valid value of the annotation of a source. `Weight` is the weight of a record without KEPT_ANNOTATION, for example
 * from k8s-traffic-controller: its share is unknown.
 */
export type KeptShare =
  | { readonly kind: 'None' }
  | { readonly kind: 'Percent'; readonly percent: number }
  | { readonly kind: 'Weight'; readonly weight: number };

const NONE = 'none';
const PERCENT = '%';

/** Returns the text of KEPT_ANNOTATION: `none`, `25%`, or a weight such as `38`. */
export function keptText(kept: KeptShare): string {
  if (kept.kind === 'None') return NONE;
  return kept.kind === 'Percent' ? `${kept.percent}${PERCENT}` : String(kept.weight);
}

/** Reads KEPT_ANNOTATION; without a valid one, returns the highest weight of the records. Undefined without both. */
export function keptIn(endpoint: DnsEndpoint | undefined): KeptShare | undefined {
  const text = endpoint?.metadata?.annotations?.[KEPT_ANNOTATION];
  if (text === NONE) return { kind: 'None' };
  const percent = text?.endsWith(PERCENT) === true ? readShare(text.slice(0, -PERCENT.length)) : undefined;
  if (percent !== undefined && 'value' in percent) return { kind: 'Percent', percent: percent.value };
  const kept = readWeight(text);
  if (kept !== undefined) return { kind: 'Weight', weight: kept };
  const weights = (endpoint?.spec?.endpoints ?? []).flatMap((record) => recordWeight(record) ?? []);
  return weights.length === 0 ? undefined : { kind: 'Weight', weight: Math.max(...weights) };
}

/** Returns the weight of a record; undefined unless it is an integer from 0 to 255: external-dns turns other texts into 0. */
function readWeight(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,3}$/.test(text) && Number(text) <= MOST_WEIGHT ? Number(text) : undefined;
}

function weightText({ providerSpecific }: Endpoint): string | undefined {
  return providerSpecific?.find(({ name }) => name === WEIGHT)?.value;
}
