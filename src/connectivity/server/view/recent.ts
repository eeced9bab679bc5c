import type { Clock } from '../../../runtime/process/clock.ts';

/** A value is kept for nine times as long as it takes to compute, so that the computation takes at most a tenth of the time. */
const REST = 9;

/** The longest time a value in turns is kept, ms. Other requests prolong its computation, so it would become old on a busy server. */
const LONGEST_REST_MS = 5_000;

/** A value that is computed when it is requested, and then kept for a while. */
export class Recent<T> {
  readonly #clock: Clock;
  readonly #keptMs: number;
  readonly #make: (last: T | undefined) => T;
  #last: { readonly value: T; readonly until: number } | undefined;

  /** @param make may return the last value if nothing has changed */
  constructor(clock: Clock, keptMs: number, make: (last: T | undefined) => T) {
    this.#clock = clock;
    this.#keptMs = keptMs;
    this.#make = make;
  }

  get(): T {
    const from = this.#clock.monotonic();
    if (this.#last !== undefined && from < this.#last.until) return this.#last.value;
    const value = this.#make(this.#last?.value);
    const end = this.#clock.monotonic();
    this.#last = { value, until: end + Math.max(this.#keptMs, REST * (end - from)) };
    return value;
  }
}

/**
 * The same as Recent for a value whose computation takes several turns of the event loop. It is kept for at most 5 s. Requests
 * during the computation get the same value.
 */
export class RecentInTurns<T> {
  readonly #clock: Clock;
  readonly #keptMs: number;
  readonly #make: () => Promise<T>;
  #last: { readonly value: T; readonly until: number } | undefined;
  #making: Promise<T> | undefined;

  constructor(clock: Clock, keptMs: number, make: () => Promise<T>) {
    this.#clock = clock;
    this.#keptMs = keptMs;
    this.#make = make;
  }

  /** Returns the value. Rejects if the computation fails; the next call tries again. */
  async get(): Promise<T> {
    if (this.#last !== undefined && this.#clock.monotonic() < this.#last.until) return this.#last.value;
    this.#making ??= this.#makeNow().finally(() => (this.#making = undefined));
    return this.#making;
  }

  async #makeNow(): Promise<T> {
    const from = this.#clock.monotonic();
    const value = await this.#make();
    const end = this.#clock.monotonic();
    this.#last = { value, until: end + Math.max(this.#keptMs, Math.min(REST * (end - from), LONGEST_REST_MS)) };
    return value;
  }
}
