import fc from 'fast-check';
import { expect, it } from 'vitest';
import { InFlight } from './inFlight.ts';

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
