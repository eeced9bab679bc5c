import type { CallOptions, Client, ObjectRef } from './client.ts';
import { isNotFound } from './errors.ts';
import type { KubeObject, Resource } from './resource.ts';

/**
 * Reads one object from the API server; undefined if there is none.
 *
 * @throws ApiError, TransportError
 */
export async function getIfExists<T extends KubeObject>(
  client: Pick<Client, 'get'>,
  resource: Resource<T>,
  ref: ObjectRef,
  options?: CallOptions,
): Promise<T | undefined> {
  try {
    return await client.get(resource, ref, options);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
