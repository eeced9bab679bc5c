import { beforeEach, describe, expect, it } from 'vitest';
import type { CachedNode } from '../../../nodes/cachedNode.ts';
import { aNode } from '../testing/scene.ts';
import { LabelTimes } from './labelHistory.ts';

const [WEB, API, BATCH] = ['web', 'api', 'batch'].map((name) => `${name}.traffic.example.com/unfit`) as [
  string,
  string,
  string,
];

const node = (writtenAt: number, labels: Record<string, string>): CachedNode => ({
  ...aNode('n1', labels, Object.keys(labels)),
  writtenAt,
});

let times: LabelTimes;
let isNeeded: boolean;
beforeEach(() => {
  isNeeded = true;
  times = new LabelTimes(() => isNeeded);
});

function follow(...states: CachedNode[]): Record<string, number> | undefined {
  states.forEach((object, n) => times.saw({ type: n === 0 ? 'add' : 'update', object, old: states[n - 1] }));
  return times.times.get('n1');
}

describe('LabelTimes', () => {
  it('knows nothing beyond writtenAt while no label changes', () => {
    expect(follow(node(1000, { [WEB]: 'false', [API]: 'false' }))).toBeUndefined();
  });

  it('keeps the time of a label while another label changes again and again', () => {
    const [one, other] = ['false', 'true'].map((value) => ({ [WEB]: 'false', [API]: value }));
    expect(follow(node(1000, one!), node(2000, other!), node(3000, one!))).toEqual({ [WEB]: 1000 });
  });

  it('takes the new time when the label itself changes', () => {
    const states = [
      node(1000, { [WEB]: 'false', [API]: 'false' }),
      node(2000, { [WEB]: 'false', [API]: 'true' }),
      node(3000, { [WEB]: 'true', [API]: 'true' }),
    ];
    expect(follow(...states)).toEqual({ [API]: 2000 });
  });

  it('takes the new time also if another label changed in the same second', () => {
    const states = [
      node(1000, { [WEB]: 'false', [API]: 'false', [BATCH]: 'false' }),
      node(2000, { [WEB]: 'true', [API]: 'false', [BATCH]: 'false' }),
      node(2000, { [WEB]: 'true', [API]: 'true', [BATCH]: 'false' }),
    ];
    expect(follow(...states)).toEqual({ [BATCH]: 1000 });
    expect(follow(...states.slice(1), node(2000, { [WEB]: 'true', [API]: 'true', [BATCH]: 'true' }))).toBeUndefined();
  });

  it('changes no map that was read', () => {
    const states = [node(1000, { [WEB]: 'false', [API]: 'false' }), node(2000, { [WEB]: 'false', [API]: 'true' })];
    follow(...states);
    const before = times.times;
    times.saw({ type: 'delete', object: states[1]! });
    expect([before.size, times.times.size]).toEqual([1, 0]);
  });

  it('keeps nothing while no TrafficWatch has minHold', () => {
    isNeeded = false;
    expect(follow(node(1000, { [WEB]: 'false', [API]: 'false' }), node(2000, { [WEB]: 'true', [API]: 'false' }))).toBe(
      undefined,
    );
  });
});
