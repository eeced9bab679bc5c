import type { V1ConfigMap, V1Deployment, V1Pod } from '@kubernetes/client-node';
import { isDeepStrictEqual } from 'node:util';
import type { ComponentSpec, TrafficStack } from '../../../../src/api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../../src/runtime/client/resource.ts';
import { isEnding, isRemoval, isStack, isWorkload, nameOf, ownerOf, uidOf, type World, type Write } from './world.ts';

/** Expectations of the components, in addition to their specs. */
export interface Expected {
  /** The rendered files of a component with this image; undefined if it has none. */
  readonly filesOf: (component: string, image: string) => Readonly<Record<string, string>> | undefined;
  /** Nodes of high availability. */
  readonly nodes: number;
}

/** The faults of the files of a new pod: they must belong to its image. */
export function wrongFiles({ key, before, object }: Write, { now }: World, { filesOf }: Expected): string[] {
  if (!key.startsWith('/registry/pods/') || before !== undefined || object === undefined) return [];
  const { spec, metadata } = object as V1Pod;
  const wanted = filesOf(nameOf(object), spec?.containers[0]?.image ?? '');
  const names = mountsOf(object);
  const found = names.map((name) => {
    const { data }: V1ConfigMap = { ...now.get(`/registry/configmaps/${metadata?.namespace ?? ''}/${name}`) };
    return data;
  });
  const isAsWanted = isDeepStrictEqual(found, wanted === undefined ? [] : [wanted]);
  return isAsWanted ? [] : [`${key} began with other files than the files of ${spec?.containers[0]?.image ?? ''}`];
}

/** Files that were changed, or removed, under pods of a component that is not being removed. */
export function lostFiles(write: Write, world: World): string[] {
  const { key, before, object } = write;
  if (!key.startsWith('/registry/configmaps/') || before === undefined) return [];
  if (object !== undefined && !isDeepStrictEqual((object as V1ConfigMap).data, (before as V1ConfigMap).data))
    return [`${key} was changed`];
  const stack = world.stackOf(before);
  if (!isRemoval(write) || stack === undefined || isEnding(stack)) return [];
  const users = [...world.now].filter(
    ([each, pod]) =>
      each.startsWith('/registry/pods/') && !isEnding(pod) && mountsOf(pod).includes(before.metadata?.name ?? ''),
  );
  return users.map(([pod]) => `${key} was removed under ${pod}`);
}

/** The names of the ConfigMaps that a pod mounts. */
function mountsOf(pod: KubeObject): string[] {
  return ((pod as V1Pod).spec?.volumes ?? []).flatMap(({ configMap }) => configMap?.name ?? []);
}

/** The faults of a workload of a stack with high availability: its pods are counted by node, and it has a budget before it is made. */
export function notAvailable({ key, before, object }: Write, world: World, { nodes }: Expected): string[] {
  if (!isWorkload(key) || object === undefined) return [];
  const name = nameOf(object);
  const { highAvailability } = world.stackOf(object)?.spec ?? {};
  const spec = componentOf(object, world);
  const isFor =
    highAvailability !== undefined && spec?.highAvailability !== false && spec?.workload?.kind !== 'DaemonSet';
  if (!isFor) return [];
  const { replicas } = (object as V1Deployment).spec ?? {};
  const budget = `/registry/poddisruptionbudgets/${object.metadata?.namespace ?? ''}/${name}`;
  return [
    ...(replicas === nodes ? [] : [`${name} has ${replicas ?? 'no number of'} pods instead of ${nodes}`]),
    ...(before === undefined && !world.now.has(budget) ? [`${name} was made without a budget`] : []),
  ];
}

function componentOf(object: KubeObject, world: World): ComponentSpec | undefined {
  return world.stackOf(object)?.spec.components.find(({ name }) => name === nameOf(object));
}

/** Claims that were removed although they are to be retained. @param specs of all components so far, by name */
export function lostClaims(write: Write, policies: ReadonlyMap<string, string>): string[] {
  const { key, before } = write;
  if (!key.startsWith('/registry/persistentvolumeclaims/') || !isRemoval(write)) return [];
  const policy = policies.get(nameOf(before));
  return policy === 'Delete' ? [] : [`${key} was removed, with the policy ${policy ?? 'Retain'}`];
}

/** The remains of a stack that is gone: objects of its own, or pods. */
export function leftBy({ key, before, object }: Write, { now }: World): string[] {
  if (!isStack(key) || before === undefined || object !== undefined) return [];
  const { spec } = before as TrafficStack;
  const names = new Set(spec.components.map(({ name }) => name));
  return [...now].flatMap(([each, live]) => {
    const isPod = each.startsWith('/registry/pods/') && names.has(nameOf(live));
    return isPod || ownerOf(live) === uidOf(before) ? [`${key} was gone before ${each}`] : [];
  });
}
