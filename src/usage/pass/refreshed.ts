import type { Clock } from '../../runtime/process/clock.ts';

/** A value that is refreshed in the background. At most one read runs at a time. */
export class Refreshed<T> {
  readonly #clock: Clock;
  readonly #everyMs: number;
  #value: T | undefined;
  #readAt = -Infinity;
  /** When the read of the value began: it says nothing of what happened since. */
  #asOf = -Infinity;
  #triedAt = -Infinity;
  /** End and duration of the last read, successful or not. */
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

  /** Milliseconds since the read of `value` began; Infinity while there is none. */
  get ageMs(): number {
    return this.#clock.monotonic() - this.#asOf;
  }

  /** True if the last read failed: the value is of a read before. */
  get hasFailed(): boolean {
    return this.#running === undefined && this.#triedAt > this.#asOf;
  }

  set(value: T): void {
    this.#value = value;
    this.#readAt = this.#asOf = this.#clock.monotonic();
  }

  /**
   * Starts a read if one is due and none is running. A failed read keeps the old value and is retried after `everyMs`,
   * not at once, because the server may be overloaded.
   *
   * @param options.freshMs age at which a value is due; default: `everyMs`, which is also the delay after a failure
   * @param options.soonestMs minimum time between the starts of two reads, even if the value has expired
   * @param options.restTimes minimum pause after a read, as a multiple of its duration, even if the value has expired
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
   * Resolves to a new value, even if none is due: joins the running read, or starts one. Rejects if the read fails. A
   * caller that stops waiting does not cancel the read.
   */
  renew(read: () => Promise<T>): Promise<T> {
    if (this.#running !== undefined) return this.#running;
    this.#isExpired = false;
    this.#triedAt = this.#clock.monotonic();
    this.#running = read()
      .then((value) => {
        this.set(value);
        this.#asOf = this.#triedAt;
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

  /** Makes a new value due, regardless of the age of the current one. */
  expire(): void {
    this.#isExpired = true;
  }

  /** Resolves when no read is running. */
  async settled(): Promise<void> {
    await this.#running?.catch(() => undefined);
  }
}
