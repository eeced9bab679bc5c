import type { KubeObject } from '../client/resource.ts';
import {
  idOf,
  isIn,
  isNamespace,
  type Member,
  type ObjectSet,
  type OrderedMember,
  isOwnedBy,
  type Owner,
} from './objectSet.ts';
import type { Problem } from '../process/problem.ts';

/** A member, and the present object of its name in the cluster. */
export interface Observed<M extends Member = OrderedMember> {
  readonly member: M;
  readonly live: KubeObject | undefined;
}

/** The groups that are switched off; 'all' for the whole set. */
export type SwitchedOff<G extends string> = ReadonlySet<G> | 'all';

/** The inputs of `planSet`. */
export interface Observation<G extends string = string> {
  readonly owner: ObjectSet<G>['owner'];
  /** In the order of the set. */
  readonly observed: readonly Observed<OrderedMember<G>>[];
  readonly off: SwitchedOff<G>;
  /** Groups with a live object that is not known, because the operator may not watch it. */
  readonly unknown: ReadonlySet<G | undefined>;
  /** 'namespace/name' of objects that are not ours; read only in Namespaces that may have to go. */
  readonly strangers: readonly string[];
}

/** The plan for a set. */
export interface Plan {
  /** Members to apply, in the order of the set. The Applier writes only if they differ. */
  readonly apply: readonly Observed[];
  /** Members to delete, in the reverse order of the set. */
  readonly remove: readonly Observed[];
  readonly problems: readonly Problem[];
  /** True while an object is being deleted: it cannot be created again before that ends. */
  readonly waiting: boolean;
}

/**
 * Decides about every member:
 *
 * | member | in the cluster                                 | plan                                   |
 * | ------ | ---------------------------------------------- | -------------------------------------- |
 * | on     | nothing, or ours                               | apply                                  |
 * | on     | ours, being deleted                            | wait, with all that depends on it      |
 * | on     | foreign                                        | do not touch it, and name it           |
 * | off    | ours                                           | remove                                 |
 * | off    | ours, being deleted                            | nothing                                |
 * | off    | ours, a Namespace that holds something foreign | keep and name it                       |
 * | off    | nothing, or foreign                            | nothing                                |
 * | any    | an object of its group is not known            | nothing                                |
 * | on     | an object that it depends on is not known      | nothing                                |
 * | off    | an object that depends on it is not known      | nothing                                |
 *
 * A member is on when its group is on, or when a member that is on depends on it. Members may depend on a foreign object: an
 * administrator may have created a Namespace beforehand.
 *
 * A Namespace holds something foreign when a stranger, or a foreign object under the name of a member, is in it:
 * everything in the Namespace would be deleted with it.
 */
export function planSet<G extends string>(observation: Observation<G>): Plan {
  const members = observation.observed.map(({ member }) => member);
  const scope: Scope = {
    ...observation,
    members,
    wanted: withDependencies(members, idsOf(members.filter(({ group }) => !isOff(observation.off, group)))),
    unseen: idsOf(members.filter(({ group }) => observation.unknown.has(group))),
  };
  const { apply, foreign, leaving } = planWanted(scope);
  const { remove, kept } = planUnwanted(scope);
  const problems = [
    ...foreign.map(({ member }) => foreignProblem(member)),
    ...kept.map(({ member }) => keptProblem(member)),
  ];
  return { apply, remove, problems, waiting: leaving.length > 0 };
}

/** An observation, and the ids that are on (`wanted`) or not known (`unseen`). */
interface Scope extends Pick<Observation, 'owner' | 'observed' | 'strangers'> {
  readonly members: readonly OrderedMember[];
  readonly wanted: ReadonlySet<string>;
  readonly unseen: ReadonlySet<string>;
}

function planWanted({
  owner,
  observed,
  members,
  wanted,
  unseen,
}: Scope): Record<'apply' | 'foreign' | 'leaving', Observed[]> {
  const on = observed.filter(({ member }) => wanted.has(idOf(member)) && !unseen.has(idOf(member)));
  const foreign = on.filter((each) => isForeign(owner, each));
  const leaving = on.filter((each) => isOurs(owner, each) && isLeaving(each));
  const blocked = withDependants(members, [...unseen, ...leaving.map(({ member }) => idOf(member))]);
  const apply = on.filter((each) => !foreign.includes(each) && !blocked.has(idOf(each.member)));
  return { apply, foreign, leaving };
}

function planUnwanted({
  owner,
  observed,
  strangers,
  members,
  wanted,
  unseen,
}: Scope): Record<'remove' | 'kept', Observed[]> {
  const needed = withDependencies(members, [...wanted, ...unseen]);
  const off = observed.filter(({ member }) => !needed.has(idOf(member)));
  const removable = off.filter((each) => isOurs(owner, each) && !isLeaving(each));
  const kept = removable.filter((each) => holdsForeign(owner, each, observed, strangers));
  return { remove: removable.filter((each) => !kept.includes(each)).reverse(), kept };
}

/** Returns whether the live object was not made by this operator for the set. */
export function isForeign(owner: Owner, { member, live }: Observed<Member>): boolean {
  return live !== undefined && !isOwnedBy(owner, live, member.object);
}

function isOurs(owner: Owner, { member, live }: Observed<Member>): boolean {
  return live !== undefined && isOwnedBy(owner, live, member.object);
}

function isLeaving({ live }: Observed<Member>): boolean {
  return live?.metadata?.deletionTimestamp !== undefined;
}

/** Returns whether a group is switched off. */
export function isOff<G extends string>(off: SwitchedOff<G>, group: G | undefined): boolean {
  return off === 'all' || (group !== undefined && off.has(group));
}

function holdsForeign(
  owner: Owner,
  { member: namespace }: Observed,
  observed: readonly Observed[],
  strangers: readonly string[],
): boolean {
  if (!isNamespace(namespace)) return false;
  const prefix = `${namespace.object.metadata?.name}/`;
  return (
    strangers.some((key) => key.startsWith(prefix)) ||
    observed.some((each) => isIn(each.member, namespace) && isForeign(owner, each))
  );
}

function idsOf(members: readonly Member[]): ReadonlySet<string> {
  return new Set(members.map(idOf));
}

/** Returns these ids and the ids of all members that depend on them, directly or not. */
function withDependants(members: readonly OrderedMember[], ids: Iterable<string>): ReadonlySet<string> {
  const found = new Set(ids);
  for (const member of members) if (member.dependsOn.some((id) => found.has(id))) found.add(idOf(member));
  return found;
}

/** Returns these ids and the ids of all members that they depend on, directly or not. */
function withDependencies(members: readonly OrderedMember[], ids: Iterable<string>): ReadonlySet<string> {
  const found = new Set(ids);
  for (const member of members.toReversed()) {
    if (found.has(idOf(member))) for (const id of member.dependsOn) found.add(id);
  }
  return found;
}

/** Returns the problem that a foreign object has the name of a member. */
export function foreignProblem(member: Member): Problem {
  const object = idOf(member);
  const message = `${object} exists and was not made by this operator; not touched. The operator creates its own once it is deleted`;
  return { reason: 'ForeignObject', object, message };
}

/** Returns the problem that a Namespace cannot be removed yet. */
function keptProblem(namespace: Member): Problem {
  const object = idOf(namespace);
  const why = 'an object in it was not made by this operator. Move that object to another Namespace';
  const message = `${object} is no longer needed, but kept: ${why}`;
  return { reason: 'NamespaceKept', object, message };
}

/** Returns the problem that a write failed. */
export function writeProblem(member: Member, error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error);
  return { reason: 'WriteFailed', object: idOf(member), message };
}

/** Returns the problem that the API server does not allow the operator to watch an object. */
export function refusalProblem(object: string, detail: string): Problem {
  const message = `${detail}; allow it: until then, objects that depend on it are unchanged`;
  return { reason: 'Forbidden', object, message };
}
