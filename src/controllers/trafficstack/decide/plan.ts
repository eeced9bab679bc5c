import { ComponentReason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentStatus, InventoryEntry, InventoryObject } from '../../../api/trafficstack/trafficStack.ts';
import { keyOf, type KubeObject } from '../../../runtime/client/resource.ts';
import { CONTROLLER_REVISIONS } from '../../../runtime/client/resources.ts';
import {
  type MissingEvidence,
  type Facts,
  type LeftObject,
  type Observation,
  type ObservedComponent,
  type ObservedObject,
  isMadeBy,
} from '../model/observation.ts';
import { isOfStack } from '../render/objects.ts';
import { missingEvidenceOf } from './cause.ts';
import { planComponent, type PlannedComponent } from './component.ts';
import { isForeign } from './external.ts';
import { completedOf } from './objectReadiness.ts';
import { planRemoval } from './removal.ts';
import { fromStart } from './order.ts';
import { requeriesOf, factsOf } from './upgrade/freshness.ts';
import { wavesOf } from './upgrade/waves.ts';

/** An object to be applied, and its component. */
export interface PlannedObject extends Pick<ObservedObject, 'resource' | 'object' | 'live' | 'fieldManager'> {
  readonly component: string;
}

/** The writes, statuses and times that are decided for a stack. */
export interface StackPlan extends MissingEvidence {
  /** Objects in the order of the dependencies. */
  readonly apply: readonly (PlannedObject & ObservedObject)[];
  /** Revisions to be stored after all objects of their components. */
  readonly store: readonly PlannedObject[];
  readonly remove: readonly LeftObject[];
  /** Statuses in the order of the dependencies, then statuses of components that are being removed. */
  readonly statuses: readonly ComponentStatus[];
  /** The object that messages name, such as `StatefulSet shop/db`, by component. */
  readonly workloads: ReadonlyMap<string, string>;
  /** Objects that exist or are about to be created. They are stored before any creation. */
  readonly inventory: readonly InventoryEntry[];
  /** True if a stack that is being deleted has no objects left, except those that the operator may not delete. */
  readonly isRemoved: boolean;
  /** The first deadline, ms since 1970; Infinity if there is none. */
  readonly deadlineAt: number;
  /** The facts whose times are recorded. */
  readonly facts: Facts;
  /** Queries that must be sent again, with the time that the next answer must follow. */
  readonly requery: ReadonlyMap<string, number>;
}

/** Decides about all components of a stack with a checked spec. */
export function planStack(observed: Observation): StackPlan {
  const observation = fromStart(observed);
  const { components } = observation;
  const planned = planAll(observation);
  const all = components.flatMap(({ spec }) => planned.get(spec.name) ?? []);
  const upToDate = new Set(
    components.filter((each) => isUpToDate(each, observation, planned)).map(({ spec }) => spec.name),
  );
  const removal = planRemoval(observation, {
    isUpToDate: (name) => upToDate.has(name),
    isReady: (name) => planned.get(name)?.status.state === 'Ready',
    hasFailed: (name) => planned.get(name)?.status.state === 'Failed',
  });
  return {
    apply: all.flatMap(({ status, apply }) => apply.map((object) => ({ ...object, component: status.name }))),
    store: all.flatMap(({ status, store }) => (store === undefined ? [] : [{ ...store, component: status.name }])),
    remove: [...removal.remove, ...all.flatMap(({ drop }) => drop ?? [])],
    statuses: [...all.map(({ status }) => status), ...removal.statuses],
    workloads: new Map(all.map(({ status, what }) => [status.name, what])),
    inventory: withUnread([...entriesOf(observation, planned), ...removal.inventory], observation),
    ...{ facts: factsOf(all), requery: requeriesOf(all) },
    isRemoved: components.length === 0 && removal.isRemoved,
    deadlineAt: Math.min(...all.map(({ deadlineAt = Infinity }) => deadlineAt)),
    ...missingEvidenceOf(components, new Map(all.map(({ status }) => [status.name, status])), observation.now),
  };
}

/** Decides wave by wave: a change depends on the decisions about all earlier waves. */
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
 * Returns whether a component runs with its present objects, so that it no longer needs older ones. A workload of the stack with the mode External
 * still needs them. A built-in component with the mode External releases its own at once, since two programs cannot share a port of a node.
 */
function isUpToDate(
  component: ObservedComponent,
  { stack }: Pick<Observation, 'stack'>,
  planned: ReadonlyMap<string, PlannedComponent>,
): boolean {
  const status = planned.get(component.spec.name)?.status;
  if (component.external !== undefined) return true;
  if (status?.mode === 'External' && !isForeign(component, stack)) return false;
  return status?.state === 'Ready' || status?.reason === ComponentReason.RolledBack;
}

/**
 * Returns the inventory: existing objects of each component, also those that left its spec, and objects that are applied now. A component without
 * objects has no entry: its dependents inherit its dependencies, which keeps the order of a removal.
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

/** Returns the dependencies of an entry, with components that have no entry replaced by their own dependencies. */
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
      applied.includes(each) ||
      each.isCompleted === true ||
      (each.live !== undefined && each.heldBy === undefined && isOfStack(each.live, stack)),
  );
  const refs = [
    ...own.map((each) => ({ ...refOf(each.resource.kind, each.object), ...given(completedOf(each)) })),
    ...[...left, ...locked]
      .filter(({ component: of }) => of === spec.name)
      .map(({ resource, live }) => refOf(resource.kind, live)),
    ...revisionsOf(stored, planned),
  ];
  const prior = stack.status?.inventory?.find((entry) => entry.component === spec.name);
  const ending = endingOf(component, prior?.objects ?? [], withPods).filter((ref) => !refs.some(isSameAs(ref)));
  // Until it is ready, its pods may need its former dependencies.
  const before = planned?.status.state === 'Ready' ? [] : (prior?.dependsOn ?? []);
  return { component: spec.name, dependsOn: [...(spec.dependsOn ?? []), ...before], objects: [...refs, ...ending] };
}

/** Returns deleted workloads whose pods have not ended: these pods still need the dependencies of the component. */
function endingOf(
  { spec, objects }: ObservedComponent,
  before: readonly InventoryObject[],
  withPods: Observation['withPods'],
): readonly InventoryObject[] {
  const pods = withPods.get(spec.name) ?? [];
  // A new object of another owner with the same name has these pods.
  const there = objects
    .filter(({ live }) => live !== undefined)
    .map(({ resource, object }) => refOf(resource.kind, object));
  return before.filter((ref) => pods.some((pod) => isMadeBy(pod, ref)) && !there.some(isSameAs(ref)));
}

function isSameAs(ref: InventoryObject): (other: InventoryObject) => boolean {
  return ({ kind, namespace, name }) => kind === ref.kind && namespace === ref.namespace && name === ref.name;
}

/** Adds the objects that this process may not read, so that a process with the rights can delete them. */
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

/** Returns the stored revision and the revision that is being stored. */
function revisionsOf(stored: ObservedComponent['stored'], planned: PlannedComponent | undefined): InventoryObject[] {
  const objects = [stored?.live, planned?.store?.object].filter((object) => object !== undefined);
  const byKey = new Map(objects.map((object) => [keyOf(object), refOf(CONTROLLER_REVISIONS.kind, object)]));
  return [...byKey.values()];
}

function given(completed: string | undefined): Pick<InventoryObject, 'completed'> {
  return completed === undefined ? {} : { completed };
}

function refOf(kind: string, { metadata }: KubeObject): InventoryObject {
  const { namespace = '', name = '' } = metadata ?? {};
  return { kind, namespace, name };
}
