import type { ComponentStatus, InventoryEntry, InventoryObject } from '../../../api/trafficstack/trafficStack.ts';
import type { LeftObject, Observation, ObservedComponent, ObservedObject } from '../observe/observation.ts';
import { isOfStack } from '../render/objects.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { askingOf, type Asking } from './asking.ts';
import { planComponent, type PlannedComponent } from './component.ts';
import { planRemoval } from './removal.ts';

/** An object to be applied, and the component that it is of. */
export interface PlannedObject extends ObservedObject {
  readonly component: string;
}

/** What is to be done about a stack. */
export interface StackPlan extends Asking {
  /** In the order of the dependencies. */
  readonly apply: readonly PlannedObject[];
  readonly remove: readonly LeftObject[];
  /** In the order of the dependencies, then those that are being removed. */
  readonly statuses: readonly ComponentStatus[];
  /** Such as `StatefulSet shop/db`, by component. */
  readonly workloads: ReadonlyMap<string, string>;
  /** What exists or is about to be created. It is stored before anything is created. */
  readonly inventory: readonly InventoryEntry[];
  /** When the first deadline passes, ms since 1970; Infinity if none runs. */
  readonly deadlineAt: number;
}

/** Decides about all components of a stack. Its spec has been checked: see graph.ts. */
export function planStack(observation: Observation): StackPlan {
  const { stack, components, now } = observation;
  const planned = new Map<string, PlannedComponent>();
  for (const component of components) {
    planned.set(component.spec.name, planComponent(component, { stack, before: planned, now }));
  }
  const isReady = (name: string): boolean => planned.get(name)?.status.state === 'Ready';
  const removal = planRemoval(observation, isReady);
  const all = [...planned.values()];
  return {
    apply: all.flatMap(({ status, apply }) => apply.map((object) => ({ ...object, component: status.name }))),
    remove: removal.remove,
    statuses: [...all.map(({ status }) => status), ...removal.statuses],
    workloads: new Map(all.map(({ status, what }) => [status.name, what])),
    inventory: [
      ...components.flatMap((each) => entryOf(each, observation, planned.get(each.spec.name))),
      ...removal.inventory,
    ],
    deadlineAt: Math.min(...all.map(({ deadlineAt = Infinity }) => deadlineAt)),
    ...askingOf(components, new Map(all.map(({ status }) => [status.name, status])), now),
  };
}

/** What exists of a component, also of what its spec has no more, and what is applied now. Nothing of one that waits and never was. */
function entryOf(
  { spec, objects }: ObservedComponent,
  { stack, left }: Pick<Observation, 'stack' | 'left'>,
  planned: PlannedComponent | undefined,
): InventoryEntry[] {
  const applied = planned?.apply ?? [];
  const own = objects.filter(
    (each) =>
      applied.includes(each) || (each.live !== undefined && each.heldBy === undefined && isOfStack(each.live, stack)),
  );
  const refs = [
    ...own.map(({ resource, object }) => refOf(resource.kind, object)),
    ...left.filter(({ component }) => component === spec.name).map(({ resource, live }) => refOf(resource.kind, live)),
  ];
  // Until it is ready as asked for, its pods may need what it depended on before.
  const known = stack.status?.inventory?.find(({ component }) => component === spec.name)?.dependsOn ?? [];
  const before = planned?.status.state === 'Ready' ? [] : known;
  const dependsOn = [...new Set([...(spec.dependsOn ?? []), ...before])];
  return refs.length === 0 ? [] : [{ component: spec.name, dependsOn, objects: refs }];
}

function refOf(kind: string, { metadata }: KubeObject): InventoryObject {
  const { namespace = '', name = '' } = metadata ?? {};
  return { kind, namespace, name };
}
