import type { TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { Member } from '../../../runtime/objectSet/objectSet.ts';
import { resourceOfKind } from '../render/kinds.ts';
import { refersTo } from '../render/objects.ts';
import { isCached, overlayOf, type Caches } from './caches.ts';

/**
 * Returns the kind, namespace and name of the objects of the inventory that exist and refer to the stack, as the caches have them. The caches
 * keep the owner reference also of an object whose body they drop.
 */
export function existingIn(stack: TrafficStack, caches: Caches): Member[] {
  const refs = (stack.status?.inventory ?? []).flatMap(({ objects }) => objects);
  return refs.flatMap((ref) => {
    const { kind, namespace, name } = ref;
    if (!isCached(caches, ref)) return [];
    const resource = resourceOfKind(kind);
    const object = { metadata: { namespace, name } };
    const live = overlayOf(caches, resource).get(keyOf(object));
    return live !== undefined && refersTo(live, stack) ? [{ resource, object }] : [];
  });
}
