import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { TWO_PASSES, usage } from '../../testing/observations.ts';
import type { Side } from '../../model/label.ts';
import type { VerdictInput } from './policies.ts';
import { decideVerdict } from './verdict.ts';

const node = (percent: number | undefined) => usage('n1', percent);

interface Row {
  why: string;
  now: number | undefined;
  before: number | undefined;
  labelled?: Side;
  verdict: string;
  reason: string;
  writes?: Side;
}

const ROWS: Row[] = [
  {
    why: 'two passes above: Unfit',
    now: 20,
    before: 30,
    verdict: 'Unfit',
    reason: 'AboveThreshold',
    writes: 'above',
  },
  {
    why: 'two passes below: Fit',
    now: 1,
    before: 2,
    verdict: 'Fit',
    reason: 'BelowThreshold',
    writes: 'notAbove',
  },
  {
    why: 'exactly the threshold is not above it',
    now: 10,
    before: 10,
    verdict: 'Fit',
    reason: 'BelowThreshold',
    writes: 'notAbove',
  },
  {
    why: 'two passes override the label',
    now: 20,
    before: 30,
    labelled: 'notAbove',
    verdict: 'Unfit',
    reason: 'AboveThreshold',
    writes: 'above',
  },
  { why: 'one pass alone writes no first label', now: 20, before: undefined, verdict: 'Unknown', reason: 'FirstPass' },
  {
    why: 'passes that disagree write no first label',
    now: 20,
    before: 1,
    verdict: 'Unknown',
    reason: 'PassesDisagree',
  },
  {
    why: 'the label holds the previous verdict: one pass does not change it',
    now: 20,
    before: 1,
    labelled: 'notAbove',
    verdict: 'Fit',
    reason: 'AwaitingSecondPass',
    writes: 'notAbove',
  },
  {
    why: 'after a restart the label is kept',
    now: 20,
    before: undefined,
    labelled: 'above',
    verdict: 'Unfit',
    reason: 'AboveThreshold',
    writes: 'above',
  },
  {
    why: 'after a restart one differing pass changes nothing',
    now: 1,
    before: undefined,
    labelled: 'above',
    verdict: 'Unfit',
    reason: 'AwaitingSecondPass',
    writes: 'above',
  },
  {
    why: 'no figure: unknown, and the label stays',
    now: undefined,
    before: 20,
    labelled: 'above',
    verdict: 'Unknown',
    reason: 'NoSeries',
  },
  { why: 'no figure and no label: unknown', now: undefined, before: undefined, verdict: 'Unknown', reason: 'NoSeries' },
];

describe('decideVerdict', () => {
  test.each(ROWS)('$why', ({ now, before, labelled, verdict, reason, writes }) => {
    const input = {
      maxPercent: 10,
      passes: [node(now), node(before)],
      labelled,
      passError: undefined,
      passesToAgree: TWO_PASSES,
    };
    expect(decideVerdict(input)).toMatchObject({ verdict, reason });
    expect(decideVerdict(input).side).toBe(writes);
  });

  it('says why the node cannot be measured, and keeps the label', () => {
    const notMeasurable = { reason: 'NodeNotReady', message: 'switched off' } as const;
    const input = {
      maxPercent: 10,
      labelled: 'above',
      passError: undefined,
      passesToAgree: TWO_PASSES,
      notMeasurable,
    } as const;
    expect(decideVerdict({ ...input, passes: [node(undefined), node(20)] })).toEqual({
      verdict: 'Unknown',
      ...notMeasurable,
      side: undefined,
    });
    // A figure counts even if the node is reported as not measurable.
    expect(decideVerdict({ ...input, passes: [node(30), node(20)] })).toMatchObject({
      verdict: 'Unfit',
      side: 'above',
    });
  });

  it('reports why the pass failed rather than NoSeries', () => {
    const passError = { reason: 'PrometheusUnreachable', message: 'refused' };
    const input = {
      maxPercent: 10,
      passes: [undefined, node(20)],
      labelled: 'above' as const,
      passError,
      passesToAgree: TWO_PASSES,
    };
    expect(decideVerdict(input)).toMatchObject({
      verdict: 'Unknown',
      reason: 'PrometheusUnreachable',
      side: undefined,
    });
  });

  const percent = fc.option(fc.double({ min: 0, max: 200, noNaN: true }), { nil: undefined });
  const label = fc.constantFrom<Side | undefined>('above', 'notAbove', undefined);
  const inputs: fc.Arbitrary<VerdictInput> = fc
    .tuple(fc.double({ min: 0, max: 120, noNaN: true }), percent, percent, label)
    .map(([maxPercent, now, before, l]) => ({
      maxPercent,
      passes: [node(now), node(before)],
      labelled: l,
      passError: undefined,
      passesToAgree: TWO_PASSES,
    }));

  it('changes a label, or writes a first one, only when two passes agree', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { side: written } = decideVerdict(input);
        if (written === undefined || written === input.labelled) return;
        const percents = input.passes.map((usage) => usage?.percent);
        expect(percents).not.toContain(undefined);
        const sides = percents.map((value) => value !== undefined && value > input.maxPercent);
        expect(sides).toEqual([written === 'above', written === 'above']);
      }),
    );
  });

  it('never decides a verdict from a missing figure', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const { verdict, side: written } = decideVerdict({ ...input, passes: [node(undefined), input.passes[1]] });
        expect([verdict, written]).toEqual(['Unknown', undefined]);
      }),
    );
  });

  it('is stable: with the written label and the same passes, it decides the same', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const first = decideVerdict(input);
        expect(decideVerdict({ ...input, labelled: first.side ?? input.labelled }).side ?? input.labelled).toBe(
          first.side ?? input.labelled,
        );
      }),
    );
  });
});

describe('a node whose capacity fell', () => {
  const fell = { capacityBytesPerSecond: 1.25e9, drop: { fromBytesPerSecond: 2.5e9, devices: ['bond0'] } };
  const verdict = (percent: number, labelled?: Side) => {
    const found = usage('n1', percent, fell);
    return decideVerdict({
      maxPercent: 50,
      passes: [found, found],
      labelled,
      passError: undefined,
      passesToAgree: TWO_PASSES,
    });
  };

  it('is unfit by its present capacity, with the reason CapacityFell if it would be fit by the earlier one', () => {
    expect(verdict(80)).toEqual({
      verdict: 'Unfit',
      reason: 'CapacityFell',
      message: 'above the threshold in two passes in a row; capacity fell from 20Gbit to 10Gbit (bond0)',
      side: 'above',
    });
    const passes = [usage('n1', 80, fell), usage('n1', undefined)];
    expect(
      decideVerdict({ maxPercent: 50, passes, labelled: 'above', passError: undefined, passesToAgree: TWO_PASSES }),
    ).toMatchObject({
      reason: 'CapacityFell',
    });
  });

  it('is AboveThreshold if it is above by both capacities, and fit if it is not above', () => {
    expect(verdict(101)).toMatchObject({ verdict: 'Unfit', reason: 'AboveThreshold' });
    expect(verdict(50)).toMatchObject({ verdict: 'Fit', reason: 'BelowThreshold' });
  });
});
