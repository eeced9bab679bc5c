import type { Client } from '../client/client.ts';
import { isNotFound } from '../client/errors.ts';
import { keyOf, refOfKey, type KubeObject, type Resource } from '../client/resource.ts';

/** Whether deletion of the object waits for `finalizer`. */
export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata?.finalizers?.includes(finalizer) ?? false;
}

/**
 * Puts a finalizer on an object; writes nothing when it is there.
 *
 * @returns the object as it is then
 * @throws ApiError 409 when the object has changed since it was read: the list of finalizers is written whole
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
 * Takes a finalizer off an object, leaving those of others; writes nothing when it is not there. That the object is
 * gone is success.
 *
 * @throws ApiError 409 when the object has changed since it was read
 */
export async function removeFinalizer<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  finalizer: string,
  fieldManager: string,
): Promise<void> {
  if (!hasFinalizer(object, finalizer)) {
    return;
  }
  const rest = object.metadata?.finalizers?.filter((other) => other !== finalizer) ?? [];
  try {
    await client.mergePatch(resource, refOfKey(keyOf(object)), finalizersPatch(object, rest), { fieldManager });
  } catch (error) {
    if (!isNotFound(error)) {
      throw error;
    }
  }
}

/**
 * The merge patch that sets an object's finalizers. It carries the uid and the resource version that were read: the API
 * server refuses it (409) for an object of the same name made since, and when somebody else changed the list meanwhile.
 */
function finalizersPatch(object: KubeObject, finalizers: readonly string[]): unknown {
  const { uid, resourceVersion } = object.metadata ?? {};
  return { metadata: { uid, resourceVersion, finalizers } };
}
