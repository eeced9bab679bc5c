import type { Entry } from '../oldest.ts';
import { costOf, type ReadingNeed } from './readingNeed.ts';

/** How much the readings may cost that are evaluated; see costOf. */
export interface MostReadings {
  /** Those of one namespace. */
  readonly perNamespace: number;
  /** All together. */
  readonly inCluster: number;
}

type Need = Pick<ReadingNeed, 'key' | 'passes'>;

/** A TrafficWatch whose readings cost something. */
interface Wanting {
  readonly entry: Entry;
  readonly need: Need;
}

/**
 * Knows which TrafficWatches need readings beyond the limits. The memory of the operator grows with the distinct readings,
 * the passes that are kept of each, and the nodes. The oldest TrafficWatches come first, as for their number; one whose
 * reading an older one has pays only for further passes. A TrafficWatch that does not fit keeps no younger one out that
 * costs less.
 */
export class ReadingLimits {
  #most: MostReadings;
  readonly #wanting = new Map<string, Wanting>();
  readonly #namespaces = new Map<string, Account>();
  readonly #cluster: Account;

  constructor(most: MostReadings) {
    this.#most = most;
    this.#cluster = new Account(most.inCluster);
  }

  /**
   * Sets what a TrafficWatch needs.
   * @param key namespace/name
   * @param entry undefined if it needs nothing
   * @returns the keys of TrafficWatches that may have changed sides
   */
  set(key: string, entry: Entry | undefined, needOf: () => Need | undefined): string[] {
    const before = this.#wanting.get(key);
    const need = entry && needOf();
    if (before?.entry.uid === entry?.uid && before?.need.key === need?.key && before?.need.passes === need?.passes)
      return [];
    const removed = before === undefined ? [] : this.#remove(before);
    const isCostly = entry !== undefined && need !== undefined && costOf(need) > 0;
    return isCostly ? [...removed, ...this.#add({ entry, need })] : removed;
  }

  /** Sets other limits. @returns the keys of TrafficWatches that may have changed sides */
  setMost(most: MostReadings): string[] {
    this.#most = most;
    this.#cluster.most = most.inCluster;
    for (const account of this.#namespaces.values()) account.most = most.perNamespace;
    return [...this.#namespaces.keys()].flatMap((namespace) => this.#settle(namespace));
  }

  /** The limit that keeps a TrafficWatch out, and its value; undefined if none does. */
  beyond(
    key: string,
  ): { readonly limit: keyof MostReadings; readonly most: number; readonly cost: number } | undefined {
    const wanting = this.#wanting.get(key);
    if (wanting === undefined) return undefined;
    const cost = costOf(wanting.need);
    if (this.#cluster.isBeyond(wanting)) return { limit: 'inCluster', most: this.#most.inCluster, cost };
    const isBeyond = this.#namespaces.get(wanting.entry.namespace)?.isBeyond(wanting) === true;
    return isBeyond ? { limit: 'perNamespace', most: this.#most.perNamespace, cost } : undefined;
  }

  #add(wanting: Wanting): string[] {
    const { key, namespace } = wanting.entry;
    this.#wanting.set(key, wanting);
    const account = this.#namespaces.get(namespace) ?? new Account(this.#most.perNamespace);
    this.#namespaces.set(namespace, account);
    account.add(wanting);
    return [key, ...this.#settle(namespace)];
  }

  #remove(wanting: Wanting): string[] {
    const { key, namespace } = wanting.entry;
    this.#wanting.delete(key);
    this.#namespaces.get(namespace)?.remove(wanting);
    this.#cluster.remove(wanting);
    const changed = this.#settle(namespace);
    if (this.#namespaces.get(namespace)?.isEmpty === true) this.#namespaces.delete(namespace);
    return [key, ...changed];
  }

  /** Passes on to the cluster what a namespace has within its limit. */
  #settle(namespace: string): string[] {
    const account = this.#namespaces.get(namespace);
    const changed = account?.settle() ?? [];
    for (const wanting of changed) {
      if (account?.isBeyond(wanting) === true) this.#cluster.remove(wanting);
      else this.#cluster.add(wanting);
    }
    return [...changed, ...this.#cluster.settle()].map(({ entry }) => entry.key);
  }
}

/** TrafficWatches by age that share a limit. */
class Account {
  most: number;
  readonly #sorted: Wanting[] = [];
  /** Those that were decided. The value: whether they are beyond the limit. */
  readonly #decided = new Map<Wanting, boolean>();
  /** Those that were added since all were decided. */
  #fresh: Wanting[] = [];
  #beyond = 0;
  /** The sum of all costs, as if no reading were shared. */
  #sum = 0;

  constructor(most: number) {
    this.most = most;
  }

  get isEmpty(): boolean {
    return this.#sorted.length === 0;
  }

  isBeyond(wanting: Wanting): boolean {
    return this.#decided.get(wanting) === true;
  }

  add(wanting: Wanting): void {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#sorted[middle];
      if (other !== undefined && isOlder(other, wanting)) low = middle + 1;
      else high = middle;
    }
    this.#sorted.splice(low, 0, wanting);
    this.#fresh.push(wanting);
    this.#sum += costOf(wanting.need);
  }

  remove(wanting: Wanting): void {
    const place = this.#sorted.indexOf(wanting);
    if (place < 0) return;
    this.#sorted.splice(place, 1);
    this.#fresh = this.#fresh.filter((each) => each !== wanting);
    if (this.isBeyond(wanting)) this.#beyond--;
    this.#decided.delete(wanting);
    this.#sum -= costOf(wanting.need);
  }

  /** Decides all again, if any is beyond the limit or may be. @returns those that are new or have changed sides */
  settle(): Wanting[] {
    const allFit = this.#sum <= this.most;
    const spent = new Spent();
    const changed = (allFit && this.#beyond === 0 ? this.#fresh : this.#sorted).filter((wanting) =>
      this.#decide(wanting, !allFit && !spent.add(wanting.need, this.most)),
    );
    this.#fresh = [];
    return changed;
  }

  /** @returns true if that is new */
  #decide(wanting: Wanting, isBeyond: boolean): boolean {
    const before = this.#decided.get(wanting);
    if (before === isBeyond) return false;
    this.#decided.set(wanting, isBeyond);
    this.#beyond += Number(isBeyond) - Number(before ?? false);
    return true;
  }
}

/** What the readings of the oldest cost together. */
class Spent {
  #cost = 0;
  readonly #passes = new Map<string, number>();

  /** Adds a need. @returns false if it would cost more than `most` together: then it is not added */
  add({ key, passes }: Need, most: number): boolean {
    const before = this.#passes.get(key);
    if (before !== undefined && before >= passes) return true;
    const more = costOf({ key, passes }) - (before === undefined ? 0 : costOf({ key, passes: before }));
    if (this.#cost + more > most) return false;
    this.#cost += more;
    this.#passes.set(key, passes);
    return true;
  }
}

/** As `precedes`. The times are all of the same form, so they compare as text. */
function isOlder({ entry: a }: Wanting, { entry: b }: Wanting): boolean {
  return a.creationTimestamp === b.creationTimestamp ? a.uid < b.uid : a.creationTimestamp < b.creationTimestamp;
}
