import { whenAborted } from '../async/deadline.ts';
import { systemClock, type Clock } from '../process/clock.ts';
import type { Logger } from '../process/logger.ts';
import { WorkQueue, type WorkQueueMetrics } from './workqueue.ts';
import {
  ApiError,
  IncompleteError,
  NotLeaderError,
  RetryError,
  TerminalError,
  TransportError,
  WaitingError,
} from '../client/errors.ts';

/** The result of a successful reconcile. */
export interface ReconcileResult {
  /** Reconcile the key again after this many milliseconds, even without a change. */
  requeueAfterMs?: number;
}

/**
 * Reconciles one object to its desired state. It is level-based: it reads the current state each time and does not know
 * which event triggered it. Its signal is aborted at the deadline, and at the end of the drain time on shutdown.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult | undefined>;

/** Metrics of controllers. Several controllers share one object, so each call has the name of the controller. */
export interface ControllerMetrics {
  reconciled(controller: string, result: Outcome, seconds: number): void;
  failed(controller: string, reason: string): void;
  queue(controller: string): WorkQueueMetrics;
}

export interface ControllerOptions {
  /** For logs and metrics: 'trafficwatch'. */
  name: string;
  reconcile: Reconcile;
  /** Number of concurrent reconciles, each of a different key. Default: 1. */
  workers?: number;
  /** Deadline of a reconcile, milliseconds: then its signal is aborted. Default: 60,000. */
  reconcileTimeoutMs?: number;
  /**
   * Drain time of run() after the stop signal, milliseconds. Default: 1,500, so that the next leader can write within
   * 3 s.
   */
  drainTimeoutMs?: number;
  /** Called after a reconcile if no key is waiting or being reconciled. Delayed keys do not count. */
  onIdle?: () => void;
  logger: Logger;
  metrics?: ControllerMetrics;
  clock?: Clock;
}

/** A reconcile that still runs this long after its deadline counts as stuck. */
const STUCK_AFTER_MS = 60_000;

/** Result if reporting a failure fails, so that the worker continues. */
const UNREPORTED: NextLook = { when: 'backoff', atLeastMs: 0 };

/** Takes keys from its queue and reconciles them. An error of a reconcile never ends the loop. */
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
  /** Keys being reconciled, with the start of the reconcile in monotonic milliseconds. */
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
   * Reconciles until `signal` is aborted. Then ignores new keys, and finishes the waiting keys. At the end of the
   * drain time, aborts the signals of the running reconciles and resolves without waiting for them. Never rejects.
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
      this.#logger.warn(
        { keys: [...this.#running.keys()], waiting: this.queue.length },
        'stopped before the queue was drained',
      );
    }
  }

  /** Message about a stuck reconcile, for a health check. Undefined if there is none. */
  stuck(): string | undefined {
    const limit = this.#reconcileTimeoutMs + STUCK_AFTER_MS;
    for (const [key, startedAt] of this.#running) {
      const ms = this.#clock.monotonic() - startedAt;
      if (ms > limit) {
        return `reconcile of ${key} has run for ${Math.round(ms / 1000)} s, its deadline is ${this.#reconcileTimeoutMs / 1000} s`;
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

  /**
   * @param error decides about the requeue: the deadline error if the deadline aborted the reconcile, otherwise
   * `thrown`
   * @param thrown the error of the reconcile, for the log
   */
  #failed(key: string, error: unknown, thrown: unknown, startedAt: number): NextLook {
    const { outcome, reason, next, isFailure } = requeuePolicy(error);
    this.#metrics?.reconciled(this.name, outcome, this.#secondsSince(startedAt));
    if (isFailure) {
      this.#metrics?.failed(this.name, reason);
    }
    const level = isFailure && reason !== 'Conflict' ? 'error' : 'debug';
    this.#logger[level](
      { key, outcome, reason, failures: this.queue.failures(key), err: thrown },
      'reconcile failed or was postponed',
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

/** A reconcile exceeded its deadline. */
class ReconcileDeadlineError extends Error {
  constructor(ms: number) {
    super(`reconcile took longer than ${ms / 1000} s`);
    this.name = 'ReconcileDeadline';
  }
}

/** Longest Retry-After that is obeyed: ms. An admission webhook may ask for any delay, and would keep the object unreconciled. */
const LONGEST_DELAY_MS = 300_000;

/** Outcome of a reconcile: the `result` label of the metric. */
type Outcome = 'success' | 'requeue_after' | 'waiting' | 'retry_after' | 'error' | 'terminal' | 'not_leader';

/** When to reconcile a key again: only after an event, after a fixed time, or after its backoff with a minimum. */
type NextLook = { when: 'never' } | { when: 'after'; ms: number } | { when: 'backoff'; atLeastMs: number };

/** Treatment of an error of a reconcile. */
interface RequeuePolicy {
  outcome: Outcome;
  /** CamelCase; the `reason` label of the error counter. */
  reason: string;
  next: NextLook;
  /** True if it counts as an error. Waiting for something does not. */
  isFailure: boolean;
}

/**
 * Decides how to requeue a key after an error of its reconcile:
 *
 * | error          | next reconcile                     | counted as error |
 * | -------------- | ---------------------------------- | ---------------- |
 * | WaitingError   | after its retryAfterMs             | no               |
 * | RetryError     | after its retryAfterMs, at least the Retry-After of its cause, up to 5 min | yes |
 * | TerminalError  | when the object changes            | yes              |
 * | NotLeaderError | when this process leads            | no               |
 * | ApiError, IncompleteError | backoff, at least Retry-After, up to 5 min | yes |
 * | any other      | backoff                            | yes              |
 */
function requeuePolicy(error: unknown): RequeuePolicy {
  if (error instanceof WaitingError) {
    const { reason, retryAfterMs } = error;
    return { outcome: 'waiting', reason, next: { when: 'after', ms: retryAfterMs }, isFailure: false };
  }
  if (error instanceof NotLeaderError) {
    return { outcome: 'not_leader', reason: 'NotLeader', next: { when: 'never' }, isFailure: false };
  }
  if (error instanceof TerminalError) {
    return { outcome: 'terminal', reason: error.reason, next: { when: 'never' }, isFailure: true };
  }
  if (error instanceof RetryError) {
    const { retryAfterMs } = error;
    const reason = error.cause === undefined ? 'Retry' : reasonOf(error.cause);
    const ms = Math.max(retryAfterMs, askedDelayOf(error.cause));
    return { outcome: 'retry_after', reason, next: { when: 'after', ms }, isFailure: true };
  }
  const atLeastMs = askedDelayOf(error);
  return { outcome: 'error', reason: reasonOf(error), next: { when: 'backoff', atLeastMs }, isFailure: true };
}

/** Returns the Retry-After of an error, ms, up to the longest that is obeyed; 0 without one. */
function askedDelayOf(error: unknown): number {
  const asked = error instanceof ApiError || error instanceof IncompleteError ? error.retryAfterMs : undefined;
  return Math.min(asked ?? 0, LONGEST_DELAY_MS);
}

/** Short name of an error from a small set, for a metric label: 'Conflict', 'TransportDeadline', 'TypeError'. */
function reasonOf(error: unknown): string {
  if (error instanceof ApiError || error instanceof TerminalError || error instanceof WaitingError) {
    return error.reason;
  }
  if (error instanceof TransportError) {
    return `Transport${error.failure.charAt(0).toUpperCase()}${error.failure.slice(1)}`;
  }
  return error instanceof Error ? error.name : 'Unknown';
}
