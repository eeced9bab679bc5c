import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

/** Longer than the work between two turns, ms. */
const LONG_MS = 3;

function* steps(count: number): Generator<undefined, string, undefined> {
  for (let n = 0; n < count; n += 1) {
    const end = performance.now() + LONG_MS;
    while (performance.now() < end);
    yield;
  }
  return 'done';
}

it('takes the steps of a computation, with four turns of others in between: each accepts one connection', async () => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  expect(await new Turns().run(steps(5))).toBe('done');
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(4 * 4);
});

it('rejects with what a step throws', async () => {
  function* failing(): Generator<undefined, never, undefined> {
    yield;
    throw new Error('in a step');
  }
  await expect(new Turns().run(failing())).rejects.toThrow('in a step');
});
