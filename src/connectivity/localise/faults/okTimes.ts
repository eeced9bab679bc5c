import type { Pair } from '../pairs/pair.ts';
import { certainSince, type Period } from '../pairs/period.ts';
import type { FaultKind } from './faults.ts';
import { recoveredAt, sinceOf, works } from './working.ts';

/** When the pairs of a scope worked, as far as faults of a kind are concerned. */
export class OkTimes {
  /** Sorted by `since`, from which on it is certain; `latest` is the greatest `last` up to there. */
  readonly #periods: readonly { readonly since: number; readonly latest: number }[];
  readonly #measured: ReadonlySet<number>;
  readonly #lastRecovery: number;

  constructor(pairs: readonly Pair[], kind: FaultKind) {
    const working = pairs.filter((pair) => works(kind, pair));
    const periods = working
      .map((pair) => ({ since: certainSince({ since: sinceOf(kind, pair), last: pair.last }), latest: pair.last }))
      .sort((a, b) => a.since - b.since);
    let latest = -Infinity;
    for (const period of periods) {
      latest = Math.max(latest, period.latest);
      period.latest = latest;
    }
    this.#measured = new Set(working.map(({ last }) => last));
    this.#periods = periods;
    this.#lastRecovery = working.reduce((most, pair) => Math.max(most, recoveredAt(kind, pair) ?? most), -Infinity);
  }

  get isEmpty(): boolean {
    return this.#periods.length === 0;
  }

  /** Whether overlap() is true with any of the pairs. Its cost is logarithmic: there may be many faults of large scopes. */
  overlaps(period: Period): boolean {
    const { last: to } = period;
    if (this.#measured.has(to)) return true;
    let [low, high] = [0, this.#periods.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#periods[middle]?.since ?? Infinity) <= to) low = middle + 1;
      else high = middle;
    }
    return (this.#periods[low - 1]?.latest ?? -Infinity) >= certainSince(period);
  }

  /** Whether a pair works only since a time: it did not before, or its agent had not measured. */
  recoveredAfter(time: number): boolean {
    return this.#lastRecovery > time;
  }
}
