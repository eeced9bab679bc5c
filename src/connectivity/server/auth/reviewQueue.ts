/** Reviews at a time, and reviews that wait: after a restart all agents of 1,000 nodes may report within a second. */
const MOST_AT_A_TIME = 20;
const MOST_WAITING = 2_000;

/** Limits the reviews that run at a time, and those that wait. First come, first served. */
export class ReviewQueue {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @returns resolves at the turn, with the function that ends it; undefined if too many wait */
  enter(): Promise<() => void> | undefined {
    if (this.#running < MOST_AT_A_TIME) {
      this.#running++;
      return Promise.resolve(this.#turn());
    }
    if (this.#waiting.length >= MOST_WAITING) return undefined;
    return new Promise((resolve) => this.#waiting.push(() => resolve(this.#turn())));
  }

  /** The turn passes to the next that waits. */
  #turn(): () => void {
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    };
  }
}
