import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '../../runtime/process/clock.ts';
import { MemoryRelease } from './memoryRelease.ts';

const EVERY_MS = 20_000;
const before = globalThis.gc;
let clock: FakeClock;
let memory: MemoryRelease;

beforeEach(() => {
  // As with the option --expose-gc.
  setFlagsFromString('--expose-gc');
  globalThis.gc = runInNewContext('gc') as NodeJS.GCFunction;
  clock = new FakeClock();
  memory = new MemoryRelease(clock, EVERY_MS);
});
afterEach(() => {
  globalThis.gc = before;
});

/** Whether an object that nothing refers to is collected within a second after the end of a burst. */
async function isCollected(): Promise<boolean> {
  const garbage = new WeakRef({});
  // A reference that was just made holds its object until the next task (ECMA-262, KeepDuringJob).
  await new Promise((resolve) => setImmediate(resolve));
  memory.soon();
  await clock.advance(1_000);
  return garbage.deref() === undefined;
}

it('collects garbage after a burst', async () => {
  expect(await isCollected()).toBe(true);
});

it('collects once in its time at most', async () => {
  await isCollected();
  await clock.advance(EVERY_MS - 2_000);
  expect(await isCollected()).toBe(false);
  expect(await isCollected()).toBe(true);
});

it('does nothing in a process without --expose-gc', async () => {
  globalThis.gc = undefined;
  expect(await isCollected()).toBe(false);
  expect(clock.pending).toBe(0);
});
