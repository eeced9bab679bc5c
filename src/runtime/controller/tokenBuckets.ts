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

/** Token buckets by key: limit how often each key may do something. A key that was idle for long enough has its whole burst. */
export class TokenBuckets {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Key -> when its bucket is full again, monotonic ms; the key that was used least recently first. A full bucket has no entry. */
  readonly #fullAt = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Number of keys that are remembered. */
  get size(): number {
    return this.#fullAt.size;
  }

  /** Takes a token. @param reserve tokens that must be left. @returns false if there are too few: none is taken */
  take(key: string, allowance: Allowance, reserve = 0): boolean {
    this.#forgetFull();
    if (this.waitMs(key, allowance, reserve) > 0) return false;
    const fullAt = this.#fullAtOf(key) + 1_000 / allowance.perSecond;
    this.#fullAt.delete(key);
    this.#fullAt.set(key, fullAt);
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

  /** Keys come and go. Each call looks at two of them, so that their number stays bounded by those that are in use. */
  #forgetFull(): void {
    const now = this.#clock.monotonic();
    let looked = 0;
    for (const [key, fullAt] of this.#fullAt) {
      if (fullAt > now || looked++ === 2) return;
      this.#fullAt.delete(key);
    }
  }
}
