import { Script } from 'node:vm';

/** V8 averages what is allocated over 5 s. */
const EVERY_MS = 1_000;

/** 0.6 KiB each. One is too few; 30 are just enough. */
const KEPT = 100;

/**
 * Lets V8 give memory back when the process has little to do.
 *
 * V8 has a collection for that (its memory reducer), which begins when little is allocated: in each part of its heap,
 * little for the speed at which that part is collected. The part that belongs to C++ is hardly used by Node.js, which
 * misleads V8 13.6 twice, so that what ten thousand labels needed once stays resident:
 *
 * - A rate of exactly 0 is taken for a measure that is missing, and then for the highest there can be. A compiled script
 *   is one small object there, made once a second.
 * - Where there is next to nothing to collect, that looks slow, like 1 byte a millisecond. The first script after a
 *   collection has a page of free memory to itself, 80 KB, which then is too much. So some scripts are kept.
 *
 * To be seen with `node --trace-memory-reducer --trace-mutator-utilization`, and in
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
