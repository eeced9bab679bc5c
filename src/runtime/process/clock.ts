/** A scheduled callback that can be cancelled. */
export interface Timer {
  /** Cancels the callback. Has no effect after it fired or was cancelled. */
  cancel(): void;
}

/** The only source of time in this program. It is injected, so that tests can control the time. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. For timestamps; it can jump. */
  now(): number;
  /** Monotonic milliseconds since an arbitrary start. For durations and deadlines. */
  monotonic(): number;
  /** Calls `fn` once after `ms` milliseconds; does not keep the process alive. */
  setTimeout(fn: () => void, ms: number): Timer;
  /**
   * Resolves after `ms` milliseconds, or at once when `signal` is aborted. Never rejects. Keeps the process alive, so
   * that a command does not end while it pauses between two attempts.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Node's setTimeout overflows above this value and fires at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(fn, ms) {
    const timer = startTimer(fn, ms);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  sleep(ms, signal) {
    const wait: Waiting = (fn) => {
      const timer = startTimer(fn, ms);
      return { cancel: () => clearTimeout(timer) };
    };
    return sleepBy(wait, signal);
  },
};

function startTimer(fn: () => void, ms: number): NodeJS.Timeout {
  return setTimeout(fn, Math.min(Math.max(ms, 0), LONGEST_TIMEOUT_MS));
}

type Waiting = (fn: () => void) => Timer;

function sleepBy(wait: Waiting, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const wake = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = wait(wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}

interface FakeTimer {
  at: number;
  fn: () => void;
}

/** A clock that a test advances. Wall clock and monotonic clock advance together. */
export class FakeClock implements Clock {
  #elapsed = 0;
  #start: number;
  #timers: FakeTimer[] = [];

  /** @param start initial wall clock, milliseconds since 1970 */
  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#start = start;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  setTimeout(fn: () => void, ms: number): Timer {
    const timer = { at: this.#elapsed + Math.max(ms, 0), fn };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepBy((fn) => this.setTimeout(fn, ms), signal);
  }

  /** Lets the wall clock jump, as if someone had set it. */
  jump(ms: number): void {
    this.#start += ms;
  }

  /** Number of pending timers. A test can check that it is 0 at the end. */
  get pending(): number {
    return this.#timers.length;
  }

  /**
   * Advances the time and fires the due timers in order, each at its own time. Promises that a timer resolves run
   * before the next timer fires, unless they need real I/O.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await settle();
    for (let next = this.#dueBy(end); next !== undefined; next = this.#dueBy(end)) {
      const timer = next;
      this.#timers = this.#timers.filter((other) => other !== timer);
      this.#elapsed = Math.max(this.#elapsed, timer.at);
      timer.fn();
      await settle();
    }
    this.#elapsed = end;
  }

  #dueBy(end: number): FakeTimer | undefined {
    let first: FakeTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer;
    }
    return first;
  }
}

/** Lets resolved promises run: setImmediate fires after all microtasks. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
