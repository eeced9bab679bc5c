import type { V1OwnerReference } from '@kubernetes/client-node';
import { apiVersionOf } from '../../runtime/client/resource.ts';
import { MOST_WEIGHT } from './weight.ts';
import { isWithin } from './domain.ts';
import { DEFAULT_TTL, DNS_ENDPOINTS, endpointsOf, KEPT_ANNOTATION, keptText, type DnsEndpoint } from './endpoint.ts';
import type { SourceRecords, WeightSettings } from './records.ts';
import { endpointNameOf, SOURCE_KINDS, type Source } from './source.ts';

/** The most hosts of a source that is planned: it limits the work for one object. */
export const MOST_HOSTS = 4_000;

/** Characters of the name of an object: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ */
const LONGEST_NAME = 253;
/** Bytes of the records of a DNSEndpoint: etcd stores objects of up to 1.5 MiB, with their metadata. */
export const MOST_BYTES = 1_400_000;

/** Why the API server would refuse the DNSEndpoint of a source. */
export interface Refusal {
  readonly reason: 'NameTooLong' | 'TooLarge';
  /** For users: the problem, and what to do. */
  readonly problem: string;
}

/**
 * Returns why a source gets no DNSEndpoint, whatever the state of the cluster is; undefined if it can have one. The API server would
 * refuse each write, and each would count as failed. A size is an estimate: all hosts count, with their longest records.
 */
export function refusalOf(source: Source, settings: WeightSettings): Refusal | undefined {
  const { length } = endpointNameOf(source);
  if (length > LONGEST_NAME) {
    const problem = `its DNSEndpoint would have a name of ${length} characters, and Kubernetes allows ${LONGEST_NAME}. Give the ${source.kind} a shorter name`;
    return { reason: 'NameTooLong', problem };
  }
  const bytes = bytesOf(source, settings);
  if (bytes <= MOST_BYTES) return undefined;
  const problem = `its DNSEndpoint would have ${bytes} bytes, and ${MOST_BYTES} fit. Divide its hosts among several objects of the kind ${source.kind}`;
  return { reason: 'TooLarge', problem };
}

/** Returns the most bytes that the records of a source take. */
function bytesOf(
  { hosts, targets }: Source,
  { bindingDomain, recordTtl = DEFAULT_TTL, ...settings }: WeightSettings,
): number {
  const records = endpointsOf(
    { host: '' },
    MOST_WEIGHT,
    targets.map((one) => ({ ...one, ttl: recordTtl })),
    settings,
  );
  const withoutHost = Buffer.byteLength(JSON.stringify(records));
  return hosts.reduce(
    (bytes, { host }) => (isWithin(host, bindingDomain) ? bytes + withoutHost + targets.length * host.length : bytes),
    0,
  );
}

/**
 * Returns the DNSEndpoint of a source: in its namespace, and deleted with it, as in k8s-traffic-controller. Undefined if the
 * source has no record, since an empty DNSEndpoint would look like a mistake.
 *
 * @param heir the source that gets a host of it next: the garbage collector does not delete an object that has another owner, so
 *   that the records stay until the heir has its own
 */
export function dnsEndpointOf(
  source: Source,
  { endpoints, kept }: SourceRecords,
  heir?: Source,
): DnsEndpoint | undefined {
  if (endpoints.length === 0) return undefined;
  const { namespace } = source;
  return {
    apiVersion: apiVersionOf(DNS_ENDPOINTS),
    kind: DNS_ENDPOINTS.kind,
    metadata: {
      ...{ name: endpointNameOf(source), namespace },
      ...(kept !== undefined && { annotations: { [KEPT_ANNOTATION]: keptText(kept) } }),
      ownerReferences: [{ ...ownerOf(source), controller: true }, ...(heir === undefined ? [] : [ownerOf(heir)])],
    },
    spec: { endpoints: [...endpoints] },
  };
}

function ownerOf({ apiVersion, kind, name, uid }: Source): V1OwnerReference {
  return { apiVersion, kind, name, uid };
}

/**
 * Returns whether the source controls the DNSEndpoint, by kind, API group, name and uid: the API server takes any text as an owner, and admission
 * policies compare other fields than the uid. The operator does not touch a DNSEndpoint that has only the name of the source.
 */
export function isOf(endpoint: DnsEndpoint, source: Pick<Source, 'apiVersion' | 'kind' | 'name' | 'uid'>): boolean {
  const controller = controllerOf(endpoint);
  if (controller?.kind !== source.kind || groupOf(controller) !== groupOf(source)) return false;
  return controller.name === source.name && controller.uid === source.uid;
}

/** Returns the API group of a kind that is not of the core group. */
function groupOf({ apiVersion }: Pick<Source, 'apiVersion'>): string | undefined {
  return apiVersion.split('/', 1)[0];
}

/** Returns the uid of the source that controls a DNSEndpoint, also of a deleted source; undefined without such a controller. */
export function sourceUidOf(endpoint: DnsEndpoint): string | undefined {
  const controller = controllerOf(endpoint);
  return SOURCE_KINDS.some((kind) => kind === controller?.kind) ? controller?.uid : undefined;
}

/** Returns the uid of the heir that a DNSEndpoint without a controller is left to; undefined while it has one. */
export function heirUidOf(endpoint: DnsEndpoint): string | undefined {
  if (controllerOf(endpoint) !== undefined) return undefined;
  return endpoint.metadata?.ownerReferences?.find((owner) => SOURCE_KINDS.some((kind) => kind === owner.kind))?.uid;
}

/** Returns whether any object controls a DNSEndpoint. */
export function hasController(endpoint: DnsEndpoint): boolean {
  return controllerOf(endpoint) !== undefined;
}

function controllerOf({ metadata }: DnsEndpoint): V1OwnerReference | undefined {
  return metadata?.ownerReferences?.find((owner) => owner.controller === true);
}
