import type { Pair } from '../pairs/pair.ts';

/** When the pairs of a scope worked. */
export class OkTimes {
  /** Sorted by `since`; `latest` is the greatest `last` up to there. */
  readonly #periods: readonly { readonly since: number; readonly latest: number }[];
  readonly #lastRecovery: number;

  constructor(pairs: readonly Pair[]) {
    const ok = pairs.filter(({ quality }) => quality === 'Ok').sort((a, b) => a.since - b.since);
    let latest = -Infinity;
    this.#periods = ok.map(({ since, last }) => {
      latest = Math.max(latest, last);
      return { since, latest };
    });
    this.#lastRecovery = ok.reduce(
      (most, { since, last }) => (since === last ? Math.max(most, since) : most),
      -Infinity,
    );
  }

  get isEmpty(): boolean {
    return this.#periods.length === 0;
  }

  /** Whether a pair worked within a period. Its cost is logarithmic: there may be many faults of large scopes. */
  overlaps(from: number, to: number): boolean {
    let [low, high] = [0, this.#periods.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#periods[middle]?.since ?? Infinity) <= to) low = middle + 1;
      else high = middle;
    }
    return (this.#periods[low - 1]?.latest ?? -Infinity) >= from;
  }

  /** Whether a pair works only since a time: it did not before, or it was not measured. */
  recoveredAfter(time: number): boolean {
    return this.#lastRecovery > time;
  }
}
