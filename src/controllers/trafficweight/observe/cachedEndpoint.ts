import { identityOf } from '../../../runtime/cache/bodyBudget.ts';
import { withoutManagedFields } from '../../../runtime/cache/informer.ts';
import { OWNER_LABEL } from '../../../weights/plan/plan.ts';
import { sourceUidOf } from '../../../weights/records/dnsEndpoint.ts';
import type { DnsEndpoint } from '../../../weights/records/endpoint.ts';

/**
 * Keeps a DNSEndpoint that an Ingress or HTTPRoute controls. Reduces any other to its identity: the operator does not touch
 * it, whatever it contains.
 */
export function toCachedEndpoint(endpoint: DnsEndpoint): DnsEndpoint {
  return sourceUidOf(endpoint) === undefined ? identityOf(endpoint) : withoutManagedFields(endpoint);
}

/** Characters of the kind and the uid of a real owner. The API server takes any text. */
const LONGEST_OWNER = 100;

/** Reduces a DNSEndpoint whose body the cache drops to its identity, its source and its TrafficWeight. */
export function identityOfEndpoint(endpoint: DnsEndpoint): DnsEndpoint {
  const { metadata, ...rest } = identityOf(endpoint, [OWNER_LABEL]);
  const controller = endpoint.metadata?.ownerReferences?.find((owner) => owner.controller === true);
  const isBounded = controller !== undefined && controller.kind.length + controller.uid.length <= LONGEST_OWNER;
  const { kind = '', uid = '' } = controller ?? {};
  const ownerReferences = isBounded ? [{ apiVersion: '', kind, name: '', uid, controller: true }] : [];
  return { ...rest, metadata: { ...metadata, ownerReferences } };
}
