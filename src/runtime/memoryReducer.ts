import { Script } from 'node:vm';

/** V8 averages what is allocated over 5 s. */
const EVERY_MS = 1_000;

/**
 * Lets V8 give memory back when the process has little to do.
 *
 * V8 has a collection for that (its memory reducer), which begins when little is allocated. The part of its heap that
 * belongs to C++ is hardly used by Node.js: V8 13.6 takes an allocation rate of exactly 0 there for a measure that is
 * missing, and then for the highest there can be, so that the collection never begins: what ten thousand labels needed
 * once stays resident for ever. A compiled script is one small object there. To be seen with
 * `node --trace-memory-reducer --trace-mutator-utilization`, and in
 * https://github.com/nodejs/node/blob/v24.x/deps/v8/src/heap/gc-tracer.cc (ComputeMutatorUtilization).
 */
export function wakeMemoryReducer(): void {
  setInterval(() => new Script('0'), EVERY_MS).unref();
}
