import type { EventsV1Event } from '@kubernetes/client-node';
import { createOverlay, type Overlay } from '../../cache/overlay.ts';
import { Store } from '../../cache/store.ts';
import type { KubeObject, Resource } from '../../client/resource.ts';
import type { Condition } from '../../controller/conditions.ts';
import { FakeApi } from './fakeApi.ts';

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
  readonly api: FakeApi;
  /** The objects of the informer. They change only when the test sets them. */
  readonly cache: Store<Gadget>;
  readonly objects: Overlay<Gadget>;
  /** The gadget shop/web as the API server has it. */
  stored(): Gadget | undefined;
  /** Bodies of all patches. */
  patches(): unknown[];
  /** Reasons of the events that the API server has, oldest first. */
  events(): (string | undefined)[];
}

export function gadgetWorld(...gadgets: Gadget[]): GadgetWorld {
  const api = new FakeApi(...gadgets);
  const cache = new Store<Gadget>();
  for (const gadget of gadgets) cache.set(gadget);
  return {
    api,
    cache,
    objects: createOverlay({ lister: cache, subscribe: () => () => undefined }),
    stored: () => api.object(GADGETS, { namespace: 'shop', name: 'web' }),
    patches: () => api.calls.filter(({ verb }) => verb === 'patch').map(({ body }) => body),
    events: () => [...api.objects.values()].filter(isEvent).map(({ reason }) => reason),
  };
}

function isEvent(object: KubeObject): object is EventsV1Event {
  return object.kind === 'Event';
}
