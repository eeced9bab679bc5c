import type { Clock } from '../runtime/process/clock.ts';
import { PrometheusError } from './prometheusError.ts';

/** How long an answer may take. */
export interface Deadline {
  /** Aborted when nobody waits any more. */
  signal: AbortSignal;
  timeoutMs: number;
}

/** The reason of a signal whose work has ended: what of it is still under way, because another part failed, is not wanted. */
const ENDED = new PrometheusError('Deadline', 'nobody waits for the answer any more');

/**
 * Works for at most `timeoutMs`: then the work's signal is aborted and this rejects with a PrometheusError Deadline.
 * When `stopped` is aborted, it is the same with its reason. Work that does not heed its signal is left to itself.
 */
export async function within<T>(
  { clock, timeoutMs, stopped }: { clock: Clock; timeoutMs: number; stopped: AbortSignal },
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const timer = clock.setTimeout(() => {
    timeout.abort(new PrometheusError('Deadline', `no whole answer within ${timeoutMs / 1000} s`));
  }, timeoutMs);
  const signal = AbortSignal.any([timeout.signal, stopped]);
  try {
    return await orAborted(work({ signal, timeoutMs }), signal);
  } finally {
    timer.cancel();
    timeout.abort(ENDED);
  }
}

/** As the work, but rejects with the signal's reason once that is aborted; the work is left to itself. */
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
