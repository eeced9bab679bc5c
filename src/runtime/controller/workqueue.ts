import { systemClock, type Clock, type Timer } from '../process/clock.ts';

/** First delay of a failed key, as in client-go's DefaultTypedControllerRateLimiter. */
const BASE_DELAY_MS = 5;

/** Longest delay of a failing key. With client-go's 1000 s, a key would recover too late after the cause is fixed. */
const MAX_DELAY_MS = 30_000;

/** Metrics of a queue. `waitedSeconds`: time from the addition of a key until a worker took it. */
export interface WorkQueueMetrics {
  depth(length: number): void;
  added(): void;
  retried(): void;
  taken(waitedSeconds: number): void;
}

interface WorkQueueOptions {
  clock?: Clock;
  metrics?: WorkQueueMetrics;
  /** First delay of a failed key, milliseconds. Doubles with each consecutive failure. */
  baseDelayMs?: number;
  /** Longest delay of a failing key, milliseconds. */
  maxDelayMs?: number;
}

interface Delayed {
  due: number;
  timer: Timer;
}

/**
 * A queue of keys with the semantics of client-go (util/workqueue). A key waits at most once, even if it is added
 * several times. A key that is added while a worker processes it is returned again after done(), so two workers never
 * process the same key. Keys are returned in the order of their addition. Call done() for every key that get() returns.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #metrics: WorkQueueMetrics | undefined;
  readonly #baseDelayMs: number;
  readonly #maxDelayMs: number;

  /** Waiting keys in order, with the time of their addition. Never contains a key that is being processed. */
  readonly #waiting = new Map<string, number>();
  readonly #processing = new Set<string>();
  /** Keys that were added while being processed, with the time of that addition. They wait again after done(). */
  readonly #again = new Map<string, number>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #failures = new Map<string, number>();
  /** Workers that wait for a key, in the order of their calls of get(). */
  readonly #idle = new Set<(key: string | undefined) => void>();
  readonly #drained: (() => void)[] = [];
  #shuttingDown = false;

  constructor(options: WorkQueueOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#metrics = options.metrics;
    this.#baseDelayMs = options.baseDelayMs ?? BASE_DELAY_MS;
    this.#maxDelayMs = options.maxDelayMs ?? MAX_DELAY_MS;
  }

  /** Number of keys that wait for a worker. Excludes delayed keys and keys being processed. */
  get length(): number {
    return this.#waiting.size;
  }

  /** True if no key waits or is being processed. Delayed keys do not count. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#processing.size === 0;
  }

  /** Adds a key. Has no effect once the queue shuts down. */
  add(key: string): void {
    if (this.#shuttingDown || this.#waiting.has(key) || this.#again.has(key)) {
      return;
    }
    this.#metrics?.added();
    const now = this.#clock.monotonic();
    if (this.#processing.has(key)) {
      this.#again.set(key, now);
    } else {
      this.#enqueue(key, now);
    }
  }

  /**
   * Adds a key after `ms` milliseconds. If the key already has a delay, the earlier one counts. An add() in between
   * does not cancel the delay.
   */
  addAfter(key: string, ms: number): void {
    if (this.#shuttingDown) {
      return;
    }
    if (!(ms > 0)) {
      this.add(key);
      return;
    }
    const due = this.#clock.monotonic() + ms;
    const before = this.#delayed.get(key);
    if (before === undefined || due < before.due) {
      before?.timer.cancel();
      const timer = this.#clock.setTimeout(() => this.#fire(key), ms);
      this.#delayed.set(key, { due, timer });
    }
  }

  /**
   * Adds a failed key after its backoff: 5 ms by default, doubled with each failure until forget(), at most 30 s.
   *
   * @param atLeastMs minimum delay, for a Retry-After of the server
   */
  addRateLimited(key: string, atLeastMs = 0): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#metrics?.retried();
    this.addAfter(key, Math.max(atLeastMs, Math.min(this.#baseDelayMs * 2 ** failures, this.#maxDelayMs)));
  }

  /** Resets the backoff of a key. Does not remove the key from the queue. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Number of consecutive failures of a key. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /**
   * Waits for a key and takes it. Resolves to undefined when `signal` is aborted, or when the queue shuts down and has
   * no waiting key left.
   */
  get(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) {
      return Promise.resolve(undefined);
    }
    const key = this.#take();
    return key !== undefined || this.#shuttingDown ? Promise.resolve(key) : this.#wait(signal);
  }

  /** Marks a key that get() returned as processed. */
  done(key: string): void {
    if (!this.#processing.delete(key)) {
      return;
    }
    const addedAt = this.#again.get(key);
    if (addedAt !== undefined) {
      this.#again.delete(key);
      this.#enqueue(key, addedAt);
    }
    this.#tellDrained();
  }

  /**
   * Ignores new keys and drops the delayed keys. get() still returns the waiting keys. Resolves when all of them are
   * done.
   */
  shutDown(): Promise<void> {
    this.#shuttingDown = true;
    for (const { timer } of this.#delayed.values()) {
      timer.cancel();
    }
    this.#delayed.clear();
    if (this.#waiting.size === 0 && this.#again.size === 0) {
      this.#dismissIdle();
    }
    return new Promise((resolve) => {
      this.#drained.push(resolve);
      this.#tellDrained();
    });
  }

  #fire(key: string): void {
    this.#delayed.delete(key);
    this.add(key);
  }

  #enqueue(key: string, addedAt: number): void {
    this.#waiting.set(key, addedAt);
    const [worker] = this.#idle;
    if (worker === undefined) {
      this.#metrics?.depth(this.#waiting.size);
    } else {
      worker(this.#take());
    }
  }

  #take(): string | undefined {
    const [first] = this.#waiting;
    if (first === undefined) {
      return undefined;
    }
    const [key, addedAt] = first;
    this.#waiting.delete(key);
    this.#processing.add(key);
    this.#metrics?.taken((this.#clock.monotonic() - addedAt) / 1000);
    this.#metrics?.depth(this.#waiting.size);
    return key;
  }

  #wait(signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve) => {
      const settle = (key: string | undefined): void => {
        this.#idle.delete(settle);
        signal.removeEventListener('abort', dismiss);
        resolve(key);
      };
      const dismiss = (): void => settle(undefined);
      this.#idle.add(settle);
      signal.addEventListener('abort', dismiss, { once: true });
    });
  }

  #dismissIdle(): void {
    for (const worker of [...this.#idle]) {
      worker(undefined);
    }
  }

  #tellDrained(): void {
    if (this.#shuttingDown && this.#waiting.size === 0 && this.#processing.size === 0) {
      this.#dismissIdle();
      for (const tell of this.#drained.splice(0)) {
        tell();
      }
    }
  }
}

/**
 * Adds keys to a queue at once, then at most once in an interval, however often users cause events. Never loses the last addition: it asks the queue
 * again until the interval is over, since the queue forgets a delay when it has an earlier one for the same key, whose reconcile sees
 * nothing of later events.
 */
export class PacedQueue {
  readonly #queue: Pick<WorkQueue, 'addAfter'>;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #intervalMs: number;
  /** When a key was, or is to be, added last: monotonic ms. Keys of the last two intervals, in the order of their last event. */
  readonly #latest = new Map<string, number>();

  /** @param intervalMs least time between two additions of a key */
  constructor(queue: Pick<WorkQueue, 'addAfter'>, clock: Pick<Clock, 'monotonic'>, intervalMs = 1_000) {
    this.#queue = queue;
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  add(key: string): void {
    const now = this.#clock.monotonic();
    const latest = this.#latest.get(key) ?? -Infinity;
    const next = latest > now ? latest : Math.max(now, latest + this.#intervalMs);
    this.#latest.delete(key);
    this.#forgetUntil(now - this.#intervalMs);
    this.#latest.set(key, next);
    this.#queue.addAfter(key, next - now);
  }

  #forgetUntil(time: number): void {
    for (const [key, latest] of this.#latest) {
      if (latest > time) return;
      this.#latest.delete(key);
    }
  }
}
