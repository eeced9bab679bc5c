import { othersTurn } from '../process/eventLoop/othersTurn.ts';

/** Long enough that changing turns costs little, and short beside the second after which a probe fails. */
const LONGEST_MS = 2;

/** Lets probes, scrapes and watches be answered during a long computation. All parts of it share one object. */
export class Turns {
  #began = performance.now();
  #next: Promise<void> | undefined;

  /** Resolves at once, or after the turns of others if this one has lasted for 2 ms. */
  async give(): Promise<void> {
    if (performance.now() - this.#began < LONGEST_MS) return;
    // All wait for the same turns: each with turns of its own would begin another 2 ms in them.
    this.#next ??= othersTurn().then(() => {
      this.#next = undefined;
      this.#began = performance.now();
    });
    await this.#next;
  }

  /** Takes the steps of a computation, with a turn between two of them where it is due. Resolves to its result. */
  async run<T>(steps: Iterator<unknown, T>): Promise<T> {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      await this.give();
    }
  }
}
