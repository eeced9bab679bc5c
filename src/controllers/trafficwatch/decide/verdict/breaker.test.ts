import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyBreaker, limitOf, type Candidate } from './breaker.ts';
import { settled, unknown } from './nodeVerdict.ts';
import type { Side } from './side.ts';

const above = (percent: number, labelled?: Side): Candidate => ({
  verdict: settled('above', 'AboveThreshold', ''),
  labelled,
  percent,
});
const fit = (labelled?: Side): Candidate => ({
  verdict: settled('notAbove', 'BelowThreshold', ''),
  labelled,
  percent: 1,
});
const noFigure = (labelled?: Side): Candidate => ({ verdict: unknown('NoSeries', ''), labelled, percent: undefined });

/** As `Unfit AboveThreshold`, one for each candidate. */
const told = (candidates: readonly Candidate[], limit: number): string[] =>
  applyBreaker(candidates, limit).verdicts.map(({ verdict, reason }) => `${verdict} ${reason}`);

describe('limitOf', () => {
  it.each([
    [{}, 10, undefined],
    [{ maxUnfit: 3 }, 10, 3],
    [{ maxUnfit: '3' }, 10, 3],
    [{ maxUnfit: '30%' }, 10, 3],
    [{ maxUnfit: '30%' }, 9, 2],
    [{ maxUnfit: '10%' }, 3, 1],
    [{ minFit: 4 }, 10, 6],
    [{ minFit: '50%' }, 9, 4],
    [{ minFit: 4 }, 3, 0],
    [{ maxUnfit: '50%', minFit: 8 }, 10, 2],
  ])('of %j over %i nodes is %s', (spec, nodes, limit) => {
    expect(limitOf(spec, nodes)).toBe(limit);
  });
});

describe('applyBreaker', () => {
  it('changes nothing within the limit', () => {
    const { verdicts, breaker } = applyBreaker([above(90), fit(), above(80)], 2);
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['Unfit', 'Fit', 'Unfit']);
    expect(breaker).toEqual({ above: 2, limit: 2, held: 0 });
  });

  it('lets the fullest be unfit; the others are fit', () => {
    const candidates = [above(60), above(90, 'notAbove'), above(70, 'notAbove'), above(80)];
    expect(told(candidates, 2)).toEqual([
      'Fit HeldByBreaker',
      'Unfit AboveThreshold',
      'Fit HeldByBreaker',
      'Unfit AboveThreshold',
    ]);
    expect(applyBreaker(candidates, 2).breaker).toEqual({ above: 4, limit: 2, held: 2 });
  });

  it('leaves a labelled node unfit though another one is fuller, so that labels do not swap', () => {
    expect(told([above(61, 'above'), above(99, 'notAbove')], 1)).toEqual(['Unfit AboveThreshold', 'Fit HeldByBreaker']);
  });

  it('gives a place away only when its label is gone', () => {
    expect(told([fit('above'), above(99, 'notAbove')], 1)).toEqual(['Fit BelowThreshold', 'Fit HeldByBreaker']);
    expect(told([fit('notAbove'), above(99, 'notAbove')], 1)).toEqual(['Fit BelowThreshold', 'Unfit AboveThreshold']);
  });

  it('counts a node without figures that is labelled unfit', () => {
    expect(told([noFigure('above'), above(99)], 1)).toEqual(['Unknown NoSeries', 'Fit HeldByBreaker']);
  });

  it('releases the least full when the limit has become lower', () => {
    expect(told([above(70, 'above'), above(90, 'above')], 1)).toEqual(['Fit HeldByBreaker', 'Unfit AboveThreshold']);
  });

  it('changes no node without a figure, whatever the limit: it takes a place', () => {
    const candidates = [noFigure('above'), noFigure('above'), above(90, 'above')];
    expect(told(candidates, 1)).toEqual(['Unknown NoSeries', 'Unknown NoSeries', 'Fit HeldByBreaker']);
    expect(told(candidates, 3)).toEqual(['Unknown NoSeries', 'Unknown NoSeries', 'Unfit AboveThreshold']);
  });

  const side = fc.constantFrom<Side | undefined>('above', 'notAbove', undefined);
  const candidate = fc.oneof(
    fc
      .tuple(fc.double({ min: 50, max: 200, noNaN: true }), side)
      .map(([percent, labelled]) => above(percent, labelled)),
    side.map(fit),
    side.map(noFigure),
  );

  it('never lets more labels of unfit nodes stand than the limit, in whatever order the writes are made', () => {
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: 30 }), fc.nat({ max: 12 }), (candidates, limit) => {
        const before = candidates.filter(({ labelled }) => labelled === 'above').length;
        const { verdicts, breaker } = applyBreaker(candidates, limit);
        const added = candidates.filter(
          (c, place) => c.labelled !== 'above' && verdicts[place]?.side === 'above',
        ).length;
        expect(before + added).toBeLessThanOrEqual(Math.max(before, limit));
        const after = candidates.filter((c, place) => (verdicts[place]?.side ?? c.labelled) === 'above').length;
        const undecided = candidates.filter((c) => c.labelled === 'above' && c.verdict.side === undefined).length;
        expect(after).toBeLessThanOrEqual(Math.max(limit, undecided));
        expect(candidates.some((c, place) => c.verdict.side === undefined && verdicts[place] !== c.verdict)).toBe(
          false,
        );
        expect(breaker.held).toBe(verdicts.filter(({ reason }) => reason === 'HeldByBreaker').length);
      }),
    );
  });

  it('holds back nothing while the limit is not reached', () => {
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: 30 }), (candidates) => {
        const { verdicts } = applyBreaker(candidates, candidates.length);
        expect(verdicts).toEqual(candidates.map(({ verdict }) => verdict));
      }),
    );
  });
});
