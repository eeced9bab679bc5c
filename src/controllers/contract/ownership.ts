import type { V1Pod } from '@kubernetes/client-node';
import type { Client } from '../../runtime/client/client.ts';
import { keyOf } from '../../runtime/client/resource.ts';
import { PODS } from '../../runtime/client/resources.ts';
import { isOwnedBy } from '../../runtime/objectSet/objectSet.ts';
import { OWNER } from './labels.ts';

/**
 * The pods in a namespace that are not ours, as 'namespace/name'.
 *
 * @throws ApiError, TransportError
 */
export async function listStrangers(client: Client, namespace: string): Promise<string[]> {
  const pods = await client.list(PODS, { namespace });
  return pods.filter((pod) => !isOurPod(pod)).map(keyOf);
}

/**
 * Recognizes our pods by the labels of our template. Passes only labels to isOwnedBy, which rejects objects with a
 * controller.
 */
export function isOurPod({ metadata }: V1Pod): boolean {
  return isOwnedBy(OWNER, { metadata: { labels: metadata?.labels ?? {} } });
}
