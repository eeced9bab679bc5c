import type { Clock, Timer } from '../../runtime/process/clock.ts';

/** Sockets that were closed are garbage a moment later. */
const CLOSED_MS = 100;

/**
 * Returns memory to the system after a burst of work, for a process that rests most of the time.
 *
 * An ordinary collection keeps free pages for new objects. This class starts the collection that V8 runs as a last resort
 * when memory is short: it moves objects together, and returns all free pages. It takes about 20 ms of CPU time. Node.js
 * must run with --expose-gc (https://nodejs.org/docs/latest-v24.x/api/cli.html#--expose-gc); without it, nothing happens.
 */
export class MemoryRelease {
  readonly #clock: Clock;
  readonly #everyMs: number;
  #next = -Infinity;
  #timer: Timer | undefined;

  /** @param everyMs time between two collections at least */
  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Starts a collection soon, unless the last one is too recent. Call it at the end of a burst. */
  soon(): void {
    const { gc } = globalThis;
    const now = this.#clock.monotonic();
    if (gc === undefined || now < this.#next) return;
    this.#next = now + this.#everyMs;
    this.#timer = this.#clock.setTimeout(
      () => gc({ type: 'major', execution: 'sync', flavor: 'last-resort' }),
      CLOSED_MS,
    );
  }

  close(): void {
    this.#timer?.cancel();
  }
}
