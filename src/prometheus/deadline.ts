import type { Clock } from '../runtime/process/clock.ts';
import { PrometheusError } from './prometheusError.ts';

/** Deadline of a query. */
export interface Deadline {
  /** Aborted at the deadline, or when the result is no longer needed. */
  signal: AbortSignal;
  timeoutMs: number;
}

/** Abort reason when the work has ended. If one query failed, it cancels the queries that still run. */
const ENDED = new PrometheusError('Deadline', 'the answer is no longer needed');

/**
 * Runs the work for at most `timeoutMs`. Then aborts its signal and rejects with PrometheusError Deadline. If `stopped` is
 * given and aborted, does the same with the reason of `stopped`. Does not wait for work that ignores its signal.
 */
export async function within<T>(
  { clock, timeoutMs, stopped }: { clock: Pick<Clock, 'setTimeout'>; timeoutMs: number; stopped?: AbortSignal },
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const timer = clock.setTimeout(() => {
    timeout.abort(new PrometheusError('Deadline', `no complete answer within ${timeoutMs / 1000} s`));
  }, timeoutMs);
  const signal = AbortSignal.any(stopped === undefined ? [timeout.signal] : [timeout.signal, stopped]);
  try {
    return await orAborted(work({ signal, timeoutMs }), signal);
  } finally {
    timer.cancel();
    timeout.abort(ENDED);
  }
}

/** Settles like the work, but rejects with the signal's reason once it is aborted. Does not cancel the work. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return Promise.race([work, whenAborted(signal)]);
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = (): void => {
      const reason: unknown = signal.reason;
      reject(reason instanceof Error ? reason : new Error(String(reason)));
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
