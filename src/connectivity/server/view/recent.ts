import type { Clock } from '../../../runtime/process/clock.ts';

/** A value that takes longer to make is kept for nine times as long, so that it takes a tenth of the time at most. */
const REST = 9;

/** A value that is made when it is asked for, and kept for a while. */
export class Recent<T> {
  readonly #clock: Clock;
  readonly #keptMs: number;
  readonly #make: () => T;
  #last: { readonly value: T; readonly until: number } | undefined;

  constructor(clock: Clock, keptMs: number, make: () => T) {
    this.#clock = clock;
    this.#keptMs = keptMs;
    this.#make = make;
  }

  get(): T {
    const from = this.#clock.monotonic();
    if (this.#last !== undefined && from < this.#last.until) return this.#last.value;
    const value = this.#make();
    const end = this.#clock.monotonic();
    this.#last = { value, until: end + Math.max(this.#keptMs, REST * (end - from)) };
    return value;
  }
}
