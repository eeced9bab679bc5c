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

/** The TrafficStack of what the operator deploys itself. */
export const DEFAULT_STACK = 'default';

/** The groups of objects that TrafficStacks have, and the type of component that each of them is. */
export type KeptTypes<G extends string> = Readonly<Record<G, BuiltInType>>;

/** A workload or Service of somebody else that a component uses in place of a group. */
export interface Used {
  readonly component: ComponentSpec;
  readonly workload: UsedObject;
}

/** What TrafficStacks ask for of a group. */
interface Asked {
  /** Undefined if none names it: then the flags decide whether the stack `default` will. */
  readonly isOn: boolean | undefined;
  /** The component with that type, of the stack that has the objects, or else of the first one. */
  readonly component?: ComponentSpec | undefined;
  /** As the status of a stack says. */
  readonly used?: Used | undefined;
  /** A stack has the type with the mode External, and names what it uses: the operator may have found it. */
  readonly isNamed: boolean;
  /** A stack keeps its objects, or has not removed all of them yet, or will have it soon. */
  readonly isKept: boolean;
  /** A stack will have it, and has neither begun to make its own nor said that it uses what somebody else has made. */
  readonly isUndecided: boolean;
}

/** What TrafficStacks ask for. */
export type Keepers<G extends string> = Readonly<Record<G, Asked>>;

/**
 * Which groups of objects TrafficStacks keep. Only a stack makes them; a controller removes those that an older version of it has made, once no
 * stack is to have them.
 *
 * | TrafficStacks                                        | the flags     | kept by a stack                   |
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
export function keepersOf<G extends string>(
  types: KeptTypes<G>,
  stacks: readonly TrafficStack[],
  members: readonly Member[],
  byFlags: ReadonlySet<G>,
): Keepers<G> {
  const asking = stacks.filter(isStaying);
  const asked = (group: G): Asked => {
    const ids = new Set(members.filter((each) => each.group === group).map(idOf));
    const modes = asking.flatMap((stack) => modesOf(stack, types[group]));
    const isOn = modes.length === 0 ? undefined : modes.some((mode) => mode !== 'Disabled' && mode !== 'External');
    const used = usedBy(stacks, types[group]);
    const isNamed = asking
      .flatMap(componentsIn)
      .some((each) => each.type === types[group] && each.external !== undefined);
    const willBeKept = isOn ?? byFlags.has(group);
    const isDecided = used !== undefined || stacks.some((stack) => hasOwn(stack, types[group]));
    const isHolder = (stack: TrafficStack): boolean => holdsOneOf(stack, ids);
    const isKept = willBeKept || stacks.some(isHolder);
    const component = [...asking.filter(isHolder), ...asking].flatMap((stack) => ownIn(stack, types[group]))[0];
    return { isOn, ...(component && { component }), used, isNamed, isKept, isUndecided: willBeKept && !isDecided };
  };
  return Object.fromEntries(groupsIn(types).map((group) => [group, asked(group)])) as Keepers<G>;
}

/** What stacks use of somebody else in place of a type; undefined if none does, or if one has its own, which goes first. */
export function usedBy(stacks: readonly TrafficStack[], type: BuiltInType): Used | undefined {
  if (stacks.some((stack) => hasOwn(stack, type))) return undefined;
  return stacks.filter(isStaying).flatMap((stack) => usedIn(stack, type))[0];
}

/** Whether a stack has objects of a type, or is about to make some. */
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

/** The components of a type that may have objects of their own. */
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
 * The groups that a controller must leave as they are.
 *
 * @param keepers undefined if that is not known: then a stack may keep any of them
 */
export function keptByStacks<G extends string>(types: KeptTypes<G>, keepers: Keepers<G> | undefined): ReadonlySet<G> {
  return new Set(groupsIn(types).filter((group) => keepers?.[group].isKept ?? true));
}

function groupsIn<G extends string>(types: KeptTypes<G>): G[] {
  return Object.keys(types) as G[];
}

/** Characters of a built-in component, and of its status, that are kept without the body of the stack. */
const LONGEST_KEPT = 1_024;

/**
 * Returns what a cache keeps of a TrafficStack whose body it drops, in a bounded size: besides the identity, the first component of each
 * built-in type. Others must not deploy what the stack has, nor remove what it uses.
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
