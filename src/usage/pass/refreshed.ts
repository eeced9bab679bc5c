import type { Clock } from '../../runtime/process/clock.ts';

/** A value that is renewed beside the work that uses it, by one renewal at a time. */
export class Refreshed<T> {
  readonly #clock: Clock;
  readonly #everyMs: number;
  #value: T | undefined;
  #readAt = -Infinity;
  #triedAt = -Infinity;
  /** When the last reading ended, whatever came of it, and how long it took. */
  #endedAt = -Infinity;
  #tookMs = 0;
  #isExpired = false;
  #running: Promise<T> | undefined;

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

  /**
   * Starts reading a new value when it is time for one and nothing is under way. A failure leaves the old value until
   * it is time for the next: what was too much for the server is not asked again at once.
   *
   * @param options.freshMs how old a value may become, where that is more than the time from a failure to the next try
   * @param options.soonestMs from one try to the next, also of a value that has expired
   * @param options.restTimes how many times as long as the last reading took nothing is read after it, whatever is due
   */
  refresh(read: () => Promise<T>, { freshMs = this.#everyMs, soonestMs = 0, restTimes = 0 } = {}): void {
    const now = this.#clock.monotonic();
    const sinceTry = now - this.#triedAt;
    const hasFailed = this.#triedAt > this.#readAt;
    const isOld = hasFailed ? sinceTry >= this.#everyMs : now - this.#readAt >= freshMs;
    const isRested = now - this.#endedAt >= this.#tookMs * restTimes;
    const isDue = (isOld || this.#isExpired) && sinceTry >= soonestMs && isRested;
    if (this.#running === undefined && isDue) this.renew(read).catch(() => undefined);
  }

  /**
   * Resolves to a new value whether it is time or not: that of the reading under way, or else of one that begins now.
   * Rejects where it fails; who waits no longer stops nothing.
   */
  renew(read: () => Promise<T>): Promise<T> {
    if (this.#running !== undefined) return this.#running;
    this.#isExpired = false;
    this.#triedAt = this.#clock.monotonic();
    this.#running = read()
      .then((value) => {
        this.set(value);
        return value;
      })
      .finally(() => this.#ended());
    return this.#running;
  }

  #ended(): void {
    this.#running = undefined;
    this.#endedAt = this.#clock.monotonic();
    this.#tookMs = this.#endedAt - this.#triedAt;
  }

  /** Makes it time for a new value, whatever the age of this one. */
  expire(): void {
    this.#isExpired = true;
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#running?.catch(() => undefined);
  }
}
