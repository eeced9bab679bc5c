import { beforeEach, expect, it } from 'vitest';
import { FakeClock, type Clock } from '../../../runtime/process/clock.ts';
import { Recent } from './recent.ts';

let now: number;
let clock: Clock;
beforeEach(() => {
  now = 0;
  clock = Object.assign(new FakeClock(), { monotonic: () => now });
});

/** The number of the value at each time, if making one takes `tookMs`. */
function values(tookMs: number, times: readonly number[]): number[] {
  const recent = new Recent<number>(clock, 1_000, (last = 0) => {
    now += tookMs;
    return last + 1;
  });
  return times.map((time) => {
    now = time;
    return recent.get();
  });
}

it('is made again after the time for which it is kept', () => {
  expect(values(0, [0, 999, 1_000])).toEqual([1, 1, 2]);
});

it('that takes long to make is kept for nine times as long', () => {
  expect(values(500, [0, 4_999, 5_000])).toEqual([1, 1, 2]);
});
