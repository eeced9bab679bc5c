import type { Client, ListOptions } from './client.ts';
import { isNotFound } from './errors.ts';
import type { KubeObject, Resource } from './resource.ts';

/** All objects of a kind; none if the API server does not serve the kind. @throws ApiError, TransportError */
export async function listServed<T extends KubeObject>(
  client: Pick<Client, 'list'>,
  resource: Resource<T>,
  options?: ListOptions,
): Promise<T[]> {
  try {
    return await client.list(resource, options);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
