import type { KubernetesObject, V1Node } from '@kubernetes/client-node';
import { readObjects, servedKinds, type Kind } from '../../scenario/api.ts';
import { getObject } from '../../scenario/kubectl.ts';

/** The content of a clean cluster. */
export interface Baseline {
  readonly nodes: readonly string[];
  /** Keys of objects, see keyOf. */
  readonly objects: readonly string[];
}

/** Kinds that the control plane makes and removes by itself; nodes are not deleted, see cleanUp.ts. */
const NOT_COMPARED = new Set([
  'nodes',
  'csinodes.storage.k8s.io',
  'events',
  'events.events.k8s.io',
  'endpoints',
  'endpointslices.discovery.k8s.io',
  'ipaddresses.networking.k8s.io',
  'leases.coordination.k8s.io',
  'apiservices.apiregistration.k8s.io',
  'certificatesigningrequests.certificates.k8s.io',
]);

export const keyOf = ({ apiVersion, kind, metadata }: KubernetesObject): string =>
  [apiVersion, kind, metadata?.namespace ?? '', metadata?.name].join(' ');

/** Objects of kube-system that have an owner, such as pods, are replaced under other names. */
const isReplaceable = ({ metadata }: KubernetesObject): boolean =>
  metadata?.namespace === 'kube-system' && (metadata.ownerReferences ?? []).length > 0;

/** An object, and its kind. */
export interface Found {
  readonly kind: Kind;
  readonly object: KubernetesObject;
}

/** Every object that can be deleted, of whatever kind and namespace. */
export async function allObjects(): Promise<KubernetesObject[]> {
  return (await inventory()).map(({ object }) => object);
}

/** The same, with their kinds. */
export async function inventory(): Promise<Found[]> {
  const served = await servedKinds();
  const kinds = served.filter(
    ({ name, verbs }) => verbs.includes('list') && verbs.includes('delete') && !NOT_COMPARED.has(name),
  );
  const lists = await Promise.all(
    kinds.map(async (kind) => (await readObjects(kind)).map((object): Found => ({ kind, object }))),
  );
  return lists.flat().filter(({ object }) => !isReplaceable(object));
}

export async function allNodes(): Promise<V1Node[]> {
  return (await getObject<{ items: V1Node[] }>('nodes')).items;
}

/** Reads a clean cluster. */
export async function readBaseline(): Promise<Baseline> {
  const nodes = (await allNodes()).map(({ metadata }) => metadata!.name!);
  return { nodes, objects: (await allObjects()).map(keyOf) };
}
