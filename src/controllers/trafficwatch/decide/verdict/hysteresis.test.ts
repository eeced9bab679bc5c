import { describe, expect, it } from 'vitest';
import { usage } from '../../testing/observations.ts';
import type { PassesToAgree, VerdictInput } from './policies.ts';
import type { Side } from '../../model/label.ts';
import { decideVerdict } from './verdict.ts';

interface Rule {
  readonly maxPercent: number;
  readonly recoverPercent?: number;
  readonly passesToAgree: PassesToAgree;
}

const OLD: Rule = { maxPercent: 60, passesToAgree: { unfit: 2, fit: 2 } };
const BAND: Rule = { ...OLD, recoverPercent: 40 };

function verdictOf(rule: Rule, percents: readonly (number | undefined)[], labelled?: Side) {
  const passes = percents.map((percent) => usage('n1', percent));
  const input: VerdictInput = { ...rule, passes, labelled, passError: undefined };
  return decideVerdict(input);
}

describe('recoverBandwidthPercent', () => {
  it.each([
    ['an unfit node between the thresholds stays unfit', [50, 50], 'above', 'Unfit', 'NotRecovered'],
    ['an unfit node above both is unfit', [70, 70], 'above', 'Unfit', 'AboveThreshold'],
    ['an unfit node at the lower threshold is fit', [40, 40], 'above', 'Fit', 'BelowThreshold'],
    ['one pass below does not make it fit', [39, 50], 'above', 'Unfit', 'AwaitingSecondPass'],
    ['a fit node between the thresholds stays fit', [50, 50], 'notAbove', 'Fit', 'BelowThreshold'],
    ['a fit node above the upper one is unfit', [61, 61], 'notAbove', 'Unfit', 'AboveThreshold'],
    ['a node without a label is decided by the upper one', [50, 50], undefined, 'Fit', 'BelowThreshold'],
  ] as const)('%s', (_why, percents, labelled, verdict, reason) => {
    expect(verdictOf(BAND, percents, labelled)).toMatchObject({ verdict, reason });
  });
});

describe('passes', () => {
  const FIVE: Rule = { ...OLD, passesToAgree: { unfit: 5, fit: 3 } };

  it.each([
    ['four above do not make a node unfit', [70, 70, 70, 70, 1], 'notAbove', 'Fit'],
    ['five do', [70, 70, 70, 70, 70], 'notAbove', 'Unfit'],
    ['two below do not make it fit', [1, 1, 70, 70, 70], 'above', 'Unfit'],
    ['three do', [1, 1, 1, 70, 70], 'above', 'Fit'],
    ['a pass without a figure interrupts the row', [70, 70, undefined, 70, 70, 70], 'notAbove', 'Fit'],
    ['fewer passes than asked for decide nothing', [70, 70], undefined, 'Unknown'],
  ] as const)('%s', (_why, percents, labelled, verdict) => {
    expect(verdictOf(FIVE, percents, labelled).verdict).toBe(verdict);
  });

  it('is one pass where the spec says so', () => {
    expect(verdictOf({ ...OLD, passesToAgree: { unfit: 1, fit: 2 } }, [70, 1], 'notAbove').verdict).toBe('Unfit');
  });

  it('says how many passes the label waits for', () => {
    expect(verdictOf(FIVE, [70, 1], 'notAbove').message).toContain('after 5 such passes in a row');
  });
});

/** How often the label of a node changes while its load runs through these percents, a pass each. */
function flips(rule: Rule, percents: readonly number[]): number {
  let labelled: Side | undefined;
  let count = 0;
  const kept = Math.max(rule.passesToAgree.unfit, rule.passesToAgree.fit);
  for (let pass = 0; pass < percents.length; pass++) {
    const newest = percents.slice(Math.max(pass + 1 - kept, 0), pass + 1).reverse();
    const { side } = verdictOf(rule, newest, labelled);
    if (side === undefined || side === labelled) continue;
    if (labelled !== undefined) count += 1;
    labelled = side;
  }
  return count;
}

/** Reproducible numbers from 0 to 1: Numerical Recipes' linear congruential generator. */
function randomly(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

describe('a simulation of passes every 10 s', () => {
  const HOUR = 360;
  const UNFIT_BEFORE = [90, 90];
  const FIT_BEFORE = [10, 10];

  it('flips no label in an hour of load that oscillates inside the band; one threshold in its middle flips 22 times', () => {
    const load = Array.from({ length: HOUR }, (_, pass) => 50 + 9 * Math.sin(pass / 5));
    expect(flips(BAND, [...UNFIT_BEFORE, ...load])).toBe(0);
    expect(flips(BAND, [...FIT_BEFORE, ...load])).toBe(0);
    expect(flips({ ...OLD, maxPercent: 50 }, load)).toBe(22);
  });

  it('flips no label in 24 hours of 20 % noise around the threshold; two passes alone flip it thousands of times', () => {
    const random = randomly(21);
    const load = Array.from({ length: 24 * HOUR }, () => 60 * (0.8 + 0.4 * random()));
    // The noise reaches down to 48 %, never to the lower threshold.
    expect(flips(BAND, [...UNFIT_BEFORE, ...load])).toBe(0);
    expect(flips({ ...OLD, passesToAgree: { unfit: 30, fit: 30 } }, [...FIT_BEFORE, ...load])).toBe(0);
    expect(flips(OLD, load)).toBeGreaterThan(1_000);
  });
});
