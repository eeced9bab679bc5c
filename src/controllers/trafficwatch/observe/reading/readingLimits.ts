import { placeByAge, type Entry } from '../oldest.ts';
import { costOf, type ReadingNeed } from './readingOf.ts';
import { isOlder } from '../../model/labelKeys.ts';

/** The maximum cost of the evaluated readings; see costOf. */
export interface MostReadings {
  /** The readings of one namespace. */
  readonly perNamespace: number;
  /** The readings of all namespaces together. */
  readonly inCluster: number;
}

/** The TrafficWatches of one namespace. */
interface Namespace {
  /** All, oldest first. */
  readonly all: Wanting[];
  /** The TrafficWatches within the limit of the namespace, oldest first. */
  within: readonly Wanting[];
  /** The cost of the readings of `within`. */
  cost: number;
}

/**
 * Knows which TrafficWatches need readings beyond the limits. The memory of the operator grows with the distinct readings,
 * the passes that are kept of each, and the nodes. Within a namespace the oldest TrafficWatches come first, as for their
 * number; one whose reading an older one has pays only for further passes. Namespaces share the limit of the cluster: see
 * sharedFairly.
 */
export class ReadingLimits {
  #most: MostReadings;
  readonly #wanting = new Map<string, Wanting>();
  readonly #namespaces = new Map<string, Namespace>();
  /** The limit that keeps a TrafficWatch out, by its key. */
  #beyond: ReadonlyMap<string, keyof MostReadings> = new Map();

  constructor(most: MostReadings) {
    this.#most = most;
  }

  /**
   * Sets what a TrafficWatch needs.
   * @param key namespace/name
   * @param entry undefined if it needs nothing
   * @returns the keys of TrafficWatches that may have changed sides
   */
  set(key: string, entry: Entry | undefined, needOf: () => Wanting['need'] | undefined): string[] {
    const before = this.#wanting.get(key);
    const need = entry && needOf();
    if (before?.uid === entry?.uid && before?.need.key === need?.key && before?.need.passes === need?.passes) return [];
    if (before !== undefined) this.#remove(before);
    if (entry !== undefined && need !== undefined && costOf(need) > 0) this.#add({ ...entry, need });
    return [key, ...this.#share()];
  }

  /** Sets other limits. @returns the keys of TrafficWatches that may have changed sides */
  setMost(most: MostReadings): string[] {
    this.#most = most;
    for (const namespace of this.#namespaces.values()) this.#settle(namespace);
    return this.#share();
  }

  /** The limit that keeps a TrafficWatch out, and its value; undefined if none does. */
  beyond(
    key: string,
  ): { readonly limit: keyof MostReadings; readonly most: number; readonly cost: number } | undefined {
    const [wanting, limit] = [this.#wanting.get(key), this.#beyond.get(key)];
    if (wanting === undefined || limit === undefined) return undefined;
    return { limit, most: this.#most[limit], cost: costOf(wanting.need) };
  }

  #add(wanting: Wanting): void {
    this.#wanting.set(wanting.key, wanting);
    const namespace = this.#namespaces.get(wanting.namespace) ?? { all: [], within: [], cost: 0 };
    this.#namespaces.set(wanting.namespace, namespace);
    namespace.all.splice(placeByAge(namespace.all, wanting), 0, wanting);
    this.#settle(namespace);
  }

  #remove(wanting: Wanting): void {
    this.#wanting.delete(wanting.key);
    const namespace = this.#namespaces.get(wanting.namespace);
    if (namespace === undefined) return;
    namespace.all.splice(namespace.all.indexOf(wanting), 1);
    this.#settle(namespace);
    if (namespace.all.length === 0) this.#namespaces.delete(wanting.namespace);
  }

  #settle(namespace: Namespace): void {
    namespace.within = fitting(namespace.all, this.#most.perNamespace);
    namespace.cost = costOfAll(namespace.within);
  }

  /** Decides all again. @returns the keys of those that have changed sides, or are beyond another limit */
  #share(): string[] {
    const before = this.#beyond;
    const now = this.#beyondNow();
    this.#beyond = now;
    return [
      ...[...before.keys()].filter((key) => before.get(key) !== now.get(key)),
      ...[...now.keys()].filter((key) => !before.has(key)),
    ];
  }

  #beyondNow(): Map<string, keyof MostReadings> {
    const beyond = new Map<string, keyof MostReadings>();
    const namespaces = [...this.#namespaces.values()];
    const note = (all: readonly Wanting[], isWithin: ReadonlySet<Wanting>, limit: keyof MostReadings): void => {
      for (const wanting of all) if (!isWithin.has(wanting)) beyond.set(wanting.key, limit);
    };
    for (const { all, within } of namespaces) {
      if (within.length < all.length) note(all, new Set(within), 'perNamespace');
    }
    const cost = namespaces.reduce((sum, each) => sum + each.cost, 0);
    if (cost <= this.#most.inCluster) return beyond;
    const within = namespaces.map((each) => each.within);
    note(within.flat(), sharedFairly(within, this.#most.inCluster), 'inCluster');
    return beyond;
  }
}

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
