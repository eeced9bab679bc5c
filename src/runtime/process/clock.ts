/** Something that was scheduled and can be called off. */
export interface Timer {
  /** Calls it off; a timer that has fired, or was called off before, is left as it is. */
  cancel(): void;
}

/** All time this program sees. Injected, so that a test can say what the time is. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. For what is written down; it can jump. */
  now(): number;
  /** Milliseconds that never go back, from an arbitrary start. For durations and deadlines. */
  monotonic(): number;
  /** Calls `fn` once after `ms` milliseconds; does not keep the process alive. */
  setTimeout(fn: () => void, ms: number): Timer;
  /**
   * Resolves after `ms` milliseconds, or at once when `signal` is aborted: it never rejects. Keeps the process alive,
   * since somebody waits for it: a command that pauses between two attempts must not end there.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** setTimeout of the platform overflows beyond this and fires at once. */
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

/** A clock that stands still until a test moves it. Wall clock and monotonic clock move together. */
export class FakeClock implements Clock {
  #elapsed = 0;
  readonly #start: number;
  #timers: FakeTimer[] = [];

  /** @param start wall clock at the beginning, milliseconds since 1970 */
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

  /** How many timers wait: a test that leaves none behind has cleaned up. */
  get pending(): number {
    return this.#timers.length;
  }

  /**
   * Moves the time on, firing what falls due in order, each at its own time. What a timer sets off is run before the
   * next one fires, as far as that needs no real I/O.
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

/** Lets promises that are ready run to their end: a turn of the event loop comes after all microtasks. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
