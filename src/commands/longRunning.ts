import { config as rxjs } from 'rxjs';
import type { Logger } from '../runtime/process/logger.ts';
import { wakeMemoryReducer } from '../runtime/process/memoryReducer.ts';

/** Prepares a process that runs controllers for months. */
export function prepareLongRun(logger: Logger): void {
  // By default, rxjs rethrows an error of a subscriber from a timer, which would end the process.
  rxjs.onUnhandledError = (error: unknown) => logger.error({ err: error }, 'a subscriber failed');
  wakeMemoryReducer();
}
