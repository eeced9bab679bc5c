import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyBreaker, limitOf, type Candidate } from './breaker.ts';
import { settled, unknown } from './nodeVerdict.ts';
import type { Side } from '../../model/label.ts';

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

  it('leaves a labelled node unfit though another node is fuller, so that labels do not swap', () => {
    expect(told([above(61, 'above'), above(99, 'notAbove')], 1)).toEqual(['Unfit AboveThreshold', 'Fit HeldByBreaker']);
  });

  it('gives a place away only when its label is gone', () => {
    expect(told([fit('above'), above(99, 'notAbove')], 1)).toEqual(['Fit BelowThreshold', 'Fit HeldByBreaker']);
    expect(told([fit('notAbove'), above(99, 'notAbove')], 1)).toEqual(['Fit BelowThreshold', 'Unfit AboveThreshold']);
  });

  const kept = (reason: string, side: Side): Candidate => ({
    verdict: settled(side, reason, ''),
    labelled: side,
    percent: side === 'above' ? 1 : 95,
  });

  it.each(['HeldByMinHold', 'WarmingUp'])('counts nodes above the threshold, not verdicts: %s', (reason) => {
    const candidates = [above(90, 'above'), kept(reason, 'notAbove')];
    expect(applyBreaker(candidates, 1).breaker).toEqual({ above: 2, limit: 1, held: 1 });
    expect(told(candidates, 1)).toEqual(['Unfit AboveThreshold', 'Fit HeldByBreaker']);
    expect(told(candidates, 2)).toEqual(['Unfit AboveThreshold', `Fit ${reason}`]);
    const recovering = [kept(reason, 'above'), above(90)];
    expect(applyBreaker(recovering, 1).breaker).toEqual({ above: 1, limit: 1, held: 1 });
  });

  it('gives a free place to a node whose label may change now, not to a fuller one that is kept fit', () => {
    expect(told([above(60), kept('HeldByMinHold', 'notAbove')], 1)).toEqual([
      'Unfit AboveThreshold',
      'Fit HeldByBreaker',
    ]);
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

  describe('with a cooldown', () => {
    const NOW = Date.parse('2026-01-01T00:10:00Z');
    const MINUTE = 60_000;
    const within = [above(90, 'above'), above(80, 'notAbove'), fit()];
    const cooldown = (wasOpen: boolean, minutesCooling?: number) => ({
      ms: 5 * MINUTE,
      wasOpen,
      coolingSince: minutesCooling === undefined ? undefined : NOW - minutesCooling * MINUTE,
      now: NOW,
    });

    it('stays open when the number falls within the limit: no further node becomes unfit', () => {
      const { verdicts, breaker } = applyBreaker(within, 2, cooldown(true));
      expect(verdicts.map(({ verdict, reason }) => `${verdict} ${reason}`)).toEqual([
        'Unfit AboveThreshold',
        'Fit HeldByBreaker',
        'Fit BelowThreshold',
      ]);
      expect(breaker).toEqual({ above: 2, limit: 2, held: 1, coolingSince: NOW, closesAt: NOW + 5 * MINUTE });
    });

    it('says why a node is held back: by the cooldown no other node comes first', () => {
      const many = [above(90, 'above'), above(80, 'notAbove'), above(70, 'notAbove')];
      const messageOf = (candidates: readonly Candidate[], limit: number) =>
        applyBreaker(candidates, limit, cooldown(true)).verdicts[1]?.message;
      expect(messageOf(within, 2)).toBe(
        'above the threshold, but held back: breakerCooldown runs until 2026-01-01T00:15:00Z',
      );
      expect(messageOf(many, 1)).toBe(
        'above the threshold, but held back: maxUnfit or minFit allows 1 unfit nodes, and others come first',
      );
    });

    it.each([
      ['is closed if it was', cooldown(false), undefined],
      ['goes on for the cooldown', cooldown(true, 4), NOW - 4 * MINUTE],
      ['closes after it', cooldown(true, 5), undefined],
    ])('%s', (_why, given, coolingSince) => {
      const { verdicts, breaker } = applyBreaker(within, 2, given);
      expect(breaker.coolingSince).toBe(coolingSince);
      expect(verdicts[1]?.verdict).toBe(coolingSince === undefined ? 'Unfit' : 'Fit');
    });

    it('starts again when the number is over the limit again, and free places are given away meanwhile', () => {
      const many = [above(90, 'above'), above(80, 'notAbove'), above(70, 'notAbove')];
      const { verdicts, breaker } = applyBreaker(many, 2, cooldown(true, 4));
      expect(verdicts.map(({ verdict }) => verdict)).toEqual(['Unfit', 'Unfit', 'Fit']);
      expect(breaker).toEqual({ above: 3, limit: 2, held: 1 });
    });

    it('changes no node that is unfit, and lets one that turns fit go', () => {
      expect(
        applyBreaker([above(90, 'above'), fit('above')], 2, cooldown(true)).verdicts.map(({ verdict }) => verdict),
      ).toEqual(['Unfit', 'Fit']);
    });

    it('opens once and closes once while the number moves around the limit for an hour', () => {
      let [wasOpen, since] = [false, undefined as number | undefined];
      const labels: (Side | undefined)[] = ['notAbove', 'notAbove', 'notAbove'];
      let [changes, labelled] = [0, 0];
      for (let pass = 0; pass < 720; pass++) {
        const isOver = pass < 360 && pass % 12 < 6;
        const candidates = [90, 80, 70].map((percent, n) =>
          n < 2 || isOver ? above(percent, labels[n]) : fit(labels[n]),
        );
        const state = { ms: 5 * MINUTE, wasOpen, coolingSince: since, now: NOW + pass * 10_000 };
        const { verdicts, breaker } = applyBreaker(candidates, 2, state);
        const isOpen = breaker.held > 0 || breaker.coolingSince !== undefined;
        changes += isOpen === wasOpen ? 0 : 1;
        [wasOpen, since] = [isOpen, breaker.coolingSince];
        verdicts.forEach(({ side: next }, n) => {
          labelled += next === labels[n] ? 0 : 1;
          labels[n] = next;
        });
      }
      expect([changes, labelled]).toEqual([2, 2]);
    });
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
