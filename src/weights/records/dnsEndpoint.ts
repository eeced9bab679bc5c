import type { V1OwnerReference } from '@kubernetes/client-node';
import { apiVersionOf } from '../../runtime/client/resource.ts';
import { DNS_ENDPOINTS, KEPT_ANNOTATION, keptText, type DnsEndpoint } from './endpoint.ts';
import type { SourceRecords } from './records.ts';
import { endpointNameOf, SOURCE_KINDS, type Source } from './source.ts';

/** Hosts of a source whose records fit into one DNSEndpoint: each takes about 200 bytes of the 1.5 MiB that etcd takes. */
export const MOST_HOSTS = 4_000;

/**
 * The DNSEndpoint of a source: in its namespace, and deleted with it, as the original's. Undefined if it has
 * no record: an empty one would look like a mistake.
 */
export function dnsEndpointOf(source: Source, { endpoints, kept }: SourceRecords): DnsEndpoint | undefined {
  if (endpoints.length === 0) return undefined;
  const { apiVersion, kind, name, namespace, uid } = source;
  return {
    apiVersion: apiVersionOf(DNS_ENDPOINTS),
    kind: DNS_ENDPOINTS.kind,
    metadata: {
      ...{ name: endpointNameOf(source), namespace },
      ...(kept !== undefined && { annotations: { [KEPT_ANNOTATION]: keptText(kept) } }),
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    spec: { endpoints: [...endpoints] },
  };
}

/**
 * Whether a DNSEndpoint is the source's: its controller is this very source. Another one of the same name is somebody
 * else's, and is left alone.
 */
export function isOf(endpoint: DnsEndpoint, { kind, uid }: Pick<Source, 'kind' | 'uid'>): boolean {
  const controller = controllerOf(endpoint);
  return controller?.kind === kind && controller.uid === uid;
}

/** The uid of the source that a DNSEndpoint is of, also of one that is gone; undefined if it is of none. */
export function sourceUidOf(endpoint: DnsEndpoint): string | undefined {
  const controller = controllerOf(endpoint);
  return SOURCE_KINDS.some((kind) => kind === controller?.kind) ? controller?.uid : undefined;
}

function controllerOf({ metadata }: DnsEndpoint): V1OwnerReference | undefined {
  return metadata?.ownerReferences?.find((owner) => owner.controller === true);
}
