import type { KubeObject } from '../../../runtime/client/resource.ts';

/** Bytes that each host and each Service of a source takes in an index, in the plan, and in metrics. */
export const BYTES_OF_NAME = 300;

/** Reduces an object to the fields by which a cache identifies it. */
export function trimmed({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, resourceVersion } = metadata ?? {};
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: { name, namespace, resourceVersion },
  };
}
