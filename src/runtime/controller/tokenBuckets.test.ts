import { expect, it } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import { TokenBuckets } from './tokenBuckets.ts';

const ALLOWANCE = { burst: 10, perSecond: 0.2 };

it('a key has its burst at once, and then one token every five seconds, whatever other keys take', async () => {
  const clock = new FakeClock();
  const buckets = new TokenBuckets(clock);
  const taken = (key: string): number =>
    Array.from({ length: 20 }, () => buckets.take(key, ALLOWANCE)).filter(Boolean).length;
  expect([taken('a'), taken('b')]).toEqual([10, 10]);
  expect(buckets.waitMs('a', ALLOWANCE)).toBe(5_000);
  await clock.advance(4_999);
  expect([taken('a'), buckets.waitMs('a', ALLOWANCE)]).toEqual([0, 1]);
  await clock.advance(1);
  expect([buckets.waitMs('a', ALLOWANCE), taken('a')]).toEqual([0, 1]);
  await clock.advance(15_000);
  expect(taken('a')).toBe(3);
  await clock.advance(3_600_000);
  expect(taken('a')).toBe(10);
});

it('leaves the reserve', () => {
  const buckets = new TokenBuckets(new FakeClock());
  const taken = Array.from({ length: 10 }, () => buckets.take('a', ALLOWANCE, 4));
  expect(taken.filter(Boolean)).toHaveLength(6);
  expect(buckets.take('a', ALLOWANCE)).toBe(true);
});

it('forgets keys whose bucket is full again', async () => {
  const clock = new FakeClock();
  const buckets = new TokenBuckets(clock);
  for (let n = 0; n < 1_000; n++) {
    buckets.take(`namespace-${n}`, ALLOWANCE);
    await clock.advance(1_000);
  }
  expect(buckets.size).toBeLessThan(10);
});
