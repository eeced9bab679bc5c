import type { ComponentSpec, InventoryObject, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { APPLIED_HASH_ANNOTATION, appliedHash } from '../../../runtime/apply/apply.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { readLive } from '../../../runtime/objectSet/observe.ts';
import { resourceOfKind } from '../decide/kinds.ts';
import { isOfStack, objectsOf, type DesiredObject } from '../decide/objects.ts';
import { BY_COMPONENT, overlayOf, type Caches } from './caches.ts';
import type { LeftObject, Observation, ObservedComponent, ObservedObject } from './observation.ts';

/** Where it is observed. */
export interface Observed {
  readonly caches: Caches;
  readonly client: Pick<Client, 'get'>;
}

/**
 * Observes what decides about a stack.
 *
 * @param components those that should exist, in the order of their dependencies
 * @param now ms since 1970
 * @throws ApiError, TransportError
 */
export async function observe(
  stack: TrafficStack,
  components: readonly ComponentSpec[],
  { caches, client }: Observed,
  now: number,
): Promise<Observation> {
  const name = stack.metadata?.name ?? '';
  const podsOf = (component: string) => caches.pods.lister.byIndex(BY_COMPONENT, `${name}/${component}`);
  const observed: ObservedComponent[] = [];
  for (const spec of components) {
    const objects: ObservedObject[] = [];
    for (const desired of objectsOf(stack, spec)) objects.push(await observeObject(desired, { caches, client }));
    observed.push({ spec, objects, pods: podsOf(spec.name) });
  }
  const inventory = stack.status?.inventory ?? [];
  return {
    ...{ stack, components: observed, now },
    left: leftOf(stack, observed, caches),
    withPods: new Set(inventory.map(({ component }) => component).filter((each) => podsOf(each).length > 0)),
  };
}

/** An object without the label of a stack is in no cache, and is somebody else's. */
async function observeObject(desired: DesiredObject, { caches, client }: Observed): Promise<ObservedObject> {
  const { resource, object } = desired;
  const cached = overlayOf(caches, resource).get(keyOf(object));
  const live = cached ?? (await readLive(client as Client, desired));
  const isCurrent = live?.metadata?.annotations?.[APPLIED_HASH_ANNOTATION] === appliedHash(object);
  return { ...desired, live: live && withKind(live, desired), isCurrent };
}

/** Lists leave the kind of their items out. */
function withKind(live: KubeObject, { object: { apiVersion = '', kind = '' } }: DesiredObject): KubeObject {
  return { apiVersion, kind, ...live };
}

function leftOf(stack: TrafficStack, observed: readonly ObservedComponent[], caches: Caches): LeftObject[] {
  const wanted = new Set(
    observed.flatMap(({ objects }) => objects.map(({ resource, object }) => refText(resource.kind, object))),
  );
  return (stack.status?.inventory ?? []).flatMap(({ component, objects }) =>
    objects.flatMap((ref) => {
      const resource = resourceOfKind(ref.kind);
      const live = overlayOf(caches, resource).get(keyOf(objectOf(ref)));
      const isLeft = !wanted.has(refText(ref.kind, objectOf(ref)));
      return isLeft && live !== undefined && isOfStack(live, stack) ? [{ component, resource, live }] : [];
    }),
  );
}

function objectOf({ namespace, name }: InventoryObject): KubeObject {
  return { metadata: { namespace, name } };
}

function refText(kind: string, object: KubeObject): string {
  return `${kind} ${keyOf(object)}`;
}
