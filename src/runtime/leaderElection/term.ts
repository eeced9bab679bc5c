import type { WriteGate } from '../client/client.ts';
import type { Clock, Timer } from '../process/clock.ts';

/**
 * One time of leading. It ends on its own when the lease was not renewed in time, measured from the START of the last
 * renewal that succeeded: others may count the lease's 15 s from no earlier than that, so that 10 s are over before the
 * lease can be theirs. A timer alone would not do: in a process that was stopped and goes on, whatever runs before the
 * timer would still believe that it leads. So isLeader asks the clock each time.
 */
export class Term implements WriteGate {
  readonly #clock: Clock;
  readonly #deadlineMs: number;
  readonly #end = new AbortController();
  #renewedAt: number;
  #timer: Timer | undefined;

  /**
   * @param startedAt when the request that took the lease was begun, monotonic milliseconds
   * @param deadlineMs how long after the beginning of a renewal its effect may be relied on
   */
  constructor(clock: Clock, startedAt: number, deadlineMs: number) {
    this.#clock = clock;
    this.#deadlineMs = deadlineMs;
    this.#renewedAt = startedAt;
    this.#arm();
  }

  /** Aborted when the term ends, and never taken back. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get isLeader(): boolean {
    this.#endWhenOver();
    return !this.#end.signal.aborted;
  }

  /**
   * The lease was renewed by a request begun at `startedAt`. Without effect once the term is over: an answer that comes
   * too late does not bring it back.
   */
  renewed(startedAt: number): void {
    if (this.isLeader) {
      this.#renewedAt = Math.max(this.#renewedAt, startedAt);
      this.#arm();
    }
  }

  end(why: string): void {
    this.#timer?.cancel();
    this.#end.abort(new Error(`leading no longer: ${why}`));
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
