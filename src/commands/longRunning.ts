import { config as rxjs } from 'rxjs';
import { Script } from 'node:vm';
import type { Logger } from '../runtime/process/logger.ts';

/** Prepares a process that runs controllers for months. */
export function prepareLongRun(logger: Logger): void {
  // By default, rxjs rethrows an error of a subscriber from a timer, which would end the process.
  rxjs.onUnhandledError = (error: unknown) => logger.error({ err: error }, 'a subscriber failed');
  wakeMemoryReducer();
}

/** V8 averages the allocation rate over 5 s. */
const EVERY_MS = 1_000;

/** Number of scripts to keep, 0.6 KiB each. One is too few; 30 are just enough. */
const KEPT = 100;

/**
 * Makes V8 release memory when the process is idle.
 *
 * V8's memory reducer releases memory when the allocation rate is low, in each part of the heap, compared with the
 * collection speed of that part. Node.js hardly uses the C++ part of the heap. This misleads V8 13.6 in two ways, and
 * memory that was needed once, for example for ten thousand labels, stays resident:
 *
 * - V8 treats a rate of exactly 0 as missing, and then as the highest possible rate. Therefore this function compiles a
 *   script, one small object in the C++ part, every second.
 * - If there is almost nothing to collect, the collection looks slow, such as 1 byte a millisecond. The first script
 *   after a collection takes a whole free page, 80 KB, which then looks like a high rate. Therefore some scripts are
 *   kept.
 *
 * To observe it, use `node --trace-memory-reducer --trace-mutator-utilization`, and see
 * https://github.com/nodejs/node/blob/v24.x/deps/v8/src/heap/gc-tracer.cc (ComputeMutatorUtilization).
 */
export function wakeMemoryReducer(): void {
  const kept = Array.from({ length: KEPT }, () => new Script('0'));
  let oldest = 0;
  setInterval(() => {
    kept[oldest] = new Script('0');
    oldest = (oldest + 1) % KEPT;
  }, EVERY_MS).unref();
}
