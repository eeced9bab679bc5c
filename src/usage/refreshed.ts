import type { Clock } from '../runtime/clock.ts';

/** A value that is renewed beside the work that uses it, by one renewal at a time. */
export class Refreshed<T> {
  readonly #clock: Clock;
  readonly #everyMs: number;
  #value: T | undefined;
  #readAt = -Infinity;
  #running: Promise<void> | undefined;

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** The last value, however old. */
  get value(): T | undefined {
    return this.#value;
  }

  /** Milliseconds since `value` was read; Infinity while there is none. */
  get ageMs(): number {
    return this.#clock.monotonic() - this.#readAt;
  }

  set(value: T): void {
    this.#value = value;
    this.#readAt = this.#clock.monotonic();
  }

  /** Starts reading a new value when it is time for one and nothing is under way. A failure leaves the old value. */
  refresh(read: () => Promise<T>): void {
    if (this.#running !== undefined || this.ageMs < this.#everyMs) return;
    this.#running = read()
      .then((value) => this.set(value))
      .catch(() => undefined)
      .finally(() => (this.#running = undefined));
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#running;
  }
}
