import type { KubeObject } from '../../../runtime/client/resource.ts';

/** What a cache needs to know an object by. */
export function trimmed({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, resourceVersion } = metadata ?? {};
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: { name, namespace, resourceVersion },
  };
}
