import type { Reading, Readings } from '../evaluate/reading.ts';

/** The part of the deadline that all readings of a pass may take together. */
const SHARE = 0.5;
/** The part of that time which readings that are evaluated for the first time may take before the others. */
const SHARE_OF_NEW = 0.5;
/** The part of the deadline after which a pass begins no further work for readings: it must end in time. */
const LATEST = 0.9;

/** When the pass began, monotonic milliseconds, and after how many milliseconds it must end. */
interface PassTime {
  readonly beganAt: number;
  readonly deadlineMs: number;
}

/**
 * The time that a pass has for the readings besides the default one. Users choose their number and their patterns, so
 * they end before the deadline of the pass, which the default reading shares. What ran out of time continues with the
 * next pass: a filter remembers the names that it has matched.
 */
export class ReadingTime {
  readonly #now: () => number;
  readonly #costs: WeakMap<Reading, number>;
  readonly #end: number;
  readonly #endOfNew: number;
  #areNew = false;

  /**
   * @param now monotonic, milliseconds
   * @param costs what each reading took last, milliseconds; it is brought up to date
   */
  constructor(now: () => number, costs: WeakMap<Reading, number>, { beganAt, deadlineMs }: PassTime) {
    this.#now = now;
    this.#costs = costs;
    const began = now();
    this.#end = Math.min(began + SHARE * deadlineMs, beganAt + LATEST * deadlineMs);
    this.#endOfNew = began + SHARE_OF_NEW * (this.#end - began);
  }

  /** Whether no time is left for the reading that `order` gave last. */
  get isOver(): boolean {
    return this.#now() >= (this.#areNew ? this.#endOfNew : this.#end);
  }

  /**
   * The readings in the order in which they are evaluated, so that costly ones take nothing from others. Take the next one
   * when the one before is done.
   *
   * | reading                        | place                        | time it has             |
   * |--------------------------------|------------------------------|-------------------------|
   * | was not evaluated before       | first                        | half of all, together   |
   * | was evaluated                  | then, by what it took last   | the rest                |
   * | new, with no time left at first | last                        | the rest                |
   */
  *order(readings: Readings): Generator<[key: string, reading: Reading]> {
    const costOf = ([, reading]: [string, Reading]): number | undefined => this.#costs.get(reading);
    const fresh = [...readings].filter((each) => costOf(each) === undefined);
    const known = [...readings].filter((each) => costOf(each) !== undefined);
    const late: [string, Reading][] = [];
    this.#areNew = true;
    for (const each of fresh) {
      if (this.isOver) late.push(each);
      else yield each;
    }
    this.#areNew = false;
    yield* known.sort((a, b) => (costOf(a) ?? 0) - (costOf(b) ?? 0));
    yield* late;
  }

  /**
   * Runs the work for a reading, and remembers what it took.
   * @param work resolves to false if it ended early: then the reading takes at least what is known
   */
  async measure(reading: Reading, work: () => Promise<boolean>): Promise<boolean> {
    const began = this.#now();
    const isWhole = await work();
    const took = this.#now() - began;
    this.#costs.set(reading, isWhole ? took : Math.max(took, this.#costs.get(reading) ?? 0));
    return isWhole;
  }
}
