import type { TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import { CONTROLLER_REVISIONS } from '../../../runtime/client/resources.ts';
import { isOfStack } from '../render/objects.ts';
import { storedIn, type StoredRevision } from '../render/storedRevision.ts';
import { isCached, overlayOf, type Caches } from './caches.ts';

/**
 * The last ready revision of a component, if it is stored. Only what the inventory names counts: others may create ControllerRevisions,
 * and may not write the status of a stack.
 */
export function lastReadyRevision(stack: TrafficStack, component: string, caches: Caches): StoredRevision | undefined {
  const entry = stack.status?.inventory?.find((each) => each.component === component);
  const stored = (entry?.objects ?? []).flatMap((ref) => {
    const { kind, namespace, name } = ref;
    if (kind !== CONTROLLER_REVISIONS.kind || !isCached(caches, ref)) return [];
    const live = overlayOf(caches, CONTROLLER_REVISIONS).get(keyOf({ metadata: { namespace, name } }));
    return live !== undefined && isOfStack(live, stack) ? (storedIn(live) ?? []) : [];
  });
  return stored.toSorted((a, b) => b.number - a.number)[0];
}
