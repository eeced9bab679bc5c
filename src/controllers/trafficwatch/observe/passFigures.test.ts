import { describe, expect, it, vi } from 'vitest';
import { failedPass, pass, usage } from '../testing/observations.ts';
import { createPassFigures } from './passViews.ts';

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
