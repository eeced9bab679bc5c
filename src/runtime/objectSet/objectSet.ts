import { keyOf, type KubeObject, type ObjectRef, type Resource } from '../client/resource.ts';
import { APPLIED_HASH_ANNOTATION } from '../apply/difference.ts';

/** One object of a set. */
export interface Member<G extends string = string, T extends KubeObject = KubeObject> {
  /** The group is switched on and off as a whole. Members without one are a group too, which is switched off with all. */
  readonly group?: G | undefined;
  readonly resource: Resource<T>;
  /** All fields that the operator wants to own of the object, and no others. */
  readonly object: T;
  /**
   * Ids of the members that must be there before this one. The Namespace that the object is in need not be named where
   * it is in the set.
   */
  readonly dependsOn?: readonly string[] | undefined;
}

/** The id of a member, for messages too: 'Namespace a-node-exporter', 'Service a/prometheus'. */
export function idOf({ resource, object }: Member): string {
  return `${resource.kind} ${keyOf(object)}`;
}

/** Returns the id of a member of this kind and name. */
export function idFor({ kind }: Pick<Resource, 'kind'>, ref: ObjectRef): string {
  return `${kind} ${keyOf({ metadata: ref })}`;
}

/** Returns whether the member is a Namespace. */
export function isNamespace({ resource }: Member): boolean {
  return resource.kind === 'Namespace' && resource.group === '';
}

/** Returns whether the member is in this Namespace. */
export function isIn({ object }: Member, namespace: Member): boolean {
  return isNamespace(namespace) && object.metadata?.namespace === namespace.object.metadata?.name;
}

/** The labels that mark the objects of a set. */
export interface Owner {
  /** Labels that every object of the set has. */
  readonly labels: Readonly<Record<string, string>>;
  /**
   * Keys of `labels` that distinguish sets of this operator: an object with another value under such a key belongs to another
   * set.
   */
  readonly distinguishing?: readonly string[];
}

/**
 * Returns whether this operator made the object for the set:
 *
 * | the object                                                          | ours |
 * | ------------------------------------------------------------------- | ---- |
 * | is controlled by an owner that `desired` does not name as controller | no   |
 * | has another value under a distinguishing label                      | no   |
 * | has all labels of the owner                                         | yes  |
 * | lacks labels, but has the annotation of our apply (drift)           | yes  |
 * | anything else                                                       | no   |
 *
 * @param desired the desired object of the set
 */
export function isOwnedBy(
  { labels: marks, distinguishing = [] }: Owner,
  live: KubeObject,
  desired?: KubeObject,
): boolean {
  const { labels = {}, annotations = {} } = live.metadata ?? {};
  const expected = controllersOf(desired);
  if (controllersOf(live).some((uid) => !expected.includes(uid))) return false;
  if (distinguishing.some((key) => labels[key] !== undefined && labels[key] !== marks[key])) return false;
  return isMarked(live, marks) || annotations[APPLIED_HASH_ANNOTATION] !== undefined;
}

/** Returns whether the object has all of these labels. */
export function isMarked(object: KubeObject, marks: Owner['labels']): boolean {
  return Object.entries(marks).every(([key, value]) => object.metadata?.labels?.[key] === value);
}

function controllersOf(object: KubeObject | undefined): string[] {
  const owners = object?.metadata?.ownerReferences ?? [];
  return owners.filter(({ controller }) => controller === true).map(({ uid }) => uid);
}

/** A member whose `dependsOn` names every direct dependency, its Namespace included. */
export type OrderedMember<G extends string = string> = Member<G> & { readonly dependsOn: readonly string[] };

/**
 * Puts every member after the members that it depends on. Members that are in order already keep their order; a member
 * that comes too late moves to right before the first one that depends on it. Objects are made in this order, and
 * removed in the reverse order.
 *
 * @throws Error with the ids: two members have one id, a dependency is not in the set, or dependencies form a cycle
 */
export function orderMembers<G extends string>(members: readonly Member<G>[]): OrderedMember<G>[] {
  const byId = membersById(members);
  const ordered = new Map<string, OrderedMember<G>>();
  const visit = (id: string, path: readonly string[]): void => {
    if (ordered.has(id)) return;
    if (path.includes(id)) throw new Error(`objects depend on one another: ${cycle(id, path)}`);
    const member = byId.get(id);
    if (member === undefined) throw new Error(`${path.at(-1)} depends on ${id}, which is not in the set`);
    for (const dependency of member.dependsOn) visit(dependency, [...path, id]);
    ordered.set(id, member);
  };
  for (const id of byId.keys()) visit(id, []);
  return [...ordered.values()];
}

function membersById<G extends string>(members: readonly Member<G>[]): Map<string, OrderedMember<G>> {
  const namespaces = members.filter(isNamespace);
  const byId = new Map<string, OrderedMember<G>>();
  for (const member of members) {
    const id = idOf(member);
    if (byId.has(id)) throw new Error(`${id} is in the set twice`);
    const around = namespaces.filter((namespace) => isIn(member, namespace)).map(idOf);
    byId.set(id, { ...member, dependsOn: [...new Set([...around, ...(member.dependsOn ?? [])])] });
  }
  return byId;
}

/** 'A -> B -> A' of the steps that led back to A. */
function cycle(id: string, path: readonly string[]): string {
  return [...path.slice(path.indexOf(id)), id].join(' -> ');
}

/** Objects that are made, kept and removed together, in an order. */
export interface ObjectSet<G extends string = string> {
  readonly owner: Owner;
  /** Every member after the members that it depends on. */
  readonly members: readonly OrderedMember<G>[];
}

/**
 * Makes a set.
 *
 * @throws Error with the ids: a member lacks a label of the owner, is in the set twice, depends on an object that is not
 *   in the set, or depends on itself by way of others
 */
export function createObjectSet<G extends string>(owner: Owner, members: readonly Member<G>[]): ObjectSet<G> {
  const unmarked = members.filter(({ object }) => !isMarked(object, owner.labels));
  if (unmarked.length > 0) throw new Error(`lacks a label of its owner: ${unmarked.map(idOf).join(', ')}`);
  return { owner, members: orderMembers(members) };
}
