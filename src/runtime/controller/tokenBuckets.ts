import type { Clock } from '../process/clock.ts';

/** How much one key may use. */
export interface Allowance {
  /** At once, after a pause: at least 1. */
  readonly burst: number;
  /** Permanently. */
  readonly perSecond: number;
}

/** Tolerates the rounding of sums of floating-point numbers: ms. */
const ROUNDING_MS = 1e-3;

/**
 * Token buckets by key, as the generic cell rate algorithm (ITU-T I.371): limit how often each key may do something. A key that was idle
 * for long enough has its whole burst.
 */
export class TokenBuckets {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #mostKeys: number;
  /** Key -> when its bucket is full again, monotonic ms; the key that was used least recently first. A full bucket has no entry. */
  readonly #fullAt = new Map<string, number>();

  /** @param mostKeys beyond these, the key that was used least recently is forgotten: others may choose keys */
  constructor(clock: Pick<Clock, 'monotonic'>, { mostKeys = Infinity } = {}) {
    this.#clock = clock;
    this.#mostKeys = mostKeys;
  }

  /** Number of keys that are remembered. */
  get size(): number {
    return this.#fullAt.size;
  }

  /** Takes a token. @param reserve tokens that must be left. @returns false if there are too few: none is taken */
  take(key: string, allowance: Allowance, reserve = 0): boolean {
    if (this.waitMs(key, allowance, reserve) > 0) return false;
    const fullAt = this.#fullAtOf(key) + 1_000 / allowance.perSecond;
    this.#fullAt.delete(key);
    this.#fullAt.set(key, fullAt);
    this.#forget();
    return true;
  }

  /** Milliseconds until the key has a token, and the reserve; 0 if it has them. */
  waitMs(key: string, { burst, perSecond }: Allowance, reserve = 0): number {
    const untilFullMs = this.#fullAtOf(key) - this.#clock.monotonic();
    const mayLackMs = ((burst - 1 - reserve) * 1_000) / perSecond;
    return Math.max(Math.ceil(untilFullMs - mayLackMs - ROUNDING_MS), 0);
  }

  #fullAtOf(key: string): number {
    const now = this.#clock.monotonic();
    return Math.max(this.#fullAt.get(key) ?? now, now);
  }

  /** Keys come and go: forgets those at the begin whose buckets are full, and those beyond the most. Each key is forgotten once. */
  #forget(): void {
    const now = this.#clock.monotonic();
    for (const [key, fullAt] of this.#fullAt) {
      if (fullAt > now && this.#fullAt.size <= this.#mostKeys) return;
      this.#fullAt.delete(key);
    }
  }
}
