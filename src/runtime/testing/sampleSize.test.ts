import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sampleRuns, sampleSize } from './sampleSize.ts';

afterEach(() => vi.unstubAllEnvs());

describe.each([
  { full: undefined, isFull: false },
  { full: '', isFull: false },
  { full: '0', isFull: false },
  { full: '1', isFull: true },
])('with FULL_SAMPLES=$full', ({ full, isFull }) => {
  it(`the sample is ${isFull ? 'full' : 'quick'}`, () => {
    vi.stubEnv('FULL_SAMPLES', full);
    expect(sampleSize({ quick: 3, full: 5 })).toBe(isFull ? 5 : 3);
    const quick = { numRuns: 3, seed: 7 };
    const { numRuns, seed } = { seed: undefined, ...sampleRuns(quick, { numRuns: 5, timeoutMs: 1_000 }) };
    expect({ numRuns, seed }).toEqual(isFull ? { numRuns: 5, seed: undefined } : quick);
  });
});

it('a full sample that takes too long fails with its seed, before the timeout of its test', async () => {
  vi.stubEnv('FULL_SAMPLES', '1');
  const slow = fc.asyncProperty(fc.integer(), () => new Promise<void>((resolve) => setTimeout(resolve, 30)));
  const runs = sampleRuns({ numRuns: 1, seed: 1 }, { numRuns: 1_000, timeoutMs: 1_000 });
  expect(runs).toMatchObject({ interruptAfterTimeLimit: 900 });
  await expect(fc.assert(slow, runs)).rejects.toThrow(/interrupted after \d+ tests\n\{ seed: -?\d+/);
});
