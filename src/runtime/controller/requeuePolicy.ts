import {
  ApiError,
  IncompleteError,
  NotLeaderError,
  RetryError,
  TerminalError,
  TransportError,
  WaitingError,
} from '../client/errors.ts';

/** Longest Retry-After that is obeyed: ms. An admission webhook may ask for any delay, and would keep the object unreconciled. */
const LONGEST_DELAY_MS = 300_000;

/** Outcome of a reconcile: the `result` label of the metric. */
export type Outcome = 'success' | 'requeue_after' | 'waiting' | 'retry_after' | 'error' | 'terminal' | 'not_leader';

/** When to reconcile a key again: only after an event, after a fixed time, or after its backoff with a minimum. */
export type NextLook = { when: 'never' } | { when: 'after'; ms: number } | { when: 'backoff'; atLeastMs: number };

/** Treatment of an error of a reconcile. */
export interface RequeuePolicy {
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
 * | RetryError     | after its retryAfterMs             | yes              |
 * | TerminalError  | when the object changes            | yes              |
 * | NotLeaderError | when this process leads            | no               |
 * | ApiError, IncompleteError | backoff, at least Retry-After, up to 5 min | yes |
 * | any other      | backoff                            | yes              |
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
  const atLeastMs = Math.min(askedDelayOf(error), LONGEST_DELAY_MS);
  return { outcome: 'error', reason: reasonOf(error), next: { when: 'backoff', atLeastMs }, isFailure: true };
}

/** Returns the Retry-After of an error, ms; 0 without one. */
function askedDelayOf(error: unknown): number {
  return error instanceof ApiError || error instanceof IncompleteError ? (error.retryAfterMs ?? 0) : 0;
}

/** Short name of an error from a small set, for a metric label: 'Conflict', 'TransportDeadline', 'TypeError'. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError || error instanceof TerminalError || error instanceof WaitingError) {
    return error.reason;
  }
  if (error instanceof TransportError) {
    return `Transport${error.failure.charAt(0).toUpperCase()}${error.failure.slice(1)}`;
  }
  return error instanceof Error ? error.name : 'Unknown';
}
