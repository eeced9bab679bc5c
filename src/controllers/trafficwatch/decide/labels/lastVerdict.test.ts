import { describe, expect, it } from 'vitest';
import type { NodeStatus } from '../../../../api/trafficwatch/statusSchema.ts';
import type { NodeView } from '../../observe/observation.ts';
import {
  anObservation,
  aWatch,
  changed,
  KEY,
  LABELLING,
  NOW,
  pass,
  aClaim,
  type LaterChanges,
  type WatchChanges,
} from '../../testing/observations.ts';
import { decidePlan } from '../decidePlan.ts';
import { createLabelHold, isWrittenOver } from './lastVerdict.ts';
import { statusOf } from '../../testing/settled.ts';

const MINUTE = 60_000;
const watch = aWatch({ ...LABELLING, minHold: '5m' });
const labelled: NodeView = {
  name: 'n1',
  labels: { [KEY]: 'false' },
  createdAt: 0,
  ownedKeys: [KEY],
  writtenAt: NOW - MINUTE,
};
const o = anObservation({ watch });

/** Minutes from now until the label may change; undefined if it may change now. */
function heldFor(node: Partial<NodeView>, changes: LaterChanges = {}): number | undefined {
  const until = createLabelHold(changed(o, changes))?.({ ...labelled, ...node });
  return until === undefined ? undefined : Math.floor((until - NOW) / MINUTE);
}

describe('createLabelHold', () => {
  it('is nothing without minHold', () => {
    expect(createLabelHold(anObservation())).toBeUndefined();
  });

  it('holds a label that was written a minute ago for four more', () => {
    expect(heldFor({})).toBe(4);
    expect(heldFor({ writtenAt: NOW - 6 * MINUTE })).toBeUndefined();
  });

  it('holds for the whole time, though the time of the label is rounded down to a second', () => {
    expect(heldFor({ writtenAt: NOW - 5 * MINUTE })).toBe(0);
    expect(heldFor({ writtenAt: NOW - 5 * MINUTE - 1000 })).toBeUndefined();
  });

  it('uses the time of the label itself where a label of another TrafficWatch changed later', () => {
    const labelTimes = new Map([['n1', { [KEY]: NOW - 10 * MINUTE }]]);
    expect(heldFor({}, { labelTimes })).toBeUndefined();
  });

  it('does not hold a label that another client wrote over, nor one of unknown time', () => {
    expect(heldFor({ ownedKeys: [] })).toBeUndefined();
    expect(heldFor({ writtenAt: undefined })).toBeUndefined();
  });

  it('does not hold the first verdict', () => {
    expect(heldFor({ labels: {}, ownedKeys: [], writtenAt: undefined })).toBeUndefined();
  });

  const minutesAgo = (minutes: number): string => new Date(NOW - minutes * MINUTE).toISOString();
  const observing = (n1: Partial<NodeStatus>) => {
    const node = { currentBandwidthPercent: '', unfit: false, verdict: 'Fit', reason: '', ...n1 } as const;
    return aWatch({ minHold: '5m', mode: 'Observe', status: { mode: 'Observe', nodes: { n1: node } } });
  };

  it('uses the status with mode Observe', () => {
    const unlabelled = { labels: {}, ownedKeys: [] };
    const since = minutesAgo(2);
    expect(heldFor(unlabelled, { watch: observing({ since }) })).toBe(3);
    expect(heldFor(unlabelled, { watch: observing({ since, labelSince: minutesAgo(4) }) })).toBe(1);
  });

  it('does not hold longer with mode Observe because the node was Unknown meanwhile', () => {
    const watch = observing({ verdict: 'Unknown', since: minutesAgo(1), labelSince: minutesAgo(6) });
    expect(heldFor({ labels: {}, ownedKeys: [] }, { watch })).toBeUndefined();
  });

  it('does not use the label of another TrafficWatch with mode Observe', () => {
    const watch = observing({ since: minutesAgo(6), labelSince: minutesAgo(6) });
    expect(heldFor({ writtenAt: NOW }, { watch })).toBeUndefined();
    expect(isWrittenOver(changed(o, { watch }), { ...labelled, ownedKeys: [] })).toBe(false);
  });

  it.each<[why: string, changes: WatchChanges]>([
    ['was stalled while an older one had the key', { status: { mode: 'Enforce' } }],
    ['observed until now', { metadata: LABELLING.metadata, status: { mode: 'Observe', labelKey: KEY } }],
    ['has no finalizer', { status: LABELLING.status }],
    ['has reported no key', { metadata: LABELLING.metadata, status: { mode: 'Enforce' } }],
  ])('does not use the label of another TrafficWatch with mode Enforce if this one %s', (_why, changes) => {
    const inheriting = aWatch({ minHold: '24h', ...changes });
    expect(heldFor({}, { watch: inheriting })).toBeUndefined();
  });

  it('uses the label under the previous key in a rename: the new one may be of another TrafficWatch', () => {
    const renamed = aWatch({ ...LABELLING, minHold: '5m', label: 'api' });
    const [before, after] = [KEY, 'api.shop.traffic.example.com/unfit'];
    const labelTimes = new Map([['n1', { [before]: NOW - 2 * MINUTE, [after]: NOW }]]);
    const both = { [before]: 'true', [after]: 'false' };
    const ownedKeys = [before, after];
    const o = { watch: renamed, labelTimes };
    expect(heldFor({ labels: both, ownedKeys }, o)).toBe(3);
    expect(heldFor({ labels: { [after]: 'false' }, ownedKeys }, o)).toBe(5);
  });

  it('uses our label until it is removed, after a change from Enforce to Observe', () => {
    const watch = aWatch({ ...LABELLING, minHold: '5m', mode: 'Observe' });
    expect(heldFor({}, { watch })).toBe(4);
  });
});

describe('minHold in a plan', () => {
  const above = [pass(2, { n1: 50 }), pass(1, { n1: 50 })];
  const planOf = (node: Partial<NodeView>) =>
    decidePlan(changed(o, { nodes: [{ ...labelled, ...node }], passes: above }));

  it('keeps the verdict and the label, and says until when; the text is the same in each pass', () => {
    const { labels, verdicts } = planOf({});
    expect(labels.size).toBe(0);
    expect(verdicts).toEqual([
      {
        verdict: 'Fit',
        reason: 'HeldByMinHold',
        message: 'the label changed less than minHold ago; it may change at 2026-01-01T00:14:01.000Z',
        side: 'notAbove',
      },
    ]);
  });

  it('changes the label afterwards', () => {
    const { labels } = planOf({ writtenAt: NOW - 6 * MINUTE });
    expect(Object.fromEntries(labels)).toEqual({ n1: { [KEY]: 'true' } });
  });

  it('corrects at once what another client wrote', () => {
    expect(Object.fromEntries(planOf({ ownedKeys: [] }).labels)).toEqual({ n1: { [KEY]: 'true' } });
  });
});

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
