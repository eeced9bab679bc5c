import { describe, expect, it } from 'vitest';
import type { NodeView } from '../../observe/observation.ts';
import {
  aClaim,
  anObservation,
  aWatch,
  changed,
  KEY,
  LABELLING,
  NOW,
  pass,
  type WatchChanges,
} from '../../testing/observations.ts';
import { statusOf } from '../../testing/settled.ts';
import { decidePlan } from '../decidePlan.ts';

/** Labels under the key that another TrafficWatch has written a minute ago: n1 above its threshold, n2 below, n3 without data. */
const VALUES = { n1: 'true', n2: 'false', n3: 'true' };
const nodes = Object.entries(VALUES).map(([name, value]): NodeView => ({
  name,
  labels: { [KEY]: value },
  createdAt: 0,
  ownedKeys: [KEY],
  writtenAt: NOW - 60_000,
}));
const below = { n1: 1, n2: 1, n3: undefined };
const passes = [pass(2, below), pass(1, below)];
const inheriting = (changes: WatchChanges = {}) =>
  changed(anObservation({ watch: aWatch({ minHold: '24h', ...changes }) }), { nodes, passes });

const OBSERVED = { currentBandwidthPercent: '', unfit: false, verdict: 'Fit', reason: 'BelowThreshold' } as const;

/** The status that it has while an older TrafficWatch has its key. */
const TAKEN = statusOf(anObservation({ watch: aWatch(LABELLING), claims: new Map([[KEY, [aClaim()]]]) }));

describe('labels under the key that another TrafficWatch has left', () => {
  it.each<[why: string, changes: WatchChanges]>([
    ['a new one', {}],
    ['one that observed', { status: { mode: 'Observe', nodes: { n1: OBSERVED, n2: OBSERVED } } }],
    ['one that was stalled while the older one had the key', { status: { mode: 'Enforce' } }],
    ['one that labelled nodes before the older one took the key', { ...LABELLING, status: TAKEN }],
  ])('are no verdicts of %s: it decides by figures, and minHold of the other holds nothing', (_why, changes) => {
    const o = inheriting(changes);
    const { nodes: shown = {} } = statusOf(o);
    expect(Object.fromEntries(Object.entries(shown).map(([name, { verdict }]) => [name, verdict]))).toEqual({
      n1: 'Fit',
      n2: 'Fit',
      n3: 'Unknown',
    });
    expect(Object.fromEntries(decidePlan(o).labels)).toEqual({ n1: { [KEY]: 'false' }, n3: { [KEY]: null } });
  });

  it('are verdicts of the TrafficWatch that wrote them: it holds them', () => {
    const o = inheriting(LABELLING);
    expect(statusOf(o).nodes?.n1).toMatchObject({ verdict: 'Unfit', reason: 'HeldByMinHold' });
    expect(decidePlan(o).labels.size).toBe(0);
  });

  it('stay until passes decide: the operator may have restarted before it reported its own', () => {
    const o = changed(inheriting({ metadata: LABELLING.metadata }), { passes: [pass(1, below)] });
    expect(decidePlan(o).labels.size).toBe(0);
  });

  it('stay where no verdict is known if a person wrote them', () => {
    const byPerson = nodes.map((node) => ({ ...node, ownedKeys: [] }));
    expect(decidePlan(changed(inheriting(), { nodes: byPerson })).labels.has('n3')).toBe(false);
  });
});
