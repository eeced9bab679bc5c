import { describe, expect, it } from 'vitest';
import { anObservation, pass } from '../../testing/observations.ts';
import { measuredNodes } from './measuredNodes.ts';

describe('measuredNodes', () => {
  it('has what both passes say of each node, and nothing where one says nothing', () => {
    const o = anObservation({ nodes: { a: {}, b: {} }, current: pass(2, { a: 1 }), previous: pass(1, { a: 3, b: 4 }) });
    const found = measuredNodes(o).map(({ node, current, previous }) => [
      node.name,
      current?.percent,
      previous?.percent,
    ]);
    expect(found).toEqual([
      ['a', 1, 3],
      ['b', undefined, 4],
    ]);
    expect(measuredNodes({ ...o, current: undefined })[0]).toMatchObject({
      current: undefined,
      previous: { percent: 3 },
    });
  });

  it('is the same for whoever sees the same, and another as soon as anything differs', () => {
    const o = anObservation();
    const first = measuredNodes(o);
    expect(measuredNodes({ ...o })).toBe(first);
    for (const change of [{ nodes: [...o.nodes] }, { current: pass(3, {}) }, { previous: pass(2, {}) }]) {
      expect(measuredNodes({ ...o, ...change })).not.toBe(first);
      measuredNodes(o);
    }
  });
});
