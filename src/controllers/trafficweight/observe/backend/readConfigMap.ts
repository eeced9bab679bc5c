import { type Client, getIfExists } from '../../../../runtime/client/client.ts';
import { CONFIG_MAPS } from '../../../../runtime/client/resources.ts';
import type { ReadConfigMap } from '../../../../weights/backend/configMap.ts';

/** Returns a function that reads ConfigMaps of the operator's namespace. */
export function configMapsIn(namespace: string, client: Pick<Client, 'get'>): ReadConfigMap {
  return async (name, signal) => {
    const found = await getIfExists(client, CONFIG_MAPS, { namespace, name }, { signal });
    return found === undefined ? undefined : (found.data ?? {});
  };
}
