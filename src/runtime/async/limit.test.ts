import fc from 'fast-check';
import { expect, it, describe } from 'vitest';
import { Busiest, InFlight, forEachAtOnce, TokenBuckets, FairQueue, inTurns } from './limit.ts';
import { FakeClock } from '../process/clock.ts';

const never = new AbortController().signal;

it('admits callers up to the limit, then one for each released slot, in order', async () => {
  const inFlight = new InFlight(2);
  const admitted: number[] = [];
  const releases = [await inFlight.acquire(never), await inFlight.acquire(never)];
  const waiting = [1, 2, 3].map((n) => inFlight.acquire(never).then(() => admitted.push(n)));

  releases[0]?.();
  await waiting[0];
  expect(admitted).toEqual([1]);
  releases[1]?.();
  await waiting[1];

  expect(admitted).toEqual([1, 2]);
});

it('releases a slot once, even if release is called several times', async () => {
  const inFlight = new InFlight(1);
  const release = await inFlight.acquire(never);
  release?.();
  release?.();
  await inFlight.acquire(never);

  const abort = new AbortController();
  const third = inFlight.acquire(abort.signal);
  abort.abort();

  expect(await third).toBeUndefined();
});

it('gives a free slot at once, but not before those who wait', async () => {
  const inFlight = new InFlight(1);
  const release = inFlight.tryAcquire();
  expect(inFlight.tryAcquire()).toBeUndefined();
  const waiting = inFlight.acquire(never);
  release?.();
  expect(inFlight.tryAcquire()).toBeUndefined();
  (await waiting)?.();
  expect(inFlight.tryAcquire()).toBeDefined();
});

it('drops callers whose signal is aborted, before or during the wait', async () => {
  const inFlight = new InFlight(1);
  const release = await inFlight.acquire(never);
  const abort = new AbortController();
  const waiting = inFlight.acquire(abort.signal);
  abort.abort();

  expect(await waiting).toBeUndefined();
  expect(await inFlight.acquire(abort.signal)).toBeUndefined();
  release?.();
  expect(await inFlight.acquire(never)).toBeDefined();
});

it('keeps the number of slots for any order of acquire, release and abort', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom('come', 'leave', 'giveUp')), async (steps) => {
      const inFlight = new InFlight(3);
      const waiting: AbortController[] = [];
      const held: (() => void)[] = [];
      for (const step of steps) {
        if (step === 'leave') held.shift()?.();
        else if (step === 'giveUp') waiting.shift()?.abort();
        else {
          const abort = new AbortController();
          waiting.push(abort);
          void inFlight.acquire(abort.signal).then((release) => {
            if (release !== undefined) held.push(release);
          });
        }
        await new Promise((resolve) => setImmediate(resolve));
        expect(held.length).toBeLessThanOrEqual(3);
        expect(inFlight.waiting === 0 || held.length === 3).toBe(true);
      }
    }),
    { numRuns: 50 },
  );
});

describe('forEachAtOnce', () => {
  it('calls for each item, in order, and never more at a time than allowed', async () => {
    const begun: number[] = [];
    let [running, most] = [0, 0];
    await forEachAtOnce([1, 2, 3, 4, 5], 2, async (item) => {
      begun.push(item);
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
    });
    expect([begun, most]).toEqual([[1, 2, 3, 4, 5], 2]);
  });

  it('rejects with the error of a call', async () => {
    const failing = forEachAtOnce([1, 2], 2, (item) =>
      item === 2 ? Promise.reject(new Error('no')) : Promise.resolve(),
    );
    await expect(failing).rejects.toThrow('no');
  });
});

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

const groupOf = (item: string): string => item.charAt(0);

it.each([
  ['a group with many items delays others by one item', ['a1', 'a2', 'a3', 'a4', 'b1', 'c1'], 'a1 b1 c1 a2 a3 a4'],
  ['the items of a group keep their order', ['b2', 'a1', 'b1', 'a2'], 'b2 a1 b1 a2'],
  ['one group alone keeps its order', ['a3', 'a1', 'a2'], 'a3 a1 a2'],
  ['nothing', [], ''],
])('groups take turns: %s', (_, items, order) => {
  expect(inTurns(items, groupOf).join(' ')).toBe(order);
});

it('an urgent item precedes the others of its group only, and an added group waits for its turn', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2']) queue.add(groupOf(item), item);
  const order = [queue.take()];
  queue.add('a', 'a!', true);
  queue.add('c', 'c1');
  for (let next = queue.take(); next !== undefined; next = queue.take()) order.push(next);
  expect(order.map((each) => each?.item).join(' ')).toBe('a1 b1 a! c1 b2 a2 a3');
  expect(order.filter((each) => each?.isUrgent).map((each) => each?.group)).toEqual(['a']);
  queue.add('d', 'd1');
  queue.clear();
  expect(queue.take()).toBeUndefined();
});

it('the newest item of a group can be taken out, urgent items last', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'b1']) queue.add(groupOf(item), item);
  queue.add('a', 'a!', true);
  expect(['a', 'a', 'a', 'a', 'c'].map((group) => queue.takeNewest(group))).toEqual([
    ...['a2', 'a1', 'a!'],
    ...[undefined, undefined],
  ]);
  queue.add('a', 'a3');
  expect([queue.take()?.item, queue.take()?.item, queue.take()]).toEqual(['b1', 'a3', undefined]);
});

describe('Busiest', () => {
  it('has the counts that were added and removed, and a member with the highest', () => {
    const steps = fc.array(fc.tuple(fc.nat(5), fc.boolean()), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (changes) => {
        const busiest = new Busiest<number>();
        const counts = new Map<number, number>();
        for (const [member, isMore] of changes) {
          const count = counts.get(member) ?? 0;
          if (!isMore && count === 0) continue;
          counts.set(member, count + (isMore ? 1 : -1));
          if (isMore) busiest.add(member);
          else busiest.remove(member);
          const { first } = busiest;
          const most = Math.max(...counts.values());
          expect(first === undefined ? 0 : counts.get(first)).toBe(most);
          expect(busiest.of(member)).toBe(counts.get(member));
        }
      }),
      { numRuns: 100, seed: 42 },
    );
  });
});
