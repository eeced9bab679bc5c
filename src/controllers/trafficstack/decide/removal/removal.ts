import { ComponentReason as Reason } from '../../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, InventoryEntry } from '../../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../../runtime/client/resource.ts';
import { metaTime } from '../../../../runtime/controller/conditions.ts';
import { idOf } from '../../../../runtime/objectSet/objectSet.ts';
import type { LeftObject, Observation } from '../../observe/observation.ts';
import { leftText } from '../../model/allowed.ts';
import { withLostPod } from '../cause/podProblem.ts';
import { Holders, type Decided } from './holders.ts';

/** What is to be removed. */
export interface Removal {
  /** Deleted now. Those that are being deleted already are left out. */
  readonly remove: readonly LeftObject[];
  /** Of components that are not in the spec any more, and are not gone yet. */
  readonly statuses: readonly ComponentStatus[];
  /** The inventory of what stays or is not gone yet, without what the spec has. */
  readonly inventory: readonly InventoryEntry[];
  /** Whether nothing is left of it but what the operator may not delete. */
  readonly isRemoved: boolean;
}

/**
 * Decides what is removed of the inventory.
 *
 * | a component of the inventory                    | what happens                               |
 * |-------------------------------------------------|--------------------------------------------|
 * | is in the spec                                  | its objects that the spec has no more are deleted when it is ready with the new ones |
 * | is not, and another one that exists depends on it, or did until it is ready | nothing: it waits |
 * | is not, and nothing depends on it               | its objects are deleted                    |
 * | is not, and what depended on it waits for its removal, as after another name of the component | its objects are deleted |
 * | has no object and no pod any more               | it leaves the inventory                    |
 * | has objects that the operator may not delete    | nothing holds, and waits for, these: Kubernetes deletes them when the stack is gone |
 */
export function planRemoval(observation: Observation, decided: Decided): Removal {
  const { stack, components, left, locked = [], withPods, now } = observation;
  const inSpec = new Set(components.map(({ spec }) => spec.name));
  const entries = stack.status?.inventory ?? [];
  const gone = entries.filter(({ component }) => !inSpec.has(component));
  const leftOf = Map.groupBy(left, ({ component }) => component);
  const there = gone.filter(({ component }) => withPods.has(component) || leftOf.has(component));
  const holders = new Holders({ stack, components, left }, there, decided);
  // Only of those that something is to be removed of, or that have a status.
  const asked = new Set([...leftOf.keys(), ...there.map(({ component }) => component)]);
  const held = new Map([...asked].map((component) => [component, holders.of(component)]));
  const free = left.filter(({ component }) => held.get(component)?.length === 0);
  const lockedOf = Map.groupBy(locked, ({ component }) => component);
  const kept = gone.filter(
    ({ component }) => lockedOf.has(component) && !there.some((each) => each.component === component),
  );
  return {
    remove: free.filter(({ live }) => !isBeingDeleted(live)),
    statuses: [...there, ...kept].map(({ component }) => {
      const [holder] = held.get(component) ?? [];
      const reason = holder !== undefined && inSpec.has(holder) ? HELD_BY_SPEC : HELD_BY_GONE;
      const objects = leftOf.get(component) ?? [];
      const status = statusOf(component, {
        ...{ stack, objects, withPods, now },
        wait: holder && `waits for ${holder}, ${reason}`,
      });
      return withLocked(status, lockedOf.get(component) ?? []);
    }),
    inventory: [...there, ...kept],
    isRemoved: there.length === 0,
  };
}

const HELD_BY_SPEC = 'which depended on it and is not ready yet';
const HELD_BY_GONE = 'which depends on it and is not gone yet';

/** @param locked what the operator may not delete of it */
function withLocked(status: ComponentStatus, locked: readonly LeftObject[]): ComponentStatus {
  if (locked.length === 0) return status;
  const message = leftText(locked.map(({ resource, live: object }) => ({ resource, object })));
  return { ...status, reason: Reason.NamespaceNotAllowed, message };
}

function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata?.deletionTimestamp !== undefined;
}

/** @param objects what is left of it @param wait what keeps its objects from being deleted */
function statusOf(
  component: string,
  {
    stack,
    objects,
    withPods,
    wait,
    now,
  }: Pick<Observation, 'stack' | 'withPods' | 'now'> & {
    readonly objects: readonly LeftObject[];
    readonly wait: string | undefined;
  },
): ComponentStatus {
  const prior = stack.status?.components?.find(({ name }) => name === component);
  const isKept = objects.some(({ live }) => !isBeingDeleted(live));
  const names = objects.map(({ resource, live }) => idOf({ resource, object: live }));
  const ending = names.length === 0 ? 'its pods are ending' : `being deleted: ${names.join(', ')}`;
  const what = withLostPod(ending, withPods.get(component) ?? []);
  return {
    ...{ name: component, type: prior?.type ?? 'Workload', state: 'Removing', reason: Reason.NotInSpec },
    message: isKept && wait !== undefined ? wait : what,
    since: prior?.state === 'Removing' ? prior.since : metaTime(now),
  };
}
