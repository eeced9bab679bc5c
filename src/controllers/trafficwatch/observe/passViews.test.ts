import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { readingKey } from '../../../usage/evaluate/reading.ts';
import { pass } from '../testing/observations.ts';
import type { NodeView } from './observation.ts';
import { PassViews } from './passViews.ts';

const NODES: readonly NodeView[] = ['a', 'b'].map((name) => ({ name, labels: {}, createdAt: 0 }));
const PASSES: readonly Snapshot[] = [pass(2, { a: 1, b: 2 }), pass(1, { a: 1, b: 2 })];

describe('PassViews', () => {
  it('has one view, and one set of figures, for all that come with the same nodes and passes', () => {
    const views = new PassViews();
    const [one, other] = [views.viewOf(NODES, PASSES), views.viewOf(NODES, PASSES)];
    expect(other).toBe(one);
    expect(other.figures.measured).toBe(one.figures.measured);
    expect(other.figures.unmeasured).toBe(one.figures.unmeasured);
  });

  it('has another view as soon as the nodes or the passes are other objects, equal or not', () => {
    const views = new PassViews();
    const view = views.viewOf(NODES, PASSES);
    expect(views.viewOf([...NODES], PASSES)).not.toBe(view);
    expect(views.viewOf(NODES, [...PASSES])).not.toBe(view);
  });

  it('keeps the figures of one view only, and computes those of an older one again, with the same result', () => {
    const views = new PassViews();
    const older = views.viewOf(NODES, PASSES);
    const { measured } = older.figures;
    expect(views.viewOf(NODES, [pass(3, { a: 9 })]).figures.measured[0]?.passes[0]?.percent).toBe(9);
    expect(older.figures.measured).not.toBe(measured);
    expect(older.figures.measured).toEqual(measured);
  });

  const RECEIVE = { direction: 'Receive' } as const;
  const received = (n: number, percent: number): Snapshot => {
    const { nodes } = pass(n, { a: percent });
    return pass(n, { a: 1, b: 2 }, { readings: new Map([[readingKey(RECEIVE), { nodes, warnings: [] }]]) });
  };

  it('has a view of each reading, whose figures stay when readings take turns', () => {
    const views = new PassViews();
    const passes = [received(2, 70), received(1, 80)];
    const [sent, got] = [views.viewOf(NODES, passes), views.viewOf(NODES, passes, RECEIVE)];
    const figures = [sent.figures.measured, got.figures.measured];
    expect(views.viewOf(NODES, passes)).toBe(sent);
    expect(views.viewOf(NODES, passes, { ...RECEIVE })).toBe(got);
    expect(figures.map(([a]) => a?.passes.map((usage) => usage?.percent))).toEqual([
      [1, 1],
      [70, 80],
    ]);
    expect([sent.figures.measured[0] === figures[0]?.[0], got.figures.measured[0] === figures[1]?.[0]]).toEqual([
      true,
      true,
    ]);
  });

  it('converts a pass that stays for a reading once', () => {
    const views = new PassViews();
    const older = received(1, 80);
    const before = views.viewOf(NODES, [older], RECEIVE);
    const after = views.viewOf(NODES, [received(2, 70), older], RECEIVE);
    expect(after.passes[1]).toBe(before.passes[0]);
  });

  it('drops the figures of a reading that nobody asks for any more', () => {
    const views = new PassViews();
    const old = views.viewOf(NODES, [received(1, 80)], RECEIVE);
    const { measured } = old.figures;
    views.viewOf(NODES, [received(2, 70)]);
    expect(old.figures.measured).toBe(measured);
    views.viewOf(NODES, [received(3, 70)]);
    expect(old.figures.measured).not.toBe(measured);
  });
});
