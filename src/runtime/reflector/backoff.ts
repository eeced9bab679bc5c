const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Pauses that double from 1 s to 30 s, each between half and the whole of its length. */
export class Backoff {
  readonly #random: () => number;
  #failures = 0;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** How many failures there were since the last reset. */
  get failures(): number {
    return this.#failures;
  }

  /** The pause after one more failure, milliseconds. `atLeastMs`: what the server asked for. */
  next(atLeastMs = 0): number {
    const nominal = Math.min(FIRST_MS * 2 ** this.#failures, LONGEST_MS);
    this.#failures += 1;
    return Math.max(nominal * (0.5 + this.#random() / 2), atLeastMs);
  }

  reset(): void {
    this.#failures = 0;
  }
}
