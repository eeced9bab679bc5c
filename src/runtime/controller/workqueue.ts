import { systemClock, type Clock, type Timer } from '../process/clock.ts';

/** First delay of a key that failed, as client-go's DefaultTypedControllerRateLimiter. */
const BASE_DELAY_MS = 5;

/** Longest delay of a key that fails again and again. client-go's 1000 s would leave a cured cause unnoticed for long. */
const MAX_DELAY_MS = 30_000;

/** What a queue tells of itself; seconds are those a key waited until a worker took it. */
export interface WorkQueueMetrics {
  depth(length: number): void;
  added(): void;
  retried(): void;
  taken(waitedSeconds: number): void;
}

export interface WorkQueueOptions {
  clock?: Clock;
  metrics?: WorkQueueMetrics;
  /** Milliseconds; doubled with each failure of a key in a row. */
  baseDelayMs?: number;
  /** Milliseconds; the most that a failing key waits. */
  maxDelayMs?: number;
}

interface Delayed {
  due: number;
  timer: Timer;
}

/**
 * Keys that want work, to client-go's semantics (util/workqueue): a key waits once however often it is added; a key
 * added while a worker has it is handed out again after done(), so two workers never have the same key; first come,
 * first served. Every key that get() returns must be given back by done().
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #metrics: WorkQueueMetrics | undefined;
  readonly #baseDelayMs: number;
  readonly #maxDelayMs: number;

  /** Keys that wait, in order, with the time each was added. Never holds a key that is being processed. */
  readonly #waiting = new Map<string, number>();
  readonly #processing = new Set<string>();
  /** Added while being processed: wait again once done, with the time of that addition. */
  readonly #again = new Map<string, number>();
  readonly #delayed = new Map<string, Delayed>();
  readonly #failures = new Map<string, number>();
  /** Workers that wait for a key, longest first. */
  readonly #idle = new Set<(key: string | undefined) => void>();
  readonly #drained: (() => void)[] = [];
  #shuttingDown = false;

  constructor(options: WorkQueueOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#metrics = options.metrics;
    this.#baseDelayMs = options.baseDelayMs ?? BASE_DELAY_MS;
    this.#maxDelayMs = options.maxDelayMs ?? MAX_DELAY_MS;
  }

  /** How many keys wait for a worker; delayed ones and those being processed do not count. */
  get length(): number {
    return this.#waiting.size;
  }

  /** No key waits and no worker has one; delayed ones do not count. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#processing.size === 0;
  }

  /** Asks for work on a key as soon as a worker is free. Ignored once the queue shuts down. */
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
   * Asks for work on a key in `ms` milliseconds. Of several delays the one that ends first counts. An add() in between
   * does not call the delayed one off.
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
   * Asks again for a key that failed: after 5 ms, doubled with each failure until forget(), 30 s at most.
   *
   * @param atLeastMs never sooner than this, for a server that said when to come back
   */
  addRateLimited(key: string, atLeastMs = 0): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#metrics?.retried();
    this.addAfter(key, Math.max(atLeastMs, Math.min(this.#baseDelayMs * 2 ** failures, this.#maxDelayMs)));
  }

  /** Ends the backoff of a key. Does not take the key out of the queue. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** How often a key failed in a row. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /**
   * Waits for a key and takes it. Undefined when `signal` is aborted, or when the queue shuts down and all that waited
   * has been handed out.
   */
  get(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) {
      return Promise.resolve(undefined);
    }
    const key = this.#take();
    return key !== undefined || this.#shuttingDown ? Promise.resolve(key) : this.#wait(signal);
  }

  /** Gives back a key that get() returned. */
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
   * Takes no more keys and drops the delayed ones. What waits already is still handed out. Resolves when all of it has
   * been given back.
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
