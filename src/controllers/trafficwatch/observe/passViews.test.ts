import { describe, expect, it } from 'vitest';
import type { LabelSelector } from '../../../api/labelSelector.ts';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { readingKey, type Direction } from '../../../usage/evaluate/reading.ts';
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
    const [all, one, other] = [undefined, onA(), onA()].map((selector) => views.viewOf(nodes, PASSES, { selector }));
    expect(other).toBe(one);
    expect([all?.nodes.length, one?.nodes.length, one?.outside.length]).toEqual([2, 1, 1]);
    // Reading the figures of one selector does not drop the figures of another.
    const { measured } = all!.figures;
    expect(one?.figures.measured).toHaveLength(1);
    expect(views.viewOf(nodes, PASSES).figures.measured).toBe(measured);
  });

  it('keeps the views and figures of a few selectors only', () => {
    const views = new PassViews();
    const of = (n: number): LabelSelector => ({ matchLabels: { pool: String(n) } });
    const first = views.viewOf(NODES, PASSES, { selector: of(0) });
    const { measured } = first.figures;
    for (let n = 1; n <= 16; n += 1)
      expect(views.viewOf(NODES, PASSES, { selector: of(n) }).figures.measured).toEqual([]);
    expect(views.viewOf(NODES, PASSES, { selector: of(0) })).not.toBe(first);
    expect(first.figures.measured).not.toBe(measured);
  });

  it('has another view as soon as the nodes or the passes are other objects, equal or not', () => {
    const views = new PassViews();
    const view = views.viewOf(NODES, PASSES);
    expect(views.viewOf([...NODES], PASSES)).not.toBe(view);
    expect(views.viewOf(NODES, [...PASSES])).not.toBe(view);
  });

  it('keeps the figures of one view only, and computes an older view again, with the same result', () => {
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
    const [sent, got] = [views.viewOf(NODES, passes), views.viewOf(NODES, passes, { reading: RECEIVE })];
    const figures = [sent.figures.measured, got.figures.measured];
    expect(views.viewOf(NODES, passes)).toBe(sent);
    expect(views.viewOf(NODES, passes, { reading: { ...RECEIVE } })).toBe(got);
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
    const before = views.viewOf(NODES, [older], { reading: RECEIVE });
    const after = views.viewOf(NODES, [received(2, 70), older], { reading: RECEIVE });
    expect(after.passes[1]).toBe(before.passes[0]);
  });

  it('shows of a reading no older passes than have its figures, and two in any case', () => {
    const views = new PassViews();
    const [newest, second, ...older] = [4, 3, 2, 1].map((n) => received(n, 80)) as [Snapshot, Snapshot, Snapshot];
    const without = older.map((each) => ({ ...each, readings: new Map() }));
    const lengthOf = (...passes: Snapshot[]): number => views.viewOf(NODES, passes, { reading: RECEIVE }).passes.length;
    expect(lengthOf(newest, second, ...older)).toBe(4);
    expect(lengthOf(newest, second, ...without)).toBe(2);
    expect(lengthOf(newest, ...without)).toBe(2);
    expect(views.viewOf(NODES, [newest, second, ...without]).passes).toHaveLength(4);
  });

  it('shows the same pass for all readings that it lacks: its nodes may be many', () => {
    const views = new PassViews();
    const passOf = (passes: Snapshot[], direction: Direction): Snapshot | undefined =>
      views.viewOf(NODES, passes, { reading: { direction } }).passes[0];
    const lacking = [pass(1, { a: 1 })];
    expect(passOf(lacking, 'Max')).toBe(passOf(lacking, 'Sum'));
    const hadNoTime = { nodes: new Map(), warnings: [], hadNoTime: true } as const;
    const late = [pass(2, { a: 1 }, { readings: new Map([[readingKey({ direction: 'Max' }), hadNoTime]]) })];
    expect([passOf(late, 'Max')?.unread, passOf(late, 'Sum')?.unread]).toEqual(['NoTime', 'NotAsked']);
  });

  it('drops the figures of a reading that nobody asks for', () => {
    const views = new PassViews();
    const old = views.viewOf(NODES, [received(1, 80)], { reading: RECEIVE });
    const { measured } = old.figures;
    views.viewOf(NODES, [received(2, 70)]);
    expect(old.figures.measured).toBe(measured);
    views.viewOf(NODES, [received(3, 70)]);
    expect(old.figures.measured).not.toBe(measured);
  });

  it('has one view for each reading and selector', () => {
    const views = new PassViews();
    const passes = [received(1, 80)];
    const nodes = NODES.map((node) => ({ ...node, hostname: node.name }));
    const selector: LabelSelector = { matchLabels: { 'kubernetes.io/hostname': 'a' } };
    const looks = [{}, { reading: RECEIVE }, { selector }, { reading: RECEIVE, selector }];
    const all = looks.map((look) => views.viewOf(nodes, passes, look));
    expect(new Set(all).size).toBe(4);
    expect(looks.map((look) => views.viewOf(nodes, passes, { ...look }))).toEqual(all);
    const figures = all.map((view) => view.figures.measured);
    expect(figures.map((measured) => measured.map((each) => each.passes[0]?.percent))).toEqual([
      [1, 2],
      [80, undefined],
      [1],
      [80],
    ]);
    // Taking turns drops none of them.
    all.forEach((view, n) => expect(view.figures.measured).toBe(figures[n]));
  });

  it('keeps the views and figures of all nodes however many selectors there are', () => {
    const views = new PassViews();
    const passes = [received(1, 80)];
    const all = [{}, { reading: RECEIVE }].map((look) => views.viewOf(NODES, passes, look));
    const figures = all.map((view) => view.figures.measured);
    for (let n = 0; n < 40; n += 1) {
      const selector: LabelSelector = { matchLabels: { pool: String(n) } };
      expect(views.viewOf(NODES, passes, { reading: RECEIVE, selector }).figures.measured).toEqual([]);
    }
    expect([{}, { reading: RECEIVE }].map((look) => views.viewOf(NODES, passes, look))).toEqual(all);
    all.forEach((view, n) => expect(view.figures.measured).toBe(figures[n]));
  });

  it('keeps the views of a few selectors only, whatever their readings', () => {
    const views = new PassViews();
    const passes = [received(1, 80)];
    const of = (n: number): LabelSelector => ({ matchLabels: { pool: String(n) } });
    const first = views.viewOf(NODES, passes, { selector: of(0) });
    for (let n = 0; n < 8; n += 1) {
      views.viewOf(NODES, passes, { selector: of(n) });
      views.viewOf(NODES, passes, { reading: RECEIVE, selector: of(n) });
    }
    expect(views.viewOf(NODES, passes, { selector: of(0) })).toBe(first);
    views.viewOf(NODES, passes, { selector: of(8) });
    expect(views.viewOf(NODES, passes, { selector: of(0) })).not.toBe(first);
  });
});
