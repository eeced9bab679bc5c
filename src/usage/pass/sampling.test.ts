import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../runtime/process/clock.ts';
import { WindowSamples } from './sampling.ts';

const WINDOW_SECONDS = 20;

describe('the scrapes in the rate window', () => {
  let clock: FakeClock;
  let samples: WindowSamples;

  beforeEach(() => {
    clock = new FakeClock();
    samples = new WindowSamples(clock, WINDOW_SECONDS);
  });

  async function counted(count: number | undefined, afterSeconds = 0): Promise<number | undefined> {
    await clock.advance(afterSeconds * 1000);
    samples.counted(count);
    return samples.value;
  }

  it('are too few once the counts stay low for the length of the window', async () => {
    expect(await counted(2)).toBeUndefined();
    expect(await counted(3, 10)).toBeUndefined();
    expect(await counted(3, 10)).toBe(3);
    expect(samples.isOpen).toBe(false);
  });

  it('ask for another count soon while a low count is not confirmed', async () => {
    await counted(4);
    expect(samples.isOpen).toBe(false);
    expect(await counted(2, 60)).toBe(4);
    expect(samples.isOpen).toBe(true);
    expect(await counted(4, 10)).toBe(4);
    expect(samples.isOpen).toBe(false);
  });

  it('are not too few after two low counts in two separate outages', async () => {
    await counted(4);
    expect(await counted(2, 60)).toBe(4);
    expect(await counted(1, 61)).toBe(4);
    expect(await counted(3, 10)).toBe(4);
    expect(await counted(3, 10)).toBe(3);
  });
});
