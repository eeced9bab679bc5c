import { idOf, isIn, isNamespace } from './member.ts';
import type { Member } from './member.ts';

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
