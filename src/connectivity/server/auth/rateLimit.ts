import { TokenBuckets, type Allowance } from '../../../runtime/async/limit.ts';
import type { Clock } from '../../../runtime/process/clock.ts';

/** One report a second on average. It may come 0.2 s early: the network delays one more than the next. */
const REPORTS: Allowance = { burst: 1.2, perSecond: 1 };
/** Agents of 10,000 nodes on two planes, and as many unknown ones. */
const MOST_KEYS = 50_000;

/** At most one report per second and agent on average. Memory is bounded; agents that have not reported for a second take none. */
export class RateLimit {
  readonly #buckets: TokenBuckets;

  constructor(clock: Clock) {
    this.#buckets = new TokenBuckets(clock, { mostKeys: MOST_KEYS });
  }

  /** Number of keys in memory. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Whether a report may come now; if so, counts it. */
  allows(key: string): boolean {
    return this.#buckets.take(key, REPORTS);
  }
}
