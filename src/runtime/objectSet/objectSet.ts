import { idOf } from './member.ts';
import type { Member } from './member.ts';
import { orderMembers } from './order.ts';
import type { OrderedMember } from './order.ts';
import { isMarked } from './owner.ts';
import type { Owner } from './owner.ts';

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
