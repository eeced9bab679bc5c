import { ApiError, NotLeaderError, RetryError, TerminalError, TransportError, WaitingError } from '../client/errors.ts';

/** How a reconcile ended; the `result` label of the metric. */
export type Outcome = 'success' | 'requeue_after' | 'waiting' | 'retry_after' | 'error' | 'terminal' | 'not_leader';

/** When to look at a key again: not of its own, after a fixed time, or after its backoff and no sooner than a time. */
export type NextLook = { when: 'never' } | { when: 'after'; ms: number } | { when: 'backoff'; atLeastMs: number };

/** What an error of a reconcile asks for. */
export interface RequeuePolicy {
  outcome: Outcome;
  /** CamelCase; the `reason` label of the error counter. */
  reason: string;
  next: NextLook;
  /** Whether it counts as an error: what is merely awaited does not. */
  isFailure: boolean;
}

/**
 * What to do about an error that ended a reconcile:
 *
 * | error          | looked at again                    | counted as error |
 * | -------------- | ---------------------------------- | ---------------- |
 * | WaitingError   | after the time it names            | no               |
 * | RetryError     | after the time it names            | yes              |
 * | TerminalError  | when the object changes            | yes              |
 * | NotLeaderError | when this process leads            | no               |
 * | ApiError       | backoff, Retry-After at the least  | yes              |
 * | any other, such as IncompleteError | backoff        | yes              |
 */
export function requeuePolicy(error: unknown): RequeuePolicy {
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
    return { outcome: 'retry_after', reason, next: { when: 'after', ms: retryAfterMs }, isFailure: true };
  }
  const atLeastMs = (error instanceof ApiError ? error.retryAfterMs : undefined) ?? 0;
  return { outcome: 'error', reason: reasonOf(error), next: { when: 'backoff', atLeastMs }, isFailure: true };
}

/** A short name for an error, from a small set, fit for a metric's label: 'Conflict', 'TransportDeadline', 'TypeError'. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError || error instanceof TerminalError || error instanceof WaitingError) {
    return error.reason;
  }
  if (error instanceof TransportError) {
    return `Transport${error.failure.charAt(0).toUpperCase()}${error.failure.slice(1)}`;
  }
  return error instanceof Error ? error.name : 'Unknown';
}
