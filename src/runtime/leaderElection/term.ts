import type { WriteGate } from '../client/client.ts';
import type { Clock, Timer } from '../process/clock.ts';
import { ApiError } from '../client/errors.ts';

/**
 * One term of leadership. It ends by itself if the Lease is not renewed in time, measured from the START of the last
 * successful renewal. Other processes count the Lease's 15 s from no earlier than that, so these 10 s end before they
 * can take the Lease. A timer alone is not sufficient: after SIGSTOP and SIGCONT, code that runs before the timer would
 * still consider the process the leader. Therefore isLeader reads the clock each time.
 */
export class Term implements WriteGate {
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #end = new AbortController();
  #renewedAt: number;
  #timer: Timer | undefined;

  /**
   * @param startedAt start of the request that took the Lease, monotonic milliseconds
   * @param deadlineMs how long a renewal is valid, from the start of its request
   */
  constructor(clock: Clock, startedAt: number, deadlineMs: number) {
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
    this.#renewedAt = startedAt;
    this.#arm();
  }

  /** Aborted when the term ends, permanently. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get isLeader(): boolean {
    this.#endWhenOver();
    return !this.#end.signal.aborted;
  }

  /**
   * Records a renewal whose request started at `startedAt`. Has no effect after the end of the term: a late response
   * does not revive it.
   */
  renewed(startedAt: number): void {
    if (this.isLeader) {
      this.#renewedAt = Math.max(this.#renewedAt, startedAt);
      this.#arm();
    }
  }

  end(why: string): void {
    this.#timer?.cancel();
    this.#end.abort(new Error(`no longer leading: ${why}`));
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimeout(() => this.#endWhenOver(), this.#remainingMs());
  }

  #endWhenOver(): void {
    if (this.#remainingMs() <= 0) {
      this.end('the lease was not renewed in time');
    }
  }

  #remainingMs(): number {
    return this.#renewedAt + this.#deadlineMs - this.#clock.monotonic();
  }
}

/** Cause of the API server's error for a creation in a terminating namespace (corev1.NamespaceTerminatingCause). */
const NAMESPACE_TERMINATING = 'NamespaceTerminating';

/**
 * Detects that no process leads and none can: for the duration of a Lease, no Lease could be created, because its
 * namespace is gone or is being deleted. A former leader could not renew its Lease in that time, so it has stopped
 * leading.
 */
export class Vacancy {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #durationMs: number;
  /** Time of the first of the consecutive rejected attempts, monotonic milliseconds. */
  #since: number | undefined;

  /** @param durationMs duration of a Lease without a renewal; longer than a holder leads without a renewal */
  constructor(clock: Pick<Clock, 'monotonic'>, durationMs: number) {
    this.#clock = clock;
    this.#durationMs = durationMs;
  }

  /** Records an attempt to take the Lease. @param error undefined if a Lease exists */
  attempted(error: unknown): void {
    this.#since = hasNoNamespace(error) ? (this.#since ?? this.#clock.monotonic()) : undefined;
  }

  get isCertain(): boolean {
    return this.#since !== undefined && this.#clock.monotonic() - this.#since >= this.#durationMs;
  }
}

/** A POST returns 404 only if the namespace does not exist. */
function hasNoNamespace(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.method !== 'POST') return false;
  return error.status === 404 || error.causes.some(({ reason }) => reason === NAMESPACE_TERMINATING);
}
