/**
 * A thread that posts the time of each request when it is due. A timer of the main thread would be up to 1 ms late, as
 * much as an idle cluster takes to answer.
 */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { clock } from './clock.ts';

const { intervalMs } = workerData as { intervalMs: number };
const never = new Int32Array(new SharedArrayBuffer(4));
const begin = clock();

// Of this thread alone.
setPriority(constants.priority.PRIORITY_HIGH);
for (let n = 0; ; n += 1) {
  const due = begin + n * intervalMs;
  const wait = due - clock();
  if (wait > 0) Atomics.wait(never, 0, 0, wait);
  parentPort?.postMessage(due);
}
