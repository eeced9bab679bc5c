import fc from 'fast-check';
import { expect, it, describe } from 'vitest';
import { Busiest, InFlight, forEachAtOnce, forEachFairly, TokenBuckets, FairQueue } from './limit.ts';
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

/** Runs items whose calls end in turns of a clock. @returns the items in the order of their begin, and most parallel calls by group */
async function run(items: readonly string[], { hanging = '', slow = '' } = {}) {
  const begun: string[] = [];
  const running = new Map<string, number>();
  const most = new Map<string, number>();
  const stop = Promise.withResolvers<undefined>();
  const work = async (item: string): Promise<void> => {
    const group = groupOf(item);
    begun.push(item);
    running.set(group, (running.get(group) ?? 0) + 1);
    most.set(group, Math.max(most.get(group) ?? 0, running.get(group) ?? 0));
    await (hanging.includes(group) ? stop.promise : new Promise((resolve) => setImmediate(resolve)));
    running.set(group, (running.get(group) ?? 0) - 1);
  };
  const shares = { groupOf, atOnce: 8, share: 2, isSlow: (group: string) => slow.includes(group) };
  const ending = forEachFairly(items, shares, work);
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
  const before = [...begun];
  stop.resolve(undefined);
  await ending;
  expect(begun.toSorted()).toEqual(items.toSorted());
  return { begun: before, most };
}
const manyOf = (group: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${group}${n}`);

describe('forEachFairly', () => {
  it('gives all places to a group that is alone, and its share to each of several', async () => {
    expect((await run(manyOf('a', 50))).most.get('a')).toBe(8);
    const groups = ['a', 'b', 'c', 'd', 'e'];
    const { begun } = await run([...manyOf('a', 100), ...groups.slice(1).flatMap((group) => manyOf(group, 20))]);
    expect(begun.slice(0, 5)).toEqual(['a0', 'b0', 'c0', 'd0', 'e0']);
    expect(begun.slice(0, 50).filter((item) => groupOf(item) === 'a').length).toBeLessThan(14);
  });

  it('lets a group whose calls hang keep one place, and gives the others to a group whose calls end', async () => {
    const { begun, most } = await run([...manyOf('a', 20), ...manyOf('b', 20), ...manyOf('c', 50)], { hanging: 'ab' });
    expect([most.get('c'), begun.filter((item) => groupOf(item) === 'c').length]).toEqual([6, 50]);
    expect(begun.filter((item) => groupOf(item) !== 'c')).toEqual(['a0', 'b0']);
  });

  it('gives groups that were slow before one share together', async () => {
    const slow = 'abcde';
    const items = [...slow].flatMap((group) => manyOf(group, 5));
    const { begun } = await run([...items, ...manyOf('f', 50)], { hanging: slow, slow });
    expect(begun.filter((item) => slow.includes(groupOf(item)))).toEqual(['a0', 'b0']);
    expect(begun).toHaveLength(52);
  });

  it('rejects with the error of a call, and begins no other', async () => {
    const begun: string[] = [];
    const failing = forEachFairly(['a', 'b', 'c'], { groupOf, atOnce: 2, share: 1, isSlow: () => false }, (item) => {
      begun.push(item);
      return item === 'b' ? Promise.reject(new Error('no')) : new Promise((resolve) => setImmediate(resolve));
    });
    await expect(failing).rejects.toThrow('no');
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toEqual(['a', 'b']);
  });
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
