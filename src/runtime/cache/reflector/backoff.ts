const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Pauses that double from 1 s to 30 s, each between half and the whole of its length. */
export class Backoff {
  readonly #random: () => number;
  /** How often the pause has doubled. */
  #doublings = 0;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Whether there was no failure since the last reset. */
  get isFresh(): boolean {
    return this.#doublings === 0;
  }

  /**
   * The pause after one more failure, milliseconds. Pauses do not grow beyond `longestMs`: they go on growing from there
   * once more is allowed. `atLeastMs`, what the server asked for, counts more.
   */
  next({ atLeastMs = 0, longestMs = LONGEST_MS } = {}): number {
    const nominal = Math.min(FIRST_MS * 2 ** this.#doublings, longestMs);
    if (nominal < longestMs) this.#doublings += 1;
    return Math.max(nominal * (0.5 + this.#random() / 2), atLeastMs);
  }

  reset(): void {
    this.#doublings = 0;
  }
}
