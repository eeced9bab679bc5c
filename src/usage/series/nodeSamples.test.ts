import { describe, expect, it } from 'vitest';
import { differingLabels } from './nodeSamples.ts';

describe('differingLabels', () => {
  it.each([
    ['none: equal labels', { node: 'a' }, { node: 'a' }, []],
    ['the label with two values', { node: 'a', replica: 'a' }, { node: 'a', replica: 'b' }, ['replica']],
    ['a label that only the second has', { node: 'a' }, { node: 'a', replica: 'b' }, ['replica']],
    ['a label that only the first has', { node: 'a', replica: 'a' }, { node: 'a' }, ['replica']],
    ['each of several', { x: '1', y: '1', z: '1' }, { x: '2', y: '1', z: '2' }, ['x', 'z']],
    ['not the metric name', { __name__: 'a' }, {}, []],
  ])('names %s', (_what, one, other, names) => expect(differingLabels(one, other)).toEqual(names));
});
