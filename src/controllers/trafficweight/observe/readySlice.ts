import type { V1EndpointSlice } from '@kubernetes/client-node';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { trimmed } from './trimmed.ts';

const SERVICE_NAME = 'kubernetes.io/service-name';

/** An EndpointSlice as the cache keeps it. */
export interface ReadySlice extends KubeObject {
  /** `namespace/name` of its Service; undefined if it belongs to none. */
  readonly service: string | undefined;
  /** Whether one of its endpoints is ready. */
  readonly isReady: boolean;
}

/**
 * Keeps the fields of an EndpointSlice that a weight needs. An endpoint of unknown readiness is ready: EndpointConditions.ready in
 * https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/.
 */
export function trimSlice(object: KubeObject): ReadySlice {
  const { metadata, endpoints } = object as V1EndpointSlice;
  const { namespace, labels } = metadata ?? {};
  const service = labels?.[SERVICE_NAME];
  return {
    ...trimmed(object),
    service: service === undefined ? undefined : `${namespace}/${service}`,
    // The API server may leave out an empty list.
    isReady: ((endpoints as typeof endpoints | null) ?? []).some(({ conditions }) => conditions?.ready !== false),
  };
}
