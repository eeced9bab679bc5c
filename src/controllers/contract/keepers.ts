import type { BuiltInType } from '../../api/trafficstack/terms.ts';
import {
  componentsIn,
  type ComponentSpec,
  type InventoryEntry,
  type TrafficStack,
  type UsedObject,
} from '../../api/trafficstack/trafficStack.ts';
import { idFor, idOf, type Member } from '../../runtime/objectSet/member.ts';

/** The TrafficStack of what the operator deploys itself. */
export const DEFAULT_STACK = 'default';

/** The groups of objects of a controller that TrafficStacks may keep in its place, and the type of component that each of them is. */
export type KeptTypes<G extends string> = Readonly<Record<G, BuiltInType>>;

/** A workload or Service of somebody else that a component uses in place of a group. */
export interface Used {
  readonly component: ComponentSpec;
  readonly workload: UsedObject;
}

/** What TrafficStacks ask for of a group. */
interface Asked {
  /** Undefined if none names it: then the flags decide. */
  readonly isOn: boolean | undefined;
  /** The component with that type, of the stack that has the objects, or else of the first one. */
  readonly component?: ComponentSpec | undefined;
  /** As the status of a stack says. */
  readonly used?: Used | undefined;
  /** A stack keeps its objects, or has not removed all of them yet, or will have it soon. */
  readonly isKept: boolean;
  /** A stack will have it, and has neither begun to make its own nor said that it uses what somebody else has made. */
  readonly isUndecided: boolean;
}

/** What TrafficStacks ask for. */
export type Keepers<G extends string> = Readonly<Record<G, Asked>>;

/**
 * Who keeps the groups of objects.
 *
 * | TrafficStacks                                        | kept by                                  |
 * |------------------------------------------------------|------------------------------------------|
 * | one has an object of the group in its inventory      | that stack, until it has removed it      |
 * | one names its type, and is not being deleted         | that stack                               |
 * | one names its type with the mode Disabled or External | nobody: the controller removes what is its own |
 * | none names its type                                  | the controller, as its flags say         |
 * | the same, and the stack `default` will have it, and does not exist yet | nobody: what somebody else has made would be found too late |
 *
 * @param members all objects of the groups
 * @param byDefault the groups that the operator puts into the stack `default`
 */
export function keepersOf<G extends string>(
  types: KeptTypes<G>,
  stacks: readonly TrafficStack[],
  members: readonly Member[],
  byDefault: ReadonlySet<G> = new Set(),
): Keepers<G> {
  const asking = stacks.filter(isStaying);
  // One that is being deleted is made anew.
  const isDefaultMissing = !asking.some(({ metadata }) => metadata?.name === DEFAULT_STACK);
  const asked = (group: G): Asked => {
    const ids = new Set(members.filter((each) => each.group === group).map(idOf));
    const modes = asking.flatMap((stack) => modesOf(stack, types[group]));
    const isOn = modes.length === 0 ? undefined : modes.some((mode) => mode !== 'Disabled' && mode !== 'External');
    const used = usedBy(stacks, types[group]);
    const isAwaited = isOn === undefined && isDefaultMissing && byDefault.has(group);
    const willBeKept = isOn === true || isAwaited;
    const isDecided = used !== undefined || stacks.some((stack) => hasOwn(stack, types[group]));
    const isHolder = (stack: TrafficStack): boolean => holdsOneOf(stack, ids);
    const isKept = willBeKept || stacks.some(isHolder);
    const component = [...asking.filter(isHolder), ...asking].flatMap((stack) => ownIn(stack, types[group]))[0];
    return { isOn, ...(component && { component }), used, isKept, isUndecided: willBeKept && !isDecided };
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

/** The groups that are unknown, with those that are left as they are with them. @param partners groups that are deployed together */
export function withPartners<G extends string>(
  unknown: ReadonlySet<G | undefined>,
  partners: readonly (readonly G[])[],
): ReadonlySet<G | undefined> {
  return new Set([...unknown, ...partners.filter((groups) => groups.some((group) => unknown.has(group))).flat()]);
}

function groupsIn<G extends string>(types: KeptTypes<G>): G[] {
  return Object.keys(types) as G[];
}
