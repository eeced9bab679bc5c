import type { Clock, FakeClock, Timer } from '../process/clock.ts';

/** The clock of a process that may be stopped (SIGSTOP): time then passes for it at once, its timers still to fire. */
export class FreezableClock implements Clock {
  readonly #inner: FakeClock;
  #frozenMs = 0;

  constructor(inner: FakeClock) {
    this.#inner = inner;
  }

  /** The process goes on after `ms` milliseconds. */
  wasFrozenFor(ms: number): void {
    this.#frozenMs += ms;
  }

  now(): number {
    return this.#inner.now() + this.#frozenMs;
  }

  monotonic(): number {
    return this.#inner.monotonic() + this.#frozenMs;
  }

  setTimeout(fn: () => void, ms: number): Timer {
    return this.#inner.setTimeout(fn, ms);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#inner.sleep(ms, signal);
  }
}
