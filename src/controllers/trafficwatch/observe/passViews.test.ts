import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
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
});
