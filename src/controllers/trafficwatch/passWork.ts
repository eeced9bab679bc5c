import type { Clock } from '../../runtime/process/clock.ts';
import type { Snapshot } from '../../usage/evaluate/snapshot.ts';
import type { TrafficWatchMetrics } from './metrics.ts';

/**
 * Measures how old a pass is when all that it led to is done. The reconciles of many TrafficWatches run side by side, so
 * that it is no sum of theirs.
 */
export class PassWork {
  readonly #clock: Clock;
  readonly #metrics: Pick<TrafficWatchMetrics, 'passSettled'>;
  #startedAt: number | undefined;

  constructor(clock: Clock, metrics: Pick<TrafficWatchMetrics, 'passSettled'>) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** TrafficWatches are going to be looked at for this pass. */
  began({ startedAt }: Pick<Snapshot, 'startedAt'>): void {
    this.#startedAt = startedAt;
  }

  /** No TrafficWatch is waiting or being looked at any more. */
  ended(): void {
    if (this.#startedAt === undefined) return;
    // The wall clock may have been put back meanwhile.
    this.#metrics.passSettled(Math.max(this.#clock.now() - this.#startedAt, 0) / 1000);
    this.#startedAt = undefined;
  }
}
