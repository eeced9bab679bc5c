import { whenAborted } from '../process/abort.ts';
import { systemClock, type Clock } from '../process/clock.ts';
import { requeuePolicy, type NextLook, type Outcome } from './requeuePolicy.ts';
import type { Logger } from '../process/logger.ts';
import { WorkQueue, type WorkQueueMetrics } from './workqueue.ts';

/** What a reconcile that went well asks for. */
export interface ReconcileResult {
  /** Look again after this many milliseconds, whether or not anything changes. */
  requeueAfterMs?: number;
}

/**
 * Brings one object into its desired state. Level-based: it reads everything anew and does not know why it was called.
 * Its signal is aborted at the deadline, and when the process can wait no longer for it to end.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult | undefined>;

/** What controllers tell of themselves; each names itself, so that several share one. */
export interface ControllerMetrics {
  reconciled(controller: string, result: Outcome, seconds: number): void;
  failed(controller: string, reason: string): void;
  queue(controller: string): WorkQueueMetrics;
}

export interface ControllerOptions {
  /** For logs and metrics: 'trafficwatch'. */
  name: string;
  reconcile: Reconcile;
  /** Reconciles at once, each of another key; 1 unless told. */
  workers?: number;
  /** Milliseconds until the signal of a reconcile is aborted; 60,000 unless told. */
  reconcileTimeoutMs?: number;
  /** Milliseconds that run() waits, once stopped, for the queue to drain; 1,500 unless told: the next leader is to write within 3 s. */
  drainTimeoutMs?: number;
  /** Called when a reconcile has ended and no key is waiting or being reconciled; those for later do not count. */
  onIdle?: () => void;
  logger: Logger;
  metrics?: ControllerMetrics;
  clock?: Clock;
}

/** A reconcile that goes on this long after its deadline will not end any more. */
const STUCK_AFTER_MS = 60_000;

/** Should even the report of a failure fail, the worker goes on. */
const UNREPORTED: NextLook = { when: 'backoff', atLeastMs: 0 };

/** Takes keys from its queue and reconciles them. Whatever a reconcile throws, the next key is taken. */
export class Controller {
  readonly name: string;
  readonly queue: WorkQueue;
  readonly #reconcile: Reconcile;
  readonly #workers: number;
  readonly #reconcileTimeoutMs: number;
  readonly #drainTimeoutMs: number;
  readonly #onIdle: () => void;
  readonly #logger: Logger;
  readonly #metrics: ControllerMetrics | undefined;
  readonly #clock: Clock;
  /** Keys being reconciled and when each began, monotonic milliseconds. */
  readonly #running = new Map<string, number>();

  constructor(options: ControllerOptions) {
    this.name = options.name;
    this.#reconcile = options.reconcile;
    this.#workers = options.workers ?? 1;
    this.#reconcileTimeoutMs = options.reconcileTimeoutMs ?? 60_000;
    this.#drainTimeoutMs = options.drainTimeoutMs ?? 1_500;
    this.#onIdle = options.onIdle ?? (() => undefined);
    this.#logger = options.logger.child({ controller: options.name });
    this.#metrics = options.metrics;
    this.#clock = options.clock ?? systemClock;
    this.queue = new WorkQueue({ clock: this.#clock, metrics: options.metrics?.queue(options.name) });
  }

  /**
   * Works until `signal` is aborted; then takes no more keys, finishes those that wait, and resolves: at the latest
   * when the drain's time is over, by then with the signals of the reconciles still under way aborted. Never rejects.
   */
  async run(signal: AbortSignal): Promise<void> {
    const giveUp = new AbortController();
    const workers = Array.from({ length: this.#workers }, () => this.#work(giveUp.signal));
    await whenAborted(signal);
    const timer = this.#clock.setTimeout(() => giveUp.abort(new Error('shutting down')), this.#drainTimeoutMs);
    const drained = Promise.all([this.queue.shutDown(), ...workers]);
    await Promise.race([drained, whenAborted(giveUp.signal)]);
    timer.cancel();
    if (giveUp.signal.aborted) {
      this.#logger.warn({ keys: [...this.#running.keys()], waiting: this.queue.length }, 'stopped before it was done');
    }
  }

  /** Why the loop is thought to be dead, or undefined while it lives: for a health check. */
  stuck(): string | undefined {
    const limit = this.#reconcileTimeoutMs + STUCK_AFTER_MS;
    for (const [key, startedAt] of this.#running) {
      const ms = this.#clock.monotonic() - startedAt;
      if (ms > limit) {
        return `reconcile of ${key} has run for ${Math.round(ms / 1000)} s, allowed are ${this.#reconcileTimeoutMs / 1000} s`;
      }
    }
    return undefined;
  }

  async #work(stop: AbortSignal): Promise<void> {
    for (let key = await this.queue.get(stop); key !== undefined; key = await this.queue.get(stop)) {
      const next = await this.#reconcileOnce(key, stop).catch(() => UNREPORTED);
      this.#schedule(key, next);
      this.queue.done(key);
      if (this.queue.isIdle) this.#onIdle();
    }
  }

  async #reconcileOnce(key: string, stop: AbortSignal): Promise<NextLook> {
    const deadline = new AbortController();
    const ms = this.#reconcileTimeoutMs;
    const timer = this.#clock.setTimeout(() => deadline.abort(new ReconcileDeadlineError(ms)), ms);
    const startedAt = this.#clock.monotonic();
    this.#running.set(key, startedAt);
    try {
      const result = await this.#reconcile(key, AbortSignal.any([deadline.signal, stop]));
      return this.#succeeded(result, startedAt);
    } catch (error) {
      return this.#failed(key, deadline.signal.aborted ? deadline.signal.reason : error, error, startedAt);
    } finally {
      timer.cancel();
      this.#running.delete(key);
    }
  }

  #succeeded(result: ReconcileResult | undefined, startedAt: number): NextLook {
    const ms = result?.requeueAfterMs;
    this.#metrics?.reconciled(this.name, ms === undefined ? 'success' : 'requeue_after', this.#secondsSince(startedAt));
    return ms === undefined ? { when: 'never' } : { when: 'after', ms };
  }

  /** @param error what decides; a deadline shows as whatever the aborted call made of it, which is `thrown` */
  #failed(key: string, error: unknown, thrown: unknown, startedAt: number): NextLook {
    const { outcome, reason, next, isFailure } = requeuePolicy(error);
    this.#metrics?.reconciled(this.name, outcome, this.#secondsSince(startedAt));
    if (isFailure) {
      this.#metrics?.failed(this.name, reason);
    }
    const level = isFailure && reason !== 'Conflict' ? 'error' : 'debug';
    this.#logger[level](
      { key, outcome, reason, failures: this.queue.failures(key), err: thrown },
      'reconcile ended early',
    );
    return next;
  }

  #schedule(key: string, next: NextLook): void {
    if (next.when === 'backoff') {
      this.queue.addRateLimited(key, next.atLeastMs);
      return;
    }
    this.queue.forget(key);
    if (next.when === 'after') {
      this.queue.addAfter(key, next.ms);
    }
  }

  #secondsSince(startedAt: number): number {
    return (this.#clock.monotonic() - startedAt) / 1000;
  }
}

/** A reconcile did not end in its time. */
class ReconcileDeadlineError extends Error {
  constructor(ms: number) {
    super(`reconcile took longer than ${ms / 1000} s`);
    this.name = 'ReconcileDeadline';
  }
}
