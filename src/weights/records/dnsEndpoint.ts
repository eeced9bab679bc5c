import type { V1OwnerReference } from '@kubernetes/client-node';
import { apiVersionOf } from '../../runtime/client/resource.ts';
import { DNS_ENDPOINTS, KEPT_ANNOTATION, keptText, type DnsEndpoint } from './endpoint.ts';
import type { SourceRecords } from './records.ts';
import { endpointNameOf, SOURCE_KINDS, type Source } from './source.ts';

/** The most hosts of a DNSEndpoint: each takes about 200 bytes, and etcd stores objects of up to 1.5 MiB. */
export const MOST_HOSTS = 4_000;

/**
 * Returns the DNSEndpoint of a source: in its namespace, and deleted with it, as in k8s-traffic-controller. Undefined if the
 * source has no record, since an empty DNSEndpoint would look like a mistake.
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
 * Returns whether the source controls the DNSEndpoint, by kind and uid. The operator does not touch a DNSEndpoint that has only
 * the name of the source.
 */
export function isOf(endpoint: DnsEndpoint, { kind, uid }: Pick<Source, 'kind' | 'uid'>): boolean {
  const controller = controllerOf(endpoint);
  return controller?.kind === kind && controller.uid === uid;
}

/** Returns the uid of the source that controls a DNSEndpoint, also of a deleted source; undefined without such a controller. */
export function sourceUidOf(endpoint: DnsEndpoint): string | undefined {
  const controller = controllerOf(endpoint);
  return SOURCE_KINDS.some((kind) => kind === controller?.kind) ? controller?.uid : undefined;
}

function controllerOf({ metadata }: DnsEndpoint): V1OwnerReference | undefined {
  return metadata?.ownerReferences?.find((owner) => owner.controller === true);
}
