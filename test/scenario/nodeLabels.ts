import type { V1Node } from '@kubernetes/client-node';
import { getObject } from './kubectl.ts';

const SUFFIX = 'traffic.example.com';

/** Of a TrafficWatch that does not name its label. */
export const labelKey = (watch: string): string => `${watch}.${SUFFIX}/unfit`;

/** The label's value by the node's name; undefined where a node has none. */
export async function labels(watch: string): Promise<Record<string, string | undefined>> {
  const { items } = await getObject<{ items: V1Node[] }>('nodes');
  return Object.fromEntries(items.map(({ metadata }) => [metadata!.name!, metadata?.labels?.[labelKey(watch)]]));
}

/** Keys of all labels on nodes that are the operator's, of whatever TrafficWatch and for whatever they are. */
export async function ownLabels(): Promise<string[]> {
  const { items } = await getObject<{ items: V1Node[] }>('nodes');
  const keys = items.flatMap(({ metadata }) => Object.keys(metadata?.labels ?? {}));
  return keys.filter((key) => key.split('/')[0]!.endsWith(SUFFIX));
}
