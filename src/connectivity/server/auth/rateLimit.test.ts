import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { RateLimit } from './rateLimit.ts';

describe('RateLimit', () => {
  it('allows one report per second and key on average, with a little jitter', async () => {
    const clock = new FakeClock();
    const rate = new RateLimit(clock);
    expect([rate.allows('a'), rate.allows('a'), rate.allows('b')]).toEqual([true, false, true]);
    await clock.advance(799);
    expect(rate.allows('a')).toBe(false);
    await clock.advance(1);
    expect(rate.allows('a')).toBe(true);
    let allowed = 0;
    for (let n = 0; n < 100; n++) {
      await clock.advance(100);
      if (rate.allows('a')) allowed++;
    }
    expect(allowed).toBe(10);
  });

  it('keeps at most 50,000 keys, and none that is over', async () => {
    const clock = new FakeClock();
    const rate = new RateLimit(clock);
    for (let n = 0; n < 60_000; n++) rate.allows(String(n));
    expect(rate.size).toBe(50_000);
    await clock.advance(1_000);
    rate.allows('a');
    expect(rate.size).toBe(1);
  });
});
