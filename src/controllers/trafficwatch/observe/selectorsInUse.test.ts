import { describe, expect, it } from 'vitest';
import type { LabelSelector } from '../../../api/labelSelector.ts';
import { trimNode, type CachedNode } from '../../../nodes/cachedNode.ts';
import { aWatch } from '../testing/observations.ts';
import { SelectorsInUse } from './selectorsInUse.ts';

const ZONE_A: LabelSelector = { matchLabels: { zone: 'a' } };

function node(labels: Record<string, string>): CachedNode {
  return trimNode('mine')({ metadata: { name: 'n1', labels } });
}

describe('SelectorsInUse', () => {
  it.each<[why: string, selectors: (LabelSelector | undefined)[], from: object, to: object, expected: boolean]>([
    ['no TrafficWatch has a selector', [undefined], { zone: 'a' }, { zone: 'b' }, false],
    ['the node leaves the selection', [ZONE_A], { zone: 'a' }, { zone: 'b' }, true],
    ['the node enters the selection', [ZONE_A], {}, { zone: 'a' }, true],
    ['the node is outside before and after', [ZONE_A], { zone: 'b' }, { zone: 'c' }, false],
    ['no selector asks for the label', [ZONE_A], { zone: 'a', pool: 'x' }, { zone: 'a', pool: 'y' }, false],
    ['the labels are the same', [ZONE_A], { zone: 'a' }, { zone: 'a' }, false],
    [
      'one of several selectors asks for the hostname',
      [ZONE_A, { matchLabels: { 'kubernetes.io/hostname': 'h1' } }],
      { 'kubernetes.io/hostname': 'h1' },
      { 'kubernetes.io/hostname': 'h2' },
      true,
    ],
  ])('%s', (_why, selectors, from, to, expected) => {
    const inUse = new SelectorsInUse(() => selectors.map((nodeSelector) => aWatch({ nodeSelector })));
    expect(inUse.differ(node({ ...from }), node({ ...to }))).toBe(expected);
  });

  it('reads the TrafficWatches again when they have changed', () => {
    let watches = [aWatch({ nodeSelector: ZONE_A })];
    const inUse = new SelectorsInUse(() => watches);
    const differ = (): boolean => inUse.differ(node({ zone: 'a' }), node({ zone: 'b' }));
    expect(differ()).toBe(true);
    watches = [];
    inUse.changed();
    expect(differ()).toBe(false);
  });
});
