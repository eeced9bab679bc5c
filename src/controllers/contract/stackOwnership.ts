import { SINGLE_TYPES, type BuiltInType, type ComponentType } from '../../api/trafficstack/terms.ts';
import {
  componentsIn,
  type ComponentSpec,
  type ComponentStatus,
  type InventoryEntry,
  type TrafficStack,
  type UsedObject,
} from '../../api/trafficstack/trafficStack.ts';
import { identityOf, reportedFields } from '../../runtime/cache/bodyBudget.ts';
import { idFor, idOf, type Member } from '../../runtime/objectSet/objectSet.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import type { Problem } from '../../runtime/process/problem.ts';

/** The TrafficStack of what the operator deploys itself. */
export const DEFAULT_STACK = 'default';

/** The groups of objects that TrafficStacks may own, with their types of components. */
export type StackTypes<G extends string> = Readonly<Record<G, BuiltInType>>;

/** A workload or Service of another owner that a component uses instead of a group. */
export interface Used {
  readonly component: ComponentSpec;
  readonly workload: UsedObject;
}

/** How TrafficStacks own a group. */
interface GroupOwnership {
  /** True if a stack deploys it. Undefined if no stack names it: the flags then decide about the stack `default`. */
  readonly isOn: boolean | undefined;
  /** The component of the type, in the stack that has the objects, otherwise in the first stack. */
  readonly component?: ComponentSpec | undefined;
  /** The used object in the status of a stack. */
  readonly used?: Used | undefined;
  /** True if a stack names an external object of the type, which the operator may have found. */
  readonly isNamed: boolean;
  /** True if a stack has its objects, or will create them. */
  readonly isOwned: boolean;
  /** True if a stack will have it, but has neither objects nor an external object yet. */
  readonly isUndecided: boolean;
}

/** How TrafficStacks own the groups of a controller. */
export type StackOwnership<G extends string> = Readonly<Record<G, GroupOwnership>>;

/**
 * Returns which groups of objects TrafficStacks own. Only stacks create them. A controller removes objects of its older versions that no stack owns.
 *
 * | TrafficStacks                                        | the flags     | owned by a stack                  |
 * |------------------------------------------------------|---------------|-----------------------------------|
 * | one has an object of the group in its inventory      | any           | yes, until it has removed it      |
 * | one names its type, and is not being deleted         | any           | yes                               |
 * | one names its type with the mode Disabled or External | any          | no                                |
 * | none names its type                                  | deploy it     | yes: the stack `default` will have it |
 * | none names its type                                  | do not        | no                                |
 *
 * @param members all objects of the groups
 * @param byFlags the groups that the flags deploy
 */
export function stackOwnershipOf<G extends string>(
  types: StackTypes<G>,
  stacks: readonly TrafficStack[],
  members: readonly Member[],
  byFlags: ReadonlySet<G>,
): StackOwnership<G> {
  const remaining = stacks.filter(isStaying);
  const ownershipOf = (group: G): GroupOwnership => {
    const ids = new Set(members.filter((each) => each.group === group).map(idOf));
    const modes = remaining.flatMap((stack) => modesOf(stack, types[group]));
    const isOn = modes.length === 0 ? undefined : modes.some((mode) => mode !== 'Disabled' && mode !== 'External');
    const used = usedBy(stacks, types[group]);
    const isNamed = remaining
      .flatMap(componentsIn)
      .some((each) => each.type === types[group] && each.external !== undefined);
    const willBeOwned = isOn ?? byFlags.has(group);
    const isDecided = used !== undefined || stacks.some((stack) => hasOwn(stack, types[group]));
    const isHolder = (stack: TrafficStack): boolean => holdsOneOf(stack, ids);
    const isOwned = willBeOwned || stacks.some(isHolder);
    const component = [...remaining.filter(isHolder), ...remaining].flatMap((stack) => ownIn(stack, types[group]))[0];
    return { isOn, ...(component && { component }), used, isNamed, isOwned, isUndecided: willBeOwned && !isDecided };
  };
  return Object.fromEntries(groupsIn(types).map((group) => [group, ownershipOf(group)])) as StackOwnership<G>;
}

/** Returns the object of another owner that stacks use for a type. Undefined if there is none, or if a stack has its own. */
export function usedBy(stacks: readonly TrafficStack[], type: BuiltInType): Used | undefined {
  if (stacks.some((stack) => hasOwn(stack, type))) return undefined;
  return stacks.filter(isStaying).flatMap((stack) => usedIn(stack, type))[0];
}

/** Returns whether a stack has objects of a type, or will create them. */
function hasOwn(stack: TrafficStack, type: BuiltInType): boolean {
  const isManaged = isStaying(stack) && modesOf(stack, type).includes('Managed');
  const names = new Set(componentsIn(stack).flatMap((each) => (each.type === type ? [each.name] : [])));
  const holds = ({ component, objects }: InventoryEntry): boolean => names.has(component) && objects.length > 0;
  return isManaged || stack.status?.inventory?.some(holds) === true;
}

function isStaying({ metadata }: TrafficStack): boolean {
  return metadata?.deletionTimestamp === undefined;
}

function modesOf(stack: TrafficStack, type: BuiltInType): string[] {
  return componentsIn(stack).flatMap((each) => (each.type === type ? (each.mode ?? 'Managed') : []));
}

/** Returns the components of a type that may have objects of their own. */
function ownIn(stack: TrafficStack, type: BuiltInType): ComponentSpec[] {
  return componentsIn(stack).filter(
    (each) => each.type === type && each.mode !== 'Disabled' && each.mode !== 'External',
  );
}

function usedIn(stack: TrafficStack, type: BuiltInType): Used[] {
  return componentsIn(stack).flatMap((component) => {
    const status = stack.status?.components?.find(({ name }) => name === component.name);
    return component.type !== type || status?.uses === undefined ? [] : [{ component, workload: status.uses }];
  });
}

function holdsOneOf({ status }: TrafficStack, ids: ReadonlySet<string>): boolean {
  const objects = status?.inventory?.flatMap((entry) => entry.objects) ?? [];
  return objects.some(({ kind, ...ref }) => ids.has(idFor({ kind }, ref)));
}

/**
 * Returns the groups that a controller must not change.
 *
 * @param ownership undefined if it is unknown: a stack may own any group
 */
export function ownedByStacks<G extends string>(
  types: StackTypes<G>,
  ownership: StackOwnership<G> | undefined,
): ReadonlySet<G> {
  return new Set(groupsIn(types).filter((group) => ownership?.[group].isOwned ?? true));
}

function groupsIn<G extends string>(types: StackTypes<G>): G[] {
  return Object.keys(types) as G[];
}

/** Characters of a built-in component, and of its status, in the identity of a stack. */
const LONGEST_KEPT = 1_024;

/**
 * Returns the bounded part of a TrafficStack that a cache keeps without its body: the identity, and the first component of each built-in type. Other
 * controllers must neither deploy these types again nor remove used objects.
 */
export function identityOfStack(stack: TrafficStack): TrafficStack {
  const { status } = stack;
  const components = SINGLE_TYPES.flatMap((type) => builtInOf(stack, type) ?? []);
  const names = new Set(components.map(({ name }) => name));
  const inventory = (status?.inventory ?? [])
    .filter(({ component }) => names.has(component))
    .map(({ component, objects }) => ({ component, dependsOn: [], objects: objects.slice(0, 1) }));
  const statuses = (status?.components ?? []).filter((each) => names.has(each.name) && isShort(each));
  return {
    ...identityOf(stack),
    spec: { components },
    status: {
      ...reportedFields(status, ['conditions', 'observedGeneration', 'summary']),
      ...(inventory.length > 0 && { inventory }),
      ...(statuses.length > 0 && { components: statuses }),
    },
  };
}

function builtInOf(stack: TrafficStack, type: ComponentType): ComponentSpec | undefined {
  const found = componentsIn(stack).find((each) => each.type === type);
  return found === undefined || isShort(found) ? found : { name: found.name, type, mode: found.mode };
}

function isShort(component: ComponentSpec | ComponentStatus): boolean {
  return JSON.stringify(component).length <= LONGEST_KEPT;
}

/** The flags and objects of a controller, for the groups that TrafficStacks may own. */
export interface OwnedTypes<G extends string> {
  readonly types: StackTypes<G>;
  /** The groups that the flags deploy. */
  readonly byFlags: ReadonlySet<G>;
  /** True if the operator creates the TrafficStack `default`, which owns them. Default: true. */
  readonly hasDefaultStack?: boolean | undefined;
  readonly members: readonly Member[];
  /** Returns the live object of a member; undefined if it does not exist or is unknown. */
  readonly live: (member: Member) => KubeObject | undefined;
}

/**
 * Returns a problem for each type that the flags deploy and that has objects, but no stack: nothing corrects or upgrades them. This happens with
 * --default-stack=false after an upgrade from a version that deployed without stacks.
 *
 * @param ownership undefined if it is unknown: there is no problem then
 */
export function unownedProblems<G extends string>(
  ownership: StackOwnership<G> | undefined,
  { types, byFlags, hasDefaultStack = true, members, live }: OwnedTypes<G>,
): Problem[] {
  if (hasDefaultStack || ownership === undefined) return [];
  const isUnowned = (group: G): boolean => {
    const { isOn, component } = ownership[group];
    const exists = members.some((member) => member.group === group && live(member) !== undefined);
    return isOn === undefined && component === undefined && exists;
  };
  return [...byFlags].filter(isUnowned).map((group) => ({
    reason: 'NotKept',
    object: `the type ${types[group]}`,
    message: `no TrafficStack has a component of the type ${types[group]}, so nothing corrects or upgrades what an earlier version deployed: set stacks.default of the chart (--default-stack), or add the type to a stack`,
  }));
}
