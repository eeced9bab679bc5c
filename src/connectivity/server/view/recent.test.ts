import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, type Clock } from '../../../runtime/process/clock.ts';
import { Recent, RecentInTurns } from './recent.ts';

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

describe('a value that takes several turns', () => {
  it('is made once for all who ask meanwhile, and kept for nine times as long as it took', async () => {
    let made = 0;
    const recent = new RecentInTurns<number>(clock, 1_000, async () => {
      await Promise.resolve();
      now += 500;
      return (made += 1);
    });
    expect(await Promise.all([recent.get(), recent.get()])).toEqual([1, 1]);
    now = 4_999;
    expect(await recent.get()).toBe(1);
    now = 5_000;
    expect(await recent.get()).toBe(2);
  });

  it('is not kept for long on a busy server', async () => {
    let made = 0;
    const recent = new RecentInTurns<number>(clock, 1_000, () => {
      now += 3_000;
      return Promise.resolve((made += 1));
    });
    expect(await recent.get()).toBe(1);
    now = 3_000 + 4_999;
    expect(await recent.get()).toBe(1);
    now = 3_000 + 5_000;
    expect(await recent.get()).toBe(2);
  });

  it('that could not be made is made at the next call', async () => {
    let calls = 0;
    const recent = new RecentInTurns<string>(clock, 1_000, () => {
      calls += 1;
      return calls === 1 ? Promise.reject(new Error('once')) : Promise.resolve('made');
    });
    await expect(recent.get()).rejects.toThrow('once');
    expect(await recent.get()).toBe('made');
  });
});
