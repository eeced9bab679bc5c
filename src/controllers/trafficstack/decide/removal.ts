import { ComponentReason as Reason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, InventoryEntry } from '../../../api/trafficstack/trafficStack.ts';
import { metaTime } from '../../../runtime/controller/conditions.ts';
import { idOf } from '../../../runtime/objectSet/member.ts';
import type { LeftObject, Observation } from '../observe/observation.ts';

/** What is to be removed. */
export interface Removal {
  /** Deleted now. Those that are being deleted already are left out. */
  readonly remove: readonly LeftObject[];
  /** Of components that are not in the spec any more, and are not gone yet. */
  readonly statuses: readonly ComponentStatus[];
  /** The inventory of what stays or is not gone yet, without what the spec has. */
  readonly inventory: readonly InventoryEntry[];
}

/**
 * Decides what is removed of the inventory.
 *
 * | a component of the inventory                    | what happens                               |
 * |-------------------------------------------------|--------------------------------------------|
 * | is in the spec                                  | its objects that the spec has no more are deleted when it is ready with the new ones |
 * | is not, and another one that exists depends on it | nothing: it waits                        |
 * | is not, and nothing depends on it               | its objects are deleted                    |
 * | has no object and no pod any more               | it leaves the inventory                    |
 *
 * @param isSettled whether a component of the spec is ready, or runs with its last ready revision
 */
export function planRemoval(
  { stack, components, left, withPods, now }: Observation,
  isSettled: (component: string) => boolean,
): Removal {
  const inSpec = new Set(components.map(({ spec }) => spec.name));
  const entries = stack.status?.inventory ?? [];
  const gone = entries.filter(({ component }) => !inSpec.has(component));
  const there = gone.filter(({ component }) => withPods.has(component) || objectsOf(left, component).length > 0);
  const needed = new Set([...there, ...entries.filter(({ component }) => inSpec.has(component))].flatMap(dependencies));
  const removable = left.filter(({ component }) =>
    inSpec.has(component) ? isSettled(component) : !needed.has(component),
  );
  return {
    remove: removable.filter(({ live }) => live.metadata?.deletionTimestamp === undefined),
    statuses: there.map((entry) => statusOf(entry, { stack, left, there, now })),
    inventory: there,
  };
}

function dependencies({ dependsOn }: InventoryEntry): readonly string[] {
  return dependsOn;
}

function objectsOf(left: readonly LeftObject[], component: string): LeftObject[] {
  return left.filter((each) => each.component === component);
}

function statusOf(
  { component }: InventoryEntry,
  {
    stack,
    left,
    there,
    now,
  }: Pick<Observation, 'stack' | 'left' | 'now'> & { readonly there: readonly InventoryEntry[] },
): ComponentStatus {
  const prior = stack.status?.components?.find(({ name }) => name === component);
  const [user] = there.filter(({ dependsOn }) => dependsOn.includes(component));
  const objects = objectsOf(left, component).map(({ resource, live }) => idOf({ resource, object: live }));
  const what = objects.length === 0 ? 'its pods are ending' : `being deleted: ${objects.join(', ')}`;
  return {
    ...{ name: component, type: prior?.type ?? 'Workload', state: 'Removing', reason: Reason.NotInSpec },
    message: user === undefined ? what : `waits for ${user.component}, which depends on it and is not gone yet`,
    since: prior?.state === 'Removing' ? prior.since : metaTime(now),
  };
}
