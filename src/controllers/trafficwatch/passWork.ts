import type { Clock } from '../../runtime/process/clock.ts';
import type { Snapshot } from '../../usage/evaluate/snapshot.ts';
import type { TrafficWatchMetrics } from './metrics.ts';

/**
 * Measures the time from the start of a pass until all TrafficWatches were reconciled with its result. Reconciles run
 * in parallel, so this is not the sum of their durations.
 */
export class PassWork {
  readonly #clock: Clock;
  readonly #metrics: Pick<TrafficWatchMetrics, 'passSettled'>;
  #startedAt: number | undefined;

  constructor(clock: Clock, metrics: Pick<TrafficWatchMetrics, 'passSettled'>) {
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /** Call when TrafficWatches are enqueued for this pass. */
  began({ startedAt }: Pick<Snapshot, 'startedAt'>): void {
    this.#startedAt = startedAt;
  }

  /** Call when the work queue is empty and no reconcile is running. */
  ended(): void {
    if (this.#startedAt === undefined) return;
    // The wall clock may have been set back meanwhile.
    this.#metrics.passSettled(Math.max(this.#clock.now() - this.#startedAt, 0) / 1000);
    this.#startedAt = undefined;
  }
}
