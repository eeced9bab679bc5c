import { describe, expect, it } from 'vitest';
import type { LabelSelector } from '../../../nodes/labelSelector.ts';
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

  it('has one view for each selector, which those with an equal selector share', () => {
    const views = new PassViews();
    const onA = (): LabelSelector => ({ matchLabels: { 'kubernetes.io/hostname': 'a' } });
    const nodes = NODES.map((node) => ({ ...node, hostname: node.name }));
    const [all, one, other] = [undefined, onA(), onA()].map((selector) => views.viewOf(nodes, PASSES, selector));
    expect(other).toBe(one);
    expect([all?.nodes.length, one?.nodes.length, one?.outside.length]).toEqual([2, 1, 1]);
    // Reading the figures of one selector does not drop those of another.
    const { measured } = all!.figures;
    expect(one?.figures.measured).toHaveLength(1);
    expect(views.viewOf(nodes, PASSES).figures.measured).toBe(measured);
  });

  it('keeps the views and figures of a few selectors only', () => {
    const views = new PassViews();
    const of = (n: number): LabelSelector => ({ matchLabels: { pool: String(n) } });
    const first = views.viewOf(NODES, PASSES, of(0));
    const { measured } = first.figures;
    for (let n = 1; n <= 16; n += 1) expect(views.viewOf(NODES, PASSES, of(n)).figures.measured).toEqual([]);
    expect(views.viewOf(NODES, PASSES, of(0))).not.toBe(first);
    expect(first.figures.measured).not.toBe(measured);
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
