import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest time without yielding. Yielding this seldom costs little, and a probe fails only after 1 s. */
const LONGEST_MS = 2;

/** Yields to the event loop during a long computation, for probes, scrapes and watches. All parts of a computation share one object. */
export class Turns {
  #began = performance.now();
  #next: Promise<void> | undefined;

  /** Resolves at once; if this turn has lasted for 2 ms, after a turn of the event loop. */
  async give(): Promise<void> {
    if (performance.now() - this.#began < LONGEST_MS) return;
    // All parts wait for the same turn of the event loop. With separate turns, each part would compute for 2 ms in the turn of another.
    this.#next ??= othersTurn().then(() => {
      this.#next = undefined;
      this.#began = performance.now();
    });
    await this.#next;
  }

  /** Runs the steps of a computation, and yields between two steps when the turn has lasted for 2 ms. Resolves to its result. */
  async run<T>(steps: Iterator<unknown, T>): Promise<T> {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      await this.give();
    }
  }
}

/** libuv accepts one connection in each turn of the event loop. A turn without work takes 20 µs. */
const TURNS = 4;

/**
 * Resolves after some turns of the event loop, in which others are answered. With an answer of 1.5 ms, and 2 ms of work before
 * each call, 500 new connections a second are answered; with one turn they would be 280.
 */
export async function othersTurn(): Promise<void> {
  for (let n = 0; n < TURNS; n += 1) await nextTurn();
}
