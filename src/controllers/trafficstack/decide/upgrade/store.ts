import type { ComponentStatus, TrafficStack } from '../../../../api/trafficstack/trafficStack.ts';
import { keyOf, type KubeObject, type Resource } from '../../../../runtime/client/resource.ts';
import { CONTROLLER_REVISIONS } from '../../../../runtime/client/resources.ts';
import type { LeftObject, ObservedComponent } from '../../observe/observation.ts';
import { controllerRevisionOf } from '../../render/storedRevision.ts';

/** What happens to the stored revision of a component. */
export interface StorePlan {
  /** Applied after the objects of the component. */
  readonly store?: { readonly resource: Resource; readonly object: KubeObject; readonly live: KubeObject | undefined };
  /** Deleted: the stored one is not the last ready revision any more. */
  readonly drop?: readonly LeftObject[];
  /** For the message of the component. */
  readonly note?: string;
}

/** The largest object that is stored: 1 MiB, without what the API server adds. */
const LARGEST_BYTES = 1_000_000;

/**
 * Decides what is stored of a component. Only a revision with which it is ready is. The one before is deleted when the new one is
 * stored: it is not wanted any more then, see removal.ts.
 *
 * | it can be rolled back | it is ready | the object is | what happens                       |
 * |-----------------------|-------------|---------------|------------------------------------|
 * | no                    | any         | any           | nothing: removal.ts deletes what is stored |
 * | yes                   | no          | any           | nothing: the last one stays        |
 * | yes                   | yes         | small enough  | it is stored                       |
 * | yes                   | yes         | too large     | the last one is deleted, since it is not the last ready one |
 */
export function planStore(
  stack: TrafficStack,
  { spec, objects, revision, stored, revisionsIn }: ObservedComponent,
  { state }: Pick<ComponentStatus, 'state'>,
): StorePlan {
  if (revisionsIn === undefined || state !== 'Ready') return {};
  const content = { name: spec.name, namespace: revisionsIn, revision, objects };
  const { number = 0, live } = stored ?? {};
  const again = controllerRevisionOf(stack, content, number);
  const isStored = live !== undefined && keyOf(live) === keyOf(again);
  const object = isStored ? again : controllerRevisionOf(stack, content, number + 1);
  const size = new TextEncoder().encode(JSON.stringify(object)).length;
  if (size <= LARGEST_BYTES)
    return { store: { resource: CONTROLLER_REVISIONS, object, live: isStored ? live : undefined } };
  return {
    note: `this revision cannot be restored: it has ${size} bytes, and at most ${LARGEST_BYTES} are stored`,
    ...(live && { drop: [{ component: spec.name, resource: CONTROLLER_REVISIONS, live }] }),
  };
}
