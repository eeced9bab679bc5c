import type { Client } from '../client/client.ts';
import { isNotFound } from '../client/errors.ts';
import { keyOf, refOfKey, type KubeObject, type Resource } from '../client/resource.ts';

/** True if the object has the finalizer. */
export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata?.finalizers?.includes(finalizer) ?? false;
}

/**
 * Adds a finalizer to an object. Writes nothing if the object has it.
 *
 * @returns the updated object
 * @throws ApiError 409 if the object changed since it was read, because the patch replaces the list of finalizers
 */
export async function addFinalizer<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  finalizer: string,
  fieldManager: string,
): Promise<T> {
  if (hasFinalizer(object, finalizer)) {
    return object;
  }
  const patch = finalizersPatch(object, [...(object.metadata?.finalizers ?? []), finalizer]);
  return client.mergePatch(resource, refOfKey(keyOf(object)), patch, { fieldManager });
}

/**
 * Removes a finalizer from an object and keeps the others. Writes nothing if the object does not have it. Succeeds if
 * the object does not exist.
 *
 * @returns the object after the write; undefined if it does not exist
 * @throws ApiError 409 if the object changed since it was read
 */
export async function removeFinalizer<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  finalizer: string,
  fieldManager: string,
): Promise<T | undefined> {
  if (!hasFinalizer(object, finalizer)) {
    return object;
  }
  const rest = object.metadata?.finalizers?.filter((other) => other !== finalizer) ?? [];
  try {
    return await client.mergePatch(resource, refOfKey(keyOf(object)), finalizersPatch(object, rest), { fieldManager });
  } catch (error) {
    if (!isNotFound(error)) {
      throw error;
    }
    return undefined;
  }
}

/**
 * The merge patch that sets the finalizers of an object. It contains the uid and resource version that were read. The
 * API server therefore returns 409 if the object was replaced or changed since.
 */
function finalizersPatch(object: KubeObject, finalizers: readonly string[]): unknown {
  const { uid, resourceVersion } = object.metadata ?? {};
  return { metadata: { uid, resourceVersion, finalizers } };
}
