import { describe, expect, it } from 'vitest';
import { anObservation, changed, pass } from '../../testing/observations.ts';
import { measuredNodes } from './measuredNodes.ts';

describe('measuredNodes', () => {
  it('has what both passes say of each node, and nothing where one says nothing', () => {
    const o = anObservation({ nodes: { a: {}, b: {} }, passes: [pass(2, { a: 1 }), pass(1, { a: 3, b: 4 })] });
    const found = measuredNodes(o).map(({ node, passes }) => [node.name, ...passes.map((usage) => usage?.percent)]);
    expect(found).toEqual([
      ['a', 1, 3],
      ['b', undefined, 4],
    ]);
    expect(measuredNodes(changed(o, { passes: [] }))[0]).toMatchObject({ passes: [] });
  });

  it('is the same for whoever sees the same, and another as soon as anything differs', () => {
    const o = anObservation();
    const first = measuredNodes(o);
    expect(measuredNodes({ ...o })).toBe(first);
    for (const change of [{ nodes: [...o.nodes] }, { newest: pass(3, {}) }, { passes: [] }]) {
      expect(measuredNodes(changed(o, change))).not.toBe(first);
      measuredNodes(o);
    }
  });
});
