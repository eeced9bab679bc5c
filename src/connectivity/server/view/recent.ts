import type { Clock } from '../../../runtime/process/clock.ts';

/** A value that is made when it is asked for, and kept for a while. */
export class Recent<T> {
  readonly #clock: Clock;
  readonly #keptMs: number;
  readonly #make: () => T;
  #last: { readonly value: T; readonly at: number } | undefined;

  constructor(clock: Clock, keptMs: number, make: () => T) {
    this.#clock = clock;
    this.#keptMs = keptMs;
    this.#make = make;
  }

  get(): T {
    const now = this.#clock.monotonic();
    if (this.#last === undefined || now - this.#last.at >= this.#keptMs) this.#last = { value: this.#make(), at: now };
    return this.#last.value;
  }
}
