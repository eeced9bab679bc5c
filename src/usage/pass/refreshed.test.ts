import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../runtime/process/clock.ts';
import { Refreshed } from './refreshed.ts';

describe('Refreshed', () => {
  it('runs one read at a time, and the next after the interval', async () => {
    const clock = new FakeClock();
    const value = new Refreshed<number>(clock, 60_000);
    let reads = 0;
    const read = () => Promise.resolve(++reads);
    value.refresh(read);
    value.refresh(read);
    await value.settled();
    expect([value.value, value.ageMs]).toEqual([1, 0]);
    await clock.advance(59_999);
    value.refresh(read);
    await value.settled();
    expect(value.value).toBe(1);
    await clock.advance(1);
    value.refresh(read);
    await value.settled();
    expect(value.value).toBe(2);
  });

  it('has the age of the start of its read, which can take minutes', async () => {
    const clock = new FakeClock();
    const value = new Refreshed<number>(clock, 60_000);
    const read = value.renew(async () => {
      await clock.sleep(150_000);
      return 1;
    });
    await clock.advance(150_000);
    expect([await read, value.ageMs]).toEqual([1, 150_000]);
  });

  it('reads at once after expire()', async () => {
    const value = new Refreshed<number>(new FakeClock(), 60_000);
    value.set(1);
    value.expire();
    for (const read of [2, 3]) {
      value.refresh(() => Promise.resolve(read));
      await value.settled();
    }
    expect(value.value).toBe(2);
  });

  it('renew() reads before a value is due; concurrent calls share one read', async () => {
    const value = new Refreshed<number>(new FakeClock(), 60_000);
    value.set(1);
    const { promise, resolve } = Promise.withResolvers<number>();
    const [one, other] = [value.renew(() => promise), value.renew(() => Promise.resolve(3))];
    resolve(2);
    expect([await one, await other, value.value]).toEqual([2, 2, 2]);
    await expect(value.renew(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(value.value).toBe(2);
  });

  it('keeps the old value if a read fails, and retries after the interval', async () => {
    const clock = new FakeClock();
    const value = new Refreshed<number>(clock, 1_000);
    value.set(1);
    await clock.advance(1_000);
    value.refresh(() => Promise.reject(new Error('no')));
    await value.settled();
    expect([value.value, value.ageMs]).toEqual([1, 1_000]);
    await clock.advance(999);
    value.refresh(() => Promise.resolve(2));
    await value.settled();
    expect(value.value).toBe(1);
    await clock.advance(1);
    value.refresh(() => Promise.resolve(2));
    await value.settled();
    expect(value.value).toBe(2);
  });

  it.each([
    ['succeeds', () => undefined],
    ['fails', () => Promise.reject(new Error('no'))],
  ])('pauses for a multiple of the duration of a read that %s, even after expire()', async (_how, result) => {
    const clock = new FakeClock();
    const value = new Refreshed<unknown>(clock, 1_000);
    let reads = 0;
    const read = async (): Promise<unknown> => {
      reads++;
      await clock.sleep(2_000);
      return result();
    };
    const refresh = (): void => value.refresh(read, { restTimes: 9 });
    refresh();
    await clock.advance(2_000);
    value.expire();
    await clock.advance(17_999);
    refresh();
    expect(reads).toBe(1);
    await clock.advance(1);
    refresh();
    expect(reads).toBe(2);
    await clock.advance(2_000);
    await value.settled();
  });
});
