import type { V1Node } from '@kubernetes/client-node';
import { getObject } from './kubectl.ts';
import { unfitKey } from '../harness/unfitKey.ts';

const SUFFIX = 'traffic.example.com';

/** Node name -> value of the label; undefined if the node does not have the label. */
export async function labels(watch: string, namespace = 'default'): Promise<Record<string, string | undefined>> {
  const { items } = await getObject<{ items: V1Node[] }>('nodes');
  const key = unfitKey(watch, namespace);
  return Object.fromEntries(items.map(({ metadata }) => [metadata!.name!, metadata?.labels?.[key]]));
}

/** The keys of all labels of the operator on nodes, of any TrafficWatch. */
export async function ownLabels(): Promise<string[]> {
  const { items } = await getObject<{ items: V1Node[] }>('nodes');
  const keys = items.flatMap(({ metadata }) => Object.keys(metadata?.labels ?? {}));
  return keys.filter((key) => key.split('/')[0]!.endsWith(SUFFIX));
}
