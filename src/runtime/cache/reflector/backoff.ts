const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Exponential backoff from 1 s to 30 s. Each pause is between half and all of its nominal length. */
export class Backoff {
  readonly #random: () => number;
  /** Number of doublings so far. */
  #doublings = 0;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** True if there was no failure since the last reset. */
  get isFresh(): boolean {
    return this.#doublings === 0;
  }

  /**
   * The pause after one more failure, milliseconds. `longestMs` limits the growth of the pauses; they grow from there
   * when the limit rises. `atLeastMs`, the server's Retry-After, takes precedence.
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
