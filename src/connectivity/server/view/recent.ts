import type { Clock } from '../../../runtime/process/clock.ts';

/** A value that takes longer to make is kept for nine times as long, so that it takes a tenth of the time at most. */
const REST = 9;

/** Turns also take the time of what is answered meanwhile, so the value would be old on a busy server. */
const LONGEST_REST_MS = 5_000;

/** A value that is made at once when it is asked for, and kept for a while. */
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
 * As Recent, but a value that takes several turns of the event loop, and is kept for 5 s at most. Who asks meanwhile gets the same
 * one.
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

  /** Rejects if the value could not be made; the next call tries again. */
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
