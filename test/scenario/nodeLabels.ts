import type { V1Node } from '@kubernetes/client-node';
import { getObject } from './kubectl.ts';

const SUFFIX = 'traffic.example.com';

/** The label key of a TrafficWatch without `spec.label`. */
export const labelKey = (watch: string): string => `${watch}.${SUFFIX}/unfit`;

/** Node name -> value of the label; undefined if the node does not have the label. */
export async function labels(watch: string): Promise<Record<string, string | undefined>> {
  const { items } = await getObject<{ items: V1Node[] }>('nodes');
  return Object.fromEntries(items.map(({ metadata }) => [metadata!.name!, metadata?.labels?.[labelKey(watch)]]));
}

/** The keys of all labels of the operator on nodes, of any TrafficWatch. */
export async function ownLabels(): Promise<string[]> {
  const { items } = await getObject<{ items: V1Node[] }>('nodes');
  const keys = items.flatMap(({ metadata }) => Object.keys(metadata?.labels ?? {}));
  return keys.filter((key) => key.split('/')[0]!.endsWith(SUFFIX));
}
