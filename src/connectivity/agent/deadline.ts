import type { Clock } from '../../runtime/process/clock.ts';

/**
 * Resolves after a whole turn of the event loop, when everything that had arrived has been read. The loop runs timers before it reads
 * sockets, and reads sockets in any order: in a process that was held up, a time limit ends before the answers that came in time are read.
 */
export function hasRead(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

/** Returns a signal that is aborted when `ms` have passed and everything that had arrived has been read, or with `stop`. */
export function deadline(clock: Clock, ms: number, stop?: AbortSignal): AbortSignal {
  const over = new AbortController();
  clock.setTimeout(() => void hasRead().then(() => over.abort()), ms);
  return stop === undefined ? over.signal : AbortSignal.any([over.signal, stop]);
}
