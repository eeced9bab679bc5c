import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
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

/** On a DNSEndpoint: the last valid value of the source's annotation, percent. */
export const SHARE_ANNOTATION = 'traffic.example.com/traffic-weight';
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

/** The record sets of one host. @param weight integer, 0 to 255 */
export function endpointsOf(
  { host }: Pick<SourceHost, 'host'>,
  weight: number,
  targets: readonly Targets[],
  { clusterName, healthCheckId, recordTtl }: RecordSettings,
): Endpoint[] {
  const providerSpecific = [{ name: WEIGHT, value: String(weight) }];
  if (healthCheckId !== undefined) providerSpecific.push({ name: HEALTH_CHECK, value: healthCheckId });
  return targets.map(({ recordType, targets: values }) => ({
    dnsName: host,
    targets: [...values],
    recordType,
    setIdentifier: clusterName,
    ...(recordTtl !== undefined && { recordTTL: recordTtl }),
    providerSpecific,
  }));
}

/**
 * The weight that a host's record sets carry; undefined if there is none, or it is no integer from 0 to 255: external-dns
 * turns such a weight into 0.
 */
export function weightIn(endpoint: DnsEndpoint | undefined, host: string): number | undefined {
  const record = endpoint?.spec?.endpoints?.find(({ dnsName }) => dnsName === host);
  const text = record?.providerSpecific?.find(({ name }) => name === WEIGHT)?.value;
  return text !== undefined && /^[0-9]{1,3}$/.test(text) && Number(text) <= MOST_WEIGHT ? Number(text) : undefined;
}

/** The share that a DNSEndpoint keeps; undefined if it keeps none that is valid. */
export function shareIn(endpoint: DnsEndpoint | undefined): number | undefined {
  const text = endpoint?.metadata?.annotations?.[SHARE_ANNOTATION];
  const read = text === undefined ? undefined : readShare(text);
  return read !== undefined && 'value' in read ? read.value : undefined;
}
