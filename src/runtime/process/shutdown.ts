import { systemClock, type Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** The used part of Node's `process`. */
interface SignalSource {
  on(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown;
}

interface ShutdownOptions {
  signals: SignalSource;
  /** Ends the process at once. */
  exit: (code: number) => void;
  logger: Logger;
  clock?: Clock;
}

/** Part of the 5 s in which a process must end after SIGTERM; the rest is for the exit itself. */
const GRACE_MS = 4_500;

/**
 * Returns a signal that SIGTERM and SIGINT abort. After 4.5 s the process exits with code 0, even if work is
 * unfinished; the Lease then expires by itself. A second signal ends the process at once with code 1, as in
 * controller-runtime.
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
