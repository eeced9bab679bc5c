import { afterEach, describe, expect, it, vi } from 'vitest';
import { resultOf } from './figure.ts';
import { failIfMissed, missedGoals } from './goals.ts';

const figure = (what: string, atMost?: number) =>
  resultOf({ id: what, what, unit: 'ms', samples: [2], ...(atMost !== undefined && { atMost }) });

describe('missedGoals', () => {
  it('names each figure that misses its goal, and no other', () => {
    const text = missedGoals([figure('met', 2), figure('missed', 1), figure('without a goal')]);
    expect(text).toMatch(/^not met:\n/);
    expect(text).toContain('| missed, ms');
    expect(text).not.toMatch(/\| (met|without a goal), ms/);
  });

  it('is undefined if none is missed', () => {
    expect(missedGoals([figure('met', 2), figure('without a goal')])).toBeUndefined();
  });
});

describe('failIfMissed', () => {
  const before = process.exitCode;
  afterEach(() => {
    process.exitCode = before;
    vi.restoreAllMocks();
  });

  it.each([
    ['a missed goal', [figure('met', 2), figure('missed', 1)], 1],
    ['no missed goal', [figure('met', 2)], undefined],
  ])('ends the process, after %s, with the right status', (_, results, status) => {
    const print = vi.spyOn(console, 'log').mockReturnValue();
    process.exitCode = undefined;
    failIfMissed(results, { cores: 2 });
    expect(process.exitCode).toBe(status);
    expect(print.mock.calls.flat().join().includes('| missed, ms')).toBe(status === 1);
  });
});
