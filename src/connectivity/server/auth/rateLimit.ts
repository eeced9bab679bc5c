import type { Clock } from '../../../runtime/process/clock.ts';

/** Time between two reports of an agent, ms. */
const SPACING_MS = 1_000;
/** How much earlier a report may come: the network delays one more than the next. */
const TOLERANCE_MS = 200;
/** Agents of 10,000 nodes on two planes, and as many unknown ones. */
const MOST_KEYS = 50_000;

/**
 * At most one report per second and agent on average: the generic cell rate algorithm (ITU-T I.371). Memory is bounded;
 * agents that have not reported for a second take none.
 */
export class RateLimit {
  readonly #clock: Clock;
  /** When the next report is expected at the earliest, by key. The longest unchanged key comes first. */
  readonly #next = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of keys in memory. */
  get size(): number {
    return this.#next.size;
  }

  /** Whether a report may come now; if so, counts it. */
  allows(key: string): boolean {
    const now = this.#clock.monotonic();
    const next = Math.max(this.#next.get(key) ?? now, now);
    if (next - now > TOLERANCE_MS) return false;
    this.#next.delete(key);
    this.#next.set(key, next + SPACING_MS);
    this.#dropOld(now);
    return true;
  }

  #dropOld(now: number): void {
    for (const [key, next] of this.#next) {
      if (next > now && this.#next.size <= MOST_KEYS) return;
      this.#next.delete(key);
    }
  }
}
