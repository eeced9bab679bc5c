import { systemClock, type Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** What of `process` is needed. */
export interface SignalSource {
  on(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
}

export interface ShutdownOptions {
  signals: SignalSource;
  /** Ends the process at once. */
  exit: (code: number) => void;
  logger: Logger;
  clock?: Clock;
}

/** Of the 5 s that a process has to end in after a SIGTERM; the rest is for ending it. */
const GRACE_MS = 4_500;

/**
 * Turns SIGTERM and SIGINT into the abortion of a signal. What is not done 4.5 s later is cut off, with exit code 0:
 * the lease then runs out by itself. A second signal ends the process at once, with code 1 as in controller-runtime.
 */
export function shutdownSignal({ signals, exit, logger, clock = systemClock }: ShutdownOptions): AbortSignal {
  const stop = new AbortController();
  const onSignal = (name: string): void => {
    if (stop.signal.aborted) {
      logger.warn({ signal: name }, 'second signal: ending at once');
      exit(1);
      return;
    }
    logger.info({ signal: name }, 'stopping');
    clock.setTimeout(() => {
      logger.warn('not everything stopped in time');
      exit(0);
    }, GRACE_MS);
    stop.abort(new Error(`stopped by ${name}`));
  };
  signals.on('SIGTERM', () => onSignal('SIGTERM'));
  signals.on('SIGINT', () => onSignal('SIGINT'));
  return stop.signal;
}
