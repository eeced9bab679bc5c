import { describe, expect, it } from 'vitest';
import { KEY } from '../../testing/observations.ts';
import type { LabelWrite } from '../../observe/observation.ts';
import { decideContention, passesToWait } from './labelContention.ts';

const OTHER = 'other.traffic.example.com/unfit';
const last = (changes: Partial<LabelWrite> = {}): LabelWrite => ({ value: 'false', rewrites: 0, pass: 10, ...changes });

function decide(write: LabelWrite | undefined, pass: number, wanted?: Record<string, 'true' | 'false'>) {
  const writes = write === undefined ? {} : { writes: { [KEY]: write } };
  const nodes = [{ name: 'n1', labels: { [KEY]: 'true' }, createdAt: 0, ...writes }];
  const changes = new Map(wanted === undefined ? [] : [['n1', wanted]]);
  const { labels, ...rest } = decideContention({ nodes, keys: [KEY], wanted: changes, pass });
  return { ...rest, labels: Object.fromEntries(labels) };
}

describe('passesToWait', () => {
  it('is one pass at first, then doubles up to 30: five minutes at 10 s', () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 1000].map(passesToWait)).toEqual([1, 1, 1, 2, 4, 8, 16, 30, 30, 30]);
  });
});

describe('decideContention', () => {
  const again = { [KEY]: 'false' } as const;

  it('allows a first write, and a rewrite long after the last one', () => {
    expect(decide(undefined, 10, again)).toEqual({ labels: { n1: again }, contended: [], over: [] });
  });

  it('rewrites a label at most once a pass', () => {
    expect(decide(last(), 10, again).labels).toEqual({});
    expect(decide(last(), 11, again)).toEqual({ labels: { n1: again }, contended: [], over: [] });
  });

  it('never holds back a changed verdict', () => {
    const turned = { [KEY]: 'true' } as const;
    expect(decide(last({ rewrites: 8 }), 10, turned).labels).toEqual({ n1: turned });
  });

  it('holds back only the contended key', () => {
    expect(decide(last(), 10, { ...again, [OTHER]: 'true' }).labels).toEqual({ n1: { [OTHER]: 'true' } });
  });

  it('calls it a contention after three rewrites, and waits longer after each', () => {
    expect(decide(last({ rewrites: 2 }), 11, again).contended).toEqual([]);
    const contention = last({ rewrites: 4, rival: 'robot' });
    for (const [pass, due] of [
      [13, false],
      [14, true],
    ] as const) {
      const { contended, labels } = decide(contention, pass, again);
      expect(contended).toEqual([{ node: 'n1', key: KEY, rival: 'robot' }]);
      expect(labels).toEqual(due ? { n1: again } : {});
    }
  });

  it('stays a contention while the wait for the next rewrite is longer than QUIET_PASSES', () => {
    const { contended, over } = decide(last({ rewrites: 7 }), 39, again);
    expect([contended.length, over]).toEqual([1, []]);
  });

  it('ends after the label is unchanged for 12 passes', () => {
    const contention = last({ rewrites: 5 });
    expect(decide(contention, 21)).toMatchObject({ contended: [{ node: 'n1' }], over: [] });
    expect(decide(contention, 22)).toMatchObject({ contended: [], over: [{ node: 'n1', key: KEY }] });
  });

  it('ignores the keys of other TrafficWatches', () => {
    const writes = { [OTHER]: last({ rewrites: 9 }) };
    const nodes = [{ name: 'n1', labels: {}, createdAt: 0, writes }];
    expect(decideContention({ nodes, keys: [KEY], wanted: new Map(), pass: 99 })).toMatchObject({
      contended: [],
      over: [],
    });
  });
});
