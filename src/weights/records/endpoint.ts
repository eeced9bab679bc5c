import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import { normal } from './domain.ts';
import type { SourceHost } from './source.ts';
import type { Targets } from './targets.ts';
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

/** On a DNSEndpoint: what holds while the annotation of its source is invalid, a KeptShare as text. */
export const KEPT_ANNOTATION = 'traffic.example.com/last-valid-weight';
/** TTL of a record without one, seconds: that of external-dns' AWS provider. */
export const DEFAULT_TTL = 300;
const WEIGHT = 'aws/weight';
const HEALTH_CHECK = 'aws/health-check-id';

/** What all record sets of a cluster have. */
export interface RecordSettings {
  /** Distinguishes the record sets of the clusters. */
  readonly clusterName: string;
  readonly healthCheckId?: string | undefined;
  /** Seconds. */
  readonly recordTtl?: number | undefined;
}

/** Where records of one type lead to, and their TTL in seconds; undefined for that of external-dns. */
export interface TargetsWithTtl extends Targets {
  readonly ttl: number | undefined;
}

/** The record sets of one host. @param weight integer, 0 to 255 */
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

/** The hosts of records, as DNS compares them, distinct. */
export function hostsIn(records: readonly Endpoint[] = []): string[] {
  return [...new Set(records.map(({ dnsName }) => normal(dnsName)))];
}

/** The longest TTL of records, seconds; 0 without records. */
export function longestTtl(endpoints: Iterable<DnsEndpoint | undefined>): number {
  let longest = 0;
  for (const endpoint of endpoints) {
    for (const { recordTTL = DEFAULT_TTL } of endpoint?.spec?.endpoints ?? []) longest = Math.max(longest, recordTTL);
  }
  return longest;
}

/** The weight of a host's records; undefined if it has none, or one that is no integer from 0 to 255. */
export function weightIn({ spec }: DnsEndpoint, host: string): number | undefined {
  const record = spec?.endpoints?.find(({ dnsName }) => normal(dnsName) === host);
  return record && readWeight(weightText(record));
}

/** Where the records of a DNSEndpoint lead to, as they are: all of its hosts have the same. */
export function targetsIn({ spec }: DnsEndpoint): Targets[] {
  const [first] = spec?.endpoints ?? [];
  return (spec?.endpoints ?? [])
    .filter(({ dnsName }) => dnsName === first?.dnsName)
    .flatMap(({ recordType, targets }) =>
      recordType === 'CNAME' || recordType === 'A' || recordType === 'AAAA' ? [{ recordType, targets }] : [],
    );
}

/**
 * What the annotation of a source last meant. `Weight` is the weight of a record that was there before anything was kept,
 * such as one of k8s-traffic-controller: its share is unknown.
 */
export type KeptShare =
  | { readonly kind: 'None' }
  | { readonly kind: 'Percent'; readonly percent: number }
  | { readonly kind: 'Weight'; readonly weight: number };

const NONE = 'none';
const PERCENT = '%';

/** The text of KEPT_ANNOTATION: `none`, `25%`, or a weight such as `38`. */
export function keptText(kept: KeptShare): string {
  if (kept.kind === 'None') return NONE;
  return kept.kind === 'Percent' ? `${kept.percent}${PERCENT}` : String(kept.weight);
}

/** What a DNSEndpoint keeps: of its annotation, else the highest weight of its records. Undefined if there is neither. */
export function keptIn(endpoint: DnsEndpoint | undefined): KeptShare | undefined {
  const text = endpoint?.metadata?.annotations?.[KEPT_ANNOTATION];
  if (text === NONE) return { kind: 'None' };
  const percent = text?.endsWith(PERCENT) === true ? readShare(text.slice(0, -PERCENT.length)) : undefined;
  if (percent !== undefined && 'value' in percent) return { kind: 'Percent', percent: percent.value };
  const kept = readWeight(text);
  if (kept !== undefined) return { kind: 'Weight', weight: kept };
  const weights = (endpoint?.spec?.endpoints ?? []).flatMap((record) => readWeight(weightText(record)) ?? []);
  return weights.length === 0 ? undefined : { kind: 'Weight', weight: Math.max(...weights) };
}

/** The weight of a record; undefined if it is no integer from 0 to 255: external-dns turns such a weight into 0. */
function readWeight(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,3}$/.test(text) && Number(text) <= MOST_WEIGHT ? Number(text) : undefined;
}

function weightText({ providerSpecific }: Endpoint): string | undefined {
  return providerSpecific?.find(({ name }) => name === WEIGHT)?.value;
}
