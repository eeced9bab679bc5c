import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LabelSelector } from '../../../../api/labelSelector.ts';
import type { TrafficWatch, TrafficWatchStatus } from '../../../../api/trafficwatch/schema.ts';
import { aForeignWatch, KEY, type WatchChanges } from '../../testing/observations.ts';
import { decidePodPlacement, MOST_OF_LABEL, MOST_PLACEMENT_BYTES, placementEntryOf } from './podPlacement.ts';

const WEB = { matchLabels: { app: 'web' } };

/** The TrafficWatch `name`, which is as many minutes old as its number says. */
function watchOf(name: string, podSelector: LabelSelector, changes: WatchChanges = {}): TrafficWatch {
  const status = { labelKey: KEY, podSelector, ...changes.status } as TrafficWatchStatus;
  const creationTimestamp = new Date(2026, 0, 1, 0, Number(/\d+/.exec(name)?.[0] ?? 0)).toISOString();
  const metadata = { name, creationTimestamp, ...changes.metadata } as object;
  return aForeignWatch({ podSelector }, { ...changes, status, metadata });
}

describe('the entry of a TrafficWatch', () => {
  it.each<[string, WatchChanges, object | undefined]>([
    ['with the placement of the spec', { placement: 'Required' }, { labelKey: KEY, placement: 'Required' }],
    ['with Preferred by default', {}, { podSelector: WEB, placement: 'Preferred' }],
    [
      'with names of nodes',
      { placement: 'AtCreation', status: { avoidedNodes: ['n1'] } },
      { placement: 'AtCreation', avoidedNodes: ['n1'] },
    ],
    [
      'without names of nodes that an earlier placement left',
      { placement: 'Required', status: { avoidedNodes: ['n1'] } },
      { placement: 'Required', avoidedNodes: undefined },
    ],
    [
      'as Preferred, with a placement of another version',
      { placement: 'Never' as 'Required' },
      { placement: 'Preferred' },
    ],
    ['not with mode Observe', { mode: 'Observe' }, undefined],
    ['not while it is being deleted', { metadata: { deletionTimestamp: new Date(0) } }, undefined],
    ['not without a label key', { status: { labelKey: undefined } }, undefined],
    ['not with a key that is no label key', { status: { labelKey: 'not a key' } }, undefined],
    ['not without a selector', { status: { podSelector: undefined } }, undefined],
    [
      'not with a selector that cannot be read',
      { status: { podSelector: { matchLabels: { app: 5 } } as object } },
      undefined,
    ],
  ])('is there %s', (_what, changes, expected) => {
    const entry = placementEntryOf(watchOf('web', WEB, changes));
    if (expected === undefined) expect(entry).toBeUndefined();
    else expect({ avoidedNodes: undefined, ...entry }).toMatchObject({ trafficWatch: 'web', ...expected });
  });
});

describe('the PodPlacement of a namespace', () => {
  it('does not exist if no TrafficWatch places pods', () => {
    expect(decidePodPlacement([]).spec).toBeUndefined();
    expect(decidePodPlacement([watchOf('web', WEB, { mode: 'Observe' })]).spec).toBeUndefined();
  });

  const inList = { key: 'app', operator: 'In' as const, values: ['web', 'db', 'db'] };
  const notIn = { key: 'app', operator: 'NotIn' as const, values: ['db'] };
  const web = { app: 'web' };
  it.each<[string, LabelSelector[], object]>([
    ['by its label', [WEB], { byLabel: { 'app=web': [0] } }],
    ['by each value of a list, once', [{ matchExpressions: [inList] }], { byLabel: { 'app=web': [0], 'app=db': [0] } }],
    ['by no label, with other operators', [{ matchExpressions: [notIn] }, {}], { others: [0, 1] }],
    ['by no label, with an empty list: it selects nothing', [{ matchExpressions: [{ ...inList, values: [] }] }], {}],
    [
      'by the label that finds the fewest older ones',
      [WEB, { matchLabels: { ...web, tier: 'a' } }, { matchLabels: { ...web, tier: 'b' } }],
      { byLabel: { 'app=web': [0], 'tier=a': [1], 'tier=b': [2] } },
    ],
    ['with others of the same label', [WEB, WEB], { byLabel: { 'app=web': [0, 1] } }],
  ])('finds an entry %s', (_what, selectors, index) => {
    const { spec } = decidePodPlacement(selectors.map((selector, n) => watchOf(`w${n}`, selector)));
    const { entries, ...found } = spec!;
    expect(found).toEqual(index);
    expect(entries?.map(({ trafficWatch }) => trafficWatch)).toEqual(selectors.map((_, n) => `w${n}`));
  });

  it('is the same for any order of the TrafficWatches', () => {
    const watches = Array.from({ length: 5 }, (_, n) => watchOf(`w${n}`, WEB));
    expect(decidePodPlacement(watches.toReversed())).toEqual(decidePodPlacement(watches));
  });

  const exists = { key: 'app', operator: 'Exists' as const };
  it.each<[string, LabelSelector]>([
    ['one label', WEB],
    ['one value of a list', { matchExpressions: [inList] }],
    ['no label', { matchExpressions: [exists] }],
  ])('has so many of %s at most, and leaves out the others, but none with a label of its own', (_what, selector) => {
    const own: LabelSelector = { ...selector, matchLabels: { ...selector.matchLabels, tier: 'a' } };
    const selectors = [...Array.from({ length: MOST_OF_LABEL + 2 }, () => selector), own];
    const { spec, omitted } = decidePodPlacement(selectors.map((one, n) => watchOf(`w${n}`, one)));
    expect([...omitted]).toEqual([`w${MOST_OF_LABEL}`, `w${MOST_OF_LABEL + 1}`]);
    expect(spec?.byLabel?.['tier=a']).toEqual([MOST_OF_LABEL]);
    const { others = [], byLabel = {} } = spec!;
    expect(Math.max(others.length, ...Object.values(byLabel).map(({ length }) => length))).toBe(MOST_OF_LABEL);
  });

  it('leaves out no TrafficWatch because of a newer one', () => {
    const values = fc.subarray(['a', 'b'], { minLength: 1 });
    const selector = fc.record(
      {
        matchLabels: fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('a', 'b')),
        matchExpressions: fc.array(
          fc.record({ key: fc.constant('team'), operator: fc.constant('In' as const), values }),
        ),
      },
      { requiredKeys: [] },
    );
    const selectors = fc.array(selector, { minLength: 2 * MOST_OF_LABEL, maxLength: 6 * MOST_OF_LABEL });
    const omittedOf = (all: TrafficWatch[]) => [...decidePodPlacement(all).omitted];
    fc.assert(
      fc.property(selectors, fc.nat(), (all, at) => {
        const watches = all.map((one, n) => watchOf(`w${n}`, one));
        const older = watches.slice(0, at % watches.length);
        const names = new Set(older.map(({ metadata }) => metadata?.name));
        expect(omittedOf(older)).toEqual(omittedOf(watches).filter((name) => names.has(name)));
      }),
      { numRuns: 30, seed: 1 },
    );
  });

  it('takes linear time for a selector with many lists of many values', () => {
    const lists = [Array.from({ length: 20_000 }, (_, n) => `${n}`), ...Array.from({ length: 10_000 }, () => ['a'])];
    const selector: LabelSelector = { matchExpressions: lists.map((values) => ({ ...inList, values })) };
    const began = process.cpuUsage().user;
    decidePodPlacement([watchOf('web', selector)]);
    expect(process.cpuUsage().user - began).toBeLessThan(1_000_000);
  });

  // Each takes 180 bytes, and as many in the index.
  const values = (count: number) => Array.from({ length: count }, (_, n) => `${n}`.padEnd(60, '€'));
  const large = (count: number): LabelSelector => ({ matchExpressions: [{ ...inList, values: values(count) }] });
  it('stays below its limit, whatever the selectors: later TrafficWatches are left out, and those that fit are not', () => {
    const watches = [large(1_000), large(1_000), large(1_000), WEB].map((one, n) => watchOf(`w${n}`, one));
    const { spec, omitted } = decidePodPlacement(watches);
    expect([...omitted]).toEqual(['w2']);
    expect(spec?.entries?.map(({ trafficWatch }) => trafficWatch)).toEqual(['w0', 'w1', 'w3']);
    const bytes = Buffer.byteLength(JSON.stringify(spec));
    expect(bytes).toBeLessThan(MOST_PLACEMENT_BYTES);
    expect(bytes).toBeGreaterThan(MOST_PLACEMENT_BYTES / 2);
  });

  it('has room for 200 TrafficWatches with 70 names of nodes each', () => {
    const names = Array.from({ length: 70 }, (_, n) => `ip-10-0-0-${n}.eu-central-1.compute.internal`);
    const changes: WatchChanges = { placement: 'AtCreation', status: { avoidedNodes: names } };
    const watches = Array.from({ length: 200 }, (_, n) => watchOf(`w${n}`, { matchLabels: { app: `${n}` } }, changes));
    expect(decidePodPlacement(watches).omitted.size).toBe(0);
  });
});
