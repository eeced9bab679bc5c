import type { Client } from '../../../../runtime/client/client.ts';
import { isNotFound } from '../../../../runtime/client/errors.ts';
import { CONFIG_MAPS } from '../../../../runtime/client/resources.ts';
import type { ReadConfigMap } from '../../../../weights/backend/configMap.ts';

/** Reads the ConfigMaps of the operator's namespace. */
export function configMapsIn(namespace: string, client: Pick<Client, 'get'>): ReadConfigMap {
  return async (name, signal) => {
    try {
      const { data } = await client.get(CONFIG_MAPS, { namespace, name }, { signal });
      return data ?? {};
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
}
