import { applyMergePatch } from '../../apply/mergePatch.ts';
import { createOverlay, type Overlay } from '../../cache/overlay.ts';
import { Store } from '../../cache/store.ts';
import type { Client } from '../../client/client.ts';
import { keyOf, type KubeObject, type Resource } from '../../client/resource.ts';
import type { Condition } from '../../controller/conditions.ts';

/** A made-up kind with a status. */
export interface Gadget extends KubeObject {
  status?: { conditions?: Condition[]; size?: number };
}

export const GADGETS: Resource<Gadget> = {
  group: 'test.example.com',
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  namespaced: true,
};

export function aGadget(metadata: KubeObject['metadata'] = {}): Gadget {
  const { group, version, kind } = GADGETS;
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: 'web', namespace: 'shop', uid: 'uid-web', generation: 1, resourceVersion: '1', ...metadata },
  };
}

/** Gadgets as an API server has them, and as an informer that is behind it. */
export interface GadgetWorld {
  /** What the API server has. */
  readonly stored: Store<Gadget>;
  /** What the informer has; changes only when the test says so. */
  readonly cache: Store<Gadget>;
  readonly objects: Overlay<Gadget>;
  readonly client: Client;
  /** Bodies of status patches. */
  readonly patches: unknown[];
  /** Reasons of events. */
  readonly events: string[];
  /** Asked before each write; what it returns is thrown. */
  refuse: (verb: 'patch' | 'create', resource: Resource) => Error | undefined;
  /** What the API server keeps of an object that is written. */
  keep: (gadget: Gadget) => Gadget;
}

export function gadgetWorld(...gadgets: Gadget[]): GadgetWorld {
  const world = {
    stored: new Store<Gadget>(),
    cache: new Store<Gadget>(),
    patches: [] as unknown[],
    events: [] as string[],
    refuse: (() => undefined) as GadgetWorld['refuse'],
    keep: ((gadget) => gadget) as GadgetWorld['keep'],
  };
  for (const gadget of gadgets) for (const store of [world.stored, world.cache]) store.set(gadget);
  const objects = createOverlay({ lister: world.cache, subscribe: () => () => undefined });
  return Object.assign(world, { objects, client: clientOf(world) });
}

function clientOf(world: Omit<GadgetWorld, 'objects' | 'client'>): Client {
  let version = 100;
  const client: Pick<Client, 'mergePatch' | 'create'> = {
    mergePatch: async (resource, ref, patch) => {
      await Promise.resolve();
      const error = world.refuse('patch', resource);
      if (error) throw error;
      world.patches.push(patch);
      const before = world.stored.get(keyOf({ metadata: ref }));
      const patched = applyMergePatch(before, patch) as Gadget;
      const metadata = { ...patched.metadata, resourceVersion: String(++version) };
      const after = world.keep({ ...patched, metadata });
      world.stored.set(after);
      return after as never;
    },
    create: async (resource, object) => {
      await Promise.resolve();
      const error = world.refuse('create', resource);
      if (error) throw error;
      world.events.push((object as { reason?: string }).reason ?? '');
      return object;
    },
  };
  return client as Client;
}
