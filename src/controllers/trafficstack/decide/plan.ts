import type { ComponentStatus, InventoryEntry, InventoryObject } from '../../../api/trafficstack/trafficStack.ts';
import type { Facts, LeftObject, Observation, ObservedComponent, ObservedObject } from '../observe/observation.ts';
import { ComponentReason } from '../../../api/trafficstack/reasons.ts';
import { CONTROLLER_REVISIONS } from '../../../runtime/client/resources.ts';
import { isOfStack } from '../render/objects.ts';
import { keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { askingOf, type Asking } from './asking.ts';
import { planComponent, type PlannedComponent } from './component.ts';
import { isOfOthers } from './present/external.ts';
import { isMadeBy } from './removal/madeBy.ts';
import { planRemoval } from './removal/removal.ts';
import { askAgainOf, factsOf } from './upgrade/freshness.ts';
import { wavesOf } from './upgrade/waves.ts';

/** An object to be applied, and the component that it is of. */
export interface PlannedObject extends Pick<ObservedObject, 'resource' | 'object' | 'live' | 'fieldManager'> {
  readonly component: string;
}

/** What is to be done about a stack. */
export interface StackPlan extends Asking {
  /** In the order of the dependencies. */
  readonly apply: readonly (PlannedObject & ObservedObject)[];
  /** Revisions that are to be stored, after all objects of their components. */
  readonly store: readonly PlannedObject[];
  readonly remove: readonly LeftObject[];
  /** In the order of the dependencies, then those that are being removed. */
  readonly statuses: readonly ComponentStatus[];
  /** Such as `StatefulSet shop/db`, by component. */
  readonly workloads: ReadonlyMap<string, string>;
  /** What exists or is about to be created. It is stored before anything is created. */
  readonly inventory: readonly InventoryEntry[];
  /** Whether nothing is left of a stack that is being deleted, but what the operator may not delete. */
  readonly isRemoved: boolean;
  /** When the first deadline passes, ms since 1970; Infinity if none runs. */
  readonly deadlineAt: number;
  /** What is seen of the components. */
  readonly facts: Facts;
  /** Queries whose last answers do not count, with the time from which on they do. */
  readonly askAgain: ReadonlyMap<string, number>;
}

/** Decides about all components of a stack. Its spec has been checked: see graph.ts. */
export function planStack(observation: Observation): StackPlan {
  const { components } = observation;
  const planned = planAll(observation);
  const all = components.flatMap(({ spec }) => planned.get(spec.name) ?? []);
  const settled = new Set(
    components.filter((each) => isSettled(each, observation, planned)).map(({ spec }) => spec.name),
  );
  const removal = planRemoval(observation, {
    isSettled: (name) => settled.has(name),
    isReady: (name) => planned.get(name)?.status.state === 'Ready',
  });
  return {
    apply: all.flatMap(({ status, apply }) => apply.map((object) => ({ ...object, component: status.name }))),
    store: all.flatMap(({ status, store }) => (store === undefined ? [] : [{ ...store, component: status.name }])),
    remove: [...removal.remove, ...all.flatMap(({ drop }) => drop ?? [])],
    statuses: [...all.map(({ status }) => status), ...removal.statuses],
    workloads: new Map(all.map(({ status, what }) => [status.name, what])),
    inventory: withUnread([...entriesOf(observation, planned), ...removal.inventory], observation),
    ...{ facts: factsOf(all), askAgain: askAgainOf(all) },
    isRemoved: components.length === 0 && removal.isRemoved,
    deadlineAt: Math.min(...all.map(({ deadlineAt = Infinity }) => deadlineAt)),
    ...askingOf(components, new Map(all.map(({ status }) => [status.name, status])), observation.now),
  };
}

/** Wave by wave: what is changed in one depends on what was decided about all the earlier ones. */
function planAll(observation: Observation): ReadonlyMap<string, PlannedComponent> {
  const waves = wavesOf(observation.components);
  const waveOf = ({ spec }: ObservedComponent): number => waves.get(spec.name) ?? 0;
  const planned = new Map<string, PlannedComponent>();
  for (const component of observation.components.toSorted((a, b) => waveOf(a) - waveOf(b))) {
    planned.set(component.spec.name, planComponent(component, { ...observation, waves, before: planned }));
  }
  return planned;
}

/**
 * Whether a component runs with the objects that it should have, so that it needs no others any more. Not if its workload is the stack's,
 * and is not written since it is External: it goes on to need them. A built-in one that is External gives its own up at once, since two cannot
 * have one port of a node.
 */
function isSettled(
  component: ObservedComponent,
  { stack }: Pick<Observation, 'stack'>,
  planned: ReadonlyMap<string, PlannedComponent>,
): boolean {
  const status = planned.get(component.spec.name)?.status;
  if (component.external !== undefined) return true;
  if (status?.mode === 'External' && !isOfOthers(component, stack)) return false;
  return status?.state === 'Ready' || status?.reason === ComponentReason.RolledBack;
}

/**
 * What exists of each component, also of what its spec has no more, and what is applied now. Nothing of one that waits and never was, nor
 * of one that is External: what depends on that depends on what it depends on, so that no order of the removal is lost.
 */
function entriesOf(
  observation: Observation,
  planned: ReadonlyMap<string, PlannedComponent>,
): readonly InventoryEntry[] {
  const { components, unread = [] } = observation;
  const found = components.map((each) => entryOf(each, observation, planned.get(each.spec.name)));
  const kept = new Set([...found.filter(({ objects }) => objects.length > 0), ...unread].map((each) => each.component));
  const instead = new Map(found.filter(({ component }) => !kept.has(component)).map((each) => [each.component, each]));
  return found
    .filter(({ objects }) => objects.length > 0)
    .map((entry) => ({ ...entry, dependsOn: withoutThose(instead, entry) }));
}

/** What an entry depends on, with what others depend on in their place. */
function withoutThose(instead: ReadonlyMap<string, InventoryEntry>, entry: InventoryEntry): string[] {
  const seen = new Set<string>();
  const follow = ({ dependsOn }: InventoryEntry): string[] =>
    dependsOn.flatMap((name) => {
      if (seen.has(name)) return [];
      seen.add(name);
      const other = instead.get(name);
      return other === undefined ? [name] : follow(other);
    });
  return follow(entry);
}

function entryOf(
  component: ObservedComponent,
  { stack, left, locked = [], withPods }: Pick<Observation, 'stack' | 'left' | 'locked' | 'withPods'>,
  planned: PlannedComponent | undefined,
): InventoryEntry {
  const { spec, objects, stored } = component;
  const applied = planned?.apply ?? [];
  const own = objects.filter(
    (each) =>
      applied.includes(each) || (each.live !== undefined && each.heldBy === undefined && isOfStack(each.live, stack)),
  );
  const refs = [
    ...own.map(({ resource, object }) => refOf(resource.kind, object)),
    ...[...left, ...locked]
      .filter(({ component: of }) => of === spec.name)
      .map(({ resource, live }) => refOf(resource.kind, live)),
    ...revisionsOf(stored, planned),
  ];
  const prior = stack.status?.inventory?.find((entry) => entry.component === spec.name);
  const ending = endingOf(component, prior?.objects ?? [], withPods).filter((ref) => !refs.some(isSameAs(ref)));
  // Until it is ready as asked for, its pods may need what it depended on before.
  const before = planned?.status.state === 'Ready' ? [] : (prior?.dependsOn ?? []);
  return { component: spec.name, dependsOn: [...(spec.dependsOn ?? []), ...before], objects: [...refs, ...ending] };
}

/** Workloads that do not exist any more, and whose pods have not ended: these need what the component depends on. */
function endingOf(
  { spec, objects }: ObservedComponent,
  before: readonly InventoryObject[],
  withPods: Observation['withPods'],
): readonly InventoryObject[] {
  const pods = withPods.get(spec.name) ?? [];
  // What somebody else has under its name since has the pods, too.
  const there = objects
    .filter(({ live }) => live !== undefined)
    .map(({ resource, object }) => refOf(resource.kind, object));
  return before.filter((ref) => pods.some((pod) => isMadeBy(pod, ref)) && !there.some(isSameAs(ref)));
}

function isSameAs(ref: InventoryObject): (other: InventoryObject) => boolean {
  return ({ kind, namespace, name }) => kind === ref.kind && namespace === ref.namespace && name === ref.name;
}

/** The inventory with what this process may not read, so that one that may deletes it. */
function withUnread(
  entries: readonly InventoryEntry[],
  { unread = [] }: Pick<Observation, 'unread'>,
): readonly InventoryEntry[] {
  const all = [...entries, ...unread];
  return [...Map.groupBy(all, ({ component }) => component).values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const objects = [first, ...others].flatMap((entry) => entry.objects);
    return [{ ...first, objects: [...new Map(objects.map((ref) => [JSON.stringify(ref), ref])).values()] }];
  });
}

/** The stored revision, and the one that is stored now. */
function revisionsOf(stored: ObservedComponent['stored'], planned: PlannedComponent | undefined): InventoryObject[] {
  const objects = [stored?.live, planned?.store?.object].filter((object) => object !== undefined);
  const byKey = new Map(objects.map((object) => [keyOf(object), refOf(CONTROLLER_REVISIONS.kind, object)]));
  return [...byKey.values()];
}

function refOf(kind: string, { metadata }: KubeObject): InventoryObject {
  const { namespace = '', name = '' } = metadata ?? {};
  return { kind, namespace, name };
}
