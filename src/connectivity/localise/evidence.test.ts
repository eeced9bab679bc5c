import { expect, it } from 'vitest';
import type { Evidence } from '../../api/connectivitycheck/finding.ts';
import { joined } from './evidence.ts';

const pair = (from: string, to: string, plane: 'Pod' | 'Host') => ({ from, to, plane, measured: 'TCP timeout' });
const evidence = (pairs: Evidence['pairs'], affectedPairs: number): Evidence => ({
  affectedPairs,
  observedPairs: 4,
  pairs,
});

it('adds the pairs of two planes', () => {
  const both = joined(evidence([pair('a', 'b', 'Pod')], 4), evidence([pair('a', 'b', 'Host')], 2));
  expect(both).toEqual({
    ...{ affectedPairs: 6, observedPairs: 8 },
    pairs: [pair('a', 'b', 'Pod'), pair('a', 'b', 'Host')],
  });
});

it('counts no pair of one plane twice', () => {
  const [ab, ba] = [pair('a', 'b', 'Host'), pair('b', 'a', 'Host')];
  expect(joined(evidence([ab], 2), evidence([ab, ba], 4))).toEqual({
    ...{ affectedPairs: 4, observedPairs: 4 },
    pairs: [ab, ba],
  });
});
