import type { Pair } from '../pairs/pair.ts';
import { certainSince, type Period } from '../pairs/period.ts';

/** When the pairs of a scope worked. */
export class OkTimes {
  /** Sorted by `since`, from which on it is certain; `latest` is the greatest `last` up to there. */
  readonly #periods: readonly { readonly since: number; readonly latest: number }[];
  readonly #measured: ReadonlySet<number>;
  readonly #lastRecovery: number;

  constructor(pairs: readonly Pair[]) {
    const ok = pairs.filter(({ quality }) => quality === 'Ok').sort((a, b) => certainSince(a) - certainSince(b));
    let latest = -Infinity;
    this.#measured = new Set(ok.map(({ last }) => last));
    this.#periods = ok.map((pair) => {
      latest = Math.max(latest, pair.last);
      return { since: certainSince(pair), latest };
    });
    this.#lastRecovery = ok.reduce(
      (most, { since, last, isFirst }) => (since === last && !isFirst ? Math.max(most, since) : most),
      -Infinity,
    );
  }

  get isEmpty(): boolean {
    return this.#periods.length === 0;
  }

  /** As overlap() with any of the pairs. Its cost is logarithmic: there may be many faults of large scopes. */
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

  /**
   * Whether a pair works only since a time: it did not before, or its agent had not measured. A pair that is new in the
   * rotation is no sign of a recovery.
   */
  recoveredAfter(time: number): boolean {
    return this.#lastRecovery > time;
  }
}
