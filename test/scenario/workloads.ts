import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import { killContainer } from './kill.ts';
import { getObject, kubectl } from './kubectl.ts';

/** An object, as a status names it. */
export interface ObjectRef {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Such as `Deployment shop/web`, as the messages of a stack have it; a cluster-scoped object has no namespace. */
export function idOfRef({ kind, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}

const whereOf = ({ namespace }: Pick<ObjectRef, 'namespace'>): string[] => (namespace === '' ? [] : ['-n', namespace]);

/** Deletes an object; what it controls is deleted after it. */
export async function deleteObject(ref: ObjectRef): Promise<void> {
  await kubectl('delete', ref.kind, ref.name, ...whereOf(ref), '--wait=false');
}

export async function uidOf(ref: ObjectRef): Promise<string> {
  return kubectl('get', ref.kind, ref.name, ...whereOf(ref), '-o', 'jsonpath={.metadata.uid}');
}

/** The labels that select the pods of a workload, for kubectl. */
async function selectorOf(ref: ObjectRef): Promise<string> {
  const { spec } = await getObject<V1Deployment>(ref.kind, ref.name, ...whereOf(ref));
  return Object.entries(spec?.selector.matchLabels ?? {})
    .map((pair) => pair.join('='))
    .join();
}

/** The pods of a workload. */
export async function podsOf(ref: ObjectRef): Promise<V1Pod[]> {
  const { items } = await getObject<{ items: V1Pod[] }>('pods', ...whereOf(ref), '-l', await selectorOf(ref));
  return items;
}

/** Deletes pods, all of one namespace. */
export async function deletePods(pods: readonly V1Pod[]): Promise<void> {
  const names = pods.map(({ metadata }) => metadata!.name!);
  await kubectl('delete', 'pods', '-n', pods[0]!.metadata!.namespace!, '--wait=false', ...names);
}

/** Kills the processes of all containers of pods. */
export function killPods(pods: readonly V1Pod[]): void {
  for (const { containerID } of pods.flatMap(({ status }) => status?.containerStatuses ?? [])) {
    killContainer(containerID ?? '');
  }
}
