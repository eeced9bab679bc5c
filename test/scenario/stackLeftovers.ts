import type { KubernetesObject } from '@kubernetes/client-node';
import type { TrafficStack } from '../../src/api/trafficstack/trafficStack.ts';
import { NAMESPACE, RELEASE } from './install.ts';
import { getObject, kubectl } from './kubectl.ts';

/** Objects that no stack makes: Kubernetes makes them in each namespace, and the chart in the namespaces of stacks.namespaces. */
const OF_OTHERS = [
  'ConfigMap kube-root-ca.crt',
  'ServiceAccount default',
  `RoleBinding ${NAMESPACE}-${RELEASE}-stacks`,
];

/** A stack that may be gone. */
export async function stackIfAny(name: string): Promise<TrafficStack | undefined> {
  const { items } = await getObject<{ items: TrafficStack[] }>('trafficstacks');
  return items.find(({ metadata }) => metadata?.name === name);
}

/**
 * The remains of a stack that was removed: itself, objects of any kind with its label in any namespace, and all in a namespace that only
 * the stack has used. Without Events.
 */
export async function leftovers(name: string, namespace: string): Promise<string[]> {
  const [all, namespaced] = await Promise.all([kinds(), kinds('--namespaced=true')]);
  const [labelled, own, stack] = await Promise.all([
    objects(all, '--all-namespaces', '-l', `traffic.example.com/stack=${name}`),
    objects(namespaced, '-n', namespace),
    stackIfAny(name),
  ]);
  const found = own.filter(({ kind, metadata }) => !OF_OTHERS.includes(`${kind} ${metadata?.name}`));
  return [...new Set([...(stack === undefined ? [] : [stack]), ...labelled, ...found].map(nameOf))];
}

/** The kinds that can be listed. */
async function kinds(...flags: string[]): Promise<string> {
  const names = (await kubectl('api-resources', '--verbs=list', '-o', 'name', ...flags)).trim().split('\n');
  return names.filter((name) => !/^events(\.|$)/.test(name)).join(',');
}

async function objects(of: string, ...flags: string[]): Promise<KubernetesObject[]> {
  return (await getObject<{ items: KubernetesObject[] }>(of, ...flags)).items;
}

function nameOf({ kind = '', metadata }: KubernetesObject): string {
  const prefix = metadata?.namespace === undefined ? '' : `${metadata.namespace}/`;
  return `${kind} ${prefix}${metadata?.name ?? ''}`;
}
