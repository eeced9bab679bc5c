import { isOlder } from '../../model/labelKeys.ts';
import type { Entry } from '../oldest.ts';
import { costOf, type ReadingNeed } from './readingNeed.ts';

/** A TrafficWatch whose readings cost something. */
export interface Wanting extends Entry {
  readonly need: Pick<ReadingNeed, 'key' | 'passes'>;
}

/**
 * Selects the TrafficWatches of one namespace that fit into a limit. The oldest come first. A TrafficWatch that does not fit keeps no younger one
 * out that costs less.
 * @param wanting oldest first
 * @param most limit of what their readings cost together
 */
export function fitting(wanting: readonly Wanting[], most: number): Wanting[] {
  const spent = new Spent();
  return wanting.filter(({ need }) => spent.add(need, most));
}

/** The cost of the readings together, see costOf. A reading of several TrafficWatches costs once, for the most passes. */
export function costOfAll(wanting: readonly Wanting[]): number {
  const spent = new Spent();
  for (const { need } of wanting) spent.add(need, Infinity);
  return spent.cost;
}

/**
 * Selects the TrafficWatches of all namespaces that fit into the limit of the cluster. Namespaces share it (max-min fairness): each gets its demand
 * up to an equal share, and what namespaces leave of theirs goes to the others. So no namespace can take from others what is within their share.
 *
 * | readings of a namespace                                  | place                                                       |
 * |----------------------------------------------------------|-------------------------------------------------------------|
 * | fit into its share, the oldest TrafficWatches first      | first: all of these fit                                     |
 * | are beyond                                               | then, by what the namespace would have with them; then by age |
 *
 * More than the shares fit if namespaces have the same readings, which cost once, or if a share is no whole number.
 * @param namespaces the TrafficWatches of each namespace, oldest first
 * @param most limit of what all readings cost together
 */
export function sharedFairly(namespaces: readonly (readonly Wanting[])[], most: number): Set<Wanting> {
  const share = equalShare(namespaces.map(costOfAll), most);
  const spent = new Spent();
  const within = new Set<Wanting>();
  for (const { wanting } of namespaces.flatMap((each) => ranksOf(each, share)).sort(byRank)) {
    if (spent.add(wanting.need, most)) within.add(wanting);
  }
  return within;
}

/**
 * The most that each namespace gets if all demands together are above the limit, and Infinity if they are not.
 * @param demands what the readings of each namespace cost
 */
export function equalShare(demands: readonly number[], most: number): number {
  let left = most;
  for (const [index, demand] of demands.toSorted((a, b) => a - b).entries()) {
    const share = left / (demands.length - index);
    if (demand > share) return share;
    left -= demand;
  }
  return Infinity;
}

interface Ranked {
  readonly wanting: Wanting;
  /** The cost of the namespace's readings up to this TrafficWatch. Above the share if it does not fit into it. */
  readonly level: number;
}

function ranksOf(oldestFirst: readonly Wanting[], share: number): Ranked[] {
  const [within, all] = [new Spent(), new Spent()];
  return oldestFirst.map((wanting) => {
    all.add(wanting.need, Infinity);
    return { wanting, level: within.add(wanting.need, share) ? within.cost : all.cost };
  });
}

function byRank(a: Ranked, b: Ranked): number {
  return a.level - b.level || (isOlder(a.wanting, b.wanting) ? -1 : 1);
}

/** Readings that are paid, and what they cost together. */
class Spent {
  cost = 0;
  readonly #passes = new Map<string, number>();

  /** Adds a need. @returns false if all would then cost more than `most`: it is not added */
  add(need: Wanting['need'], most: number): boolean {
    const before = this.#passes.get(need.key);
    if (before !== undefined && before >= need.passes) return true;
    const more = before === undefined ? costOf(need) : need.passes - before;
    if (this.cost + more > most) return false;
    this.cost += more;
    this.#passes.set(need.key, need.passes);
    return true;
  }
}
