import { describe, expect, it, vi } from 'vitest';
import type { LabelSelector } from '../../../api/labelSelector.ts';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { readingKey, type Direction } from '../../../usage/evaluate/reading.ts';
import { pass, failedPass, usage } from '../testing/observations.ts';
import type { NodeView } from './observation.ts';
import { PassViews, createPassFigures } from './passViews.ts';

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

const nodesOf = (...names: string[]) => names.map((name) => ({ name, labels: {}, createdAt: 0 }));

describe('createPassFigures', () => {
  it('has what each pass says of each node, and nothing where one says nothing', () => {
    const passes = [pass(2, { a: 1 }), pass(1, { a: 3, b: 4 })];
    const figures = createPassFigures({ nodes: nodesOf('a', 'b'), passes });
    const found = figures.measured.map(({ node, place, passes: of }) => [
      node.name,
      place,
      ...of.map((u) => u?.percent),
    ]);
    expect(found).toEqual([
      ['a', 0, 1, 3],
      ['b', 1, undefined, 4],
    ]);
    expect([figures.places.get('b'), figures.places.get('c')]).toEqual([1, undefined]);
    expect(figures.unmeasured.map(({ name }) => name)).toEqual(['b']);
  });

  it('has nodes without usage before the first pass', () => {
    const figures = createPassFigures({ nodes: nodesOf('a'), passes: [] });
    expect(figures.measured).toMatchObject([{ node: { name: 'a' }, passes: [] }]);
    expect([figures.passesWithData, figures.unmeasured.length]).toEqual([0, 1]);
  });

  it('counts the passes with data from the newest back, up to the first without', () => {
    const [some, none, failed] = [pass(1, { a: 1, gone: undefined }), pass(1, { a: undefined }), failedPass(1)];
    const counted = (...passes: (typeof some)[]) => createPassFigures({ nodes: nodesOf('a'), passes }).passesWithData;
    expect([counted(some, some), counted(some, none, some), counted(failed, some)]).toEqual([2, 1, 0]);
  });

  it('names the nodes whose capacity fell and those without drivers, sorted', () => {
    const drop = { fromBytesPerSecond: 2.5e9, devices: ['bond0'] };
    const fell = { capacityBytesPerSecond: 1.25e9, drop };
    const nodes = new Map([
      ['b', usage('b', 1, { ...fell, lacksDrivers: true })],
      ['a', usage('a', 1, { ...fell, lacksDrivers: true })],
    ]);
    const figures = createPassFigures({ nodes: nodesOf('b', 'a', 'c'), passes: [pass(1, {}, { nodes })] });
    expect(figures.withoutDrivers).toEqual(['a', 'b']);
    const text = 'capacity fell from 20Gbit to 10Gbit (bond0)';
    expect(figures.capacityDrops).toEqual([`a: ${text}`, `b: ${text}`]);
  });

  it('counts the nodes by the source of their capacity, without nodes that have none', () => {
    const sources = { a: 'Spec', b: 'Spec', c: 'ActiveSlaves', d: undefined } as const;
    const nodes = new Map(
      Object.entries(sources).map(([name, capacitySource]) => [name, usage(name, 1, { capacitySource })]),
    );
    const figures = createPassFigures({ nodes: nodesOf('a', 'b', 'c', 'd', 'e'), passes: [pass(1, {}, { nodes })] });
    expect([...figures.capacitySources]).toEqual([
      ['Spec', 2],
      ['ActiveSlaves', 1],
    ]);
    expect(createPassFigures({ nodes: nodesOf('a'), passes: [failedPass(1)] }).capacitySources.size).toBe(0);
  });

  it('looks each node up once in each pass, however often it is read', () => {
    const newest = pass(1, { a: 1 });
    const get = vi.spyOn(newest.nodes, 'get');
    const figures = createPassFigures({ nodes: nodesOf('a'), passes: [newest] });
    expect(get).not.toHaveBeenCalled();
    for (let n = 0; n < 3; n += 1) expect([figures.measured.length, figures.hottest.length]).toEqual([1, 1]);
    expect(get).toHaveBeenCalledTimes(1);
  });
});
