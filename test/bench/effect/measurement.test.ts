import { expect, it } from 'vitest';
import { tallyOf } from './measurement.ts';
import type { Finished } from './steadyLoad.ts';

const answered = (latencyMs: number): Finished => ({ latencyMs, lateMs: latencyMs / 10 });

it('has percentiles of what was answered, and counts what was not', () => {
  const latencies = Array.from({ length: 100 }, (_, n) => answered(n + 1));
  expect(tallyOf([...latencies, { lateMs: 99 }, { lateMs: 99 }], 20)).toEqual({
    due: 102,
    answered: 100,
    failed: 2,
    answeredPerSecond: 5,
    p50Ms: 50,
    p99Ms: 99,
    maxMs: 100,
    lateP99Ms: 99,
  });
});

it('makes no latency of failures alone', () => {
  expect(() => tallyOf([{ lateMs: 1 }], 20)).toThrow(RangeError);
});
