import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../../usage/evaluate/snapshot.ts';
import {
  anObservation,
  aWatch,
  failedPass,
  KEY,
  NOW,
  pass,
  TWO_PASSES,
  usage,
  type ObservationChanges,
} from '../../testing/observations.ts';
import { eventsOf } from '../../testing/settled.ts';
import { decidePlan } from '../decidePlan.ts';
import { nextMissing, NOTHING_MISSING, type MissingNodes } from '../../observe/passMemory.ts';
import type { VerdictInput } from './policies.ts';
import { decideVerdict } from './verdict.ts';

const MINUTE = 60_000;

const missingAfter = (passes: readonly Snapshot[]): MissingNodes =>
  passes.reduce<MissingNodes>((before, next) => nextMissing(before, next, new Map()), NOTHING_MISSING);

describe('the policy missingData', () => {
  const input: VerdictInput = {
    maxPercent: 10,
    passes: [undefined, usage('n1', 20)],
    labelled: 'notAbove',
    passError: undefined,
    passesToAgree: TWO_PASSES,
  };
  const off = { reason: 'NodeNotReady', message: 'off' } as const;
  const failed = { reason: 'PrometheusUnreachable', message: 'refused' };

  it.each<[string, Partial<VerdictInput>, string, string]>([
    ['Hold leaves the label', {}, 'Unknown', 'NoSeries'],
    ['Unfit makes the node unfit', { missingAs: 'above' }, 'Unfit', 'NoDataUnfit'],
    ['Fit makes the node fit', { missingAs: 'notAbove', labelled: 'above' }, 'Fit', 'NoDataFit'],
    ['a node without a label gets one', { missingAs: 'above', labelled: undefined }, 'Unfit', 'NoDataUnfit'],
    [
      'a node that cannot be measured keeps its label',
      { missingAs: 'above', notMeasurable: off },
      'Unknown',
      off.reason,
    ],
    ['a failed pass changes nothing', { missingAs: 'above', passError: failed }, 'Unknown', failed.reason],
    ['a figure decides', { missingAs: 'above', passes: [usage('n1', 1), usage('n1', 1)] }, 'Fit', 'BelowThreshold'],
  ])('%s', (_why, changes, verdict, reason) => {
    expect(decideVerdict({ ...input, ...changes })).toMatchObject({ verdict, reason });
  });
});

describe('nextMissing', () => {
  const at = (minutes: number, percents: Record<string, number | undefined>) =>
    pass(1, percents, { startedAt: NOW + minutes * MINUTE });
  const failedAt = (minutes: number) => ({ ...failedPass(1), startedAt: NOW + minutes * MINUTE });
  const since = (...passes: Snapshot[]): Record<string, number> => {
    const { since: found } = missingAfter(passes);
    return Object.fromEntries([...found].map(([node, ms]) => [node, (ms - NOW) / MINUTE]));
  };

  it('counts from the first pass without a figure of the node', () => {
    expect(since(at(0, { n1: 1, n2: 1 }), at(1, { n1: 1, n2: undefined }), at(2, { n1: 1, n2: undefined }))).toEqual({
      n2: 1,
    });
  });

  it('forgets a node that has a figure again, and one that is gone', () => {
    const before = at(0, { n1: 1, n2: undefined, n3: undefined });
    expect(since(before, at(1, { n1: 1, n2: 1 }))).toEqual({});
    expect(since(before, at(1, { n1: 1, n2: 1 }), at(2, { n1: 1, n2: undefined }))).toEqual({ n2: 2 });
  });

  it.each([
    ['failed passes', failedAt(2)],
    ['passes without a figure of any node', at(2, { n1: undefined, n2: undefined })],
  ])('does not count the time of %s', (_what, outage) => {
    const before = at(0, { n1: 1, n2: undefined });
    expect(since(before, outage)).toEqual({ n2: 0 });
    expect(since(before, outage, at(5, { n1: 1, n2: undefined }))).toEqual({ n2: 5 });
    expect(since(before, outage, at(5, { n1: 1, n2: undefined }), at(6, { n1: 1, n2: undefined }))).toEqual({ n2: 5 });
  });
});

describe('nextMissing after a pass with a warning, which may be partial', () => {
  const at = (minutes: number, percents: Record<string, number | undefined>, warnings: string[] = []) =>
    pass(1, percents, { startedAt: NOW + minutes * MINUTE, warnings });
  const partial = (minutes: number, percents: Record<string, number | undefined>) => at(minutes, percents, ['partial']);
  const since = (...passes: Snapshot[]) =>
    Object.fromEntries([...missingAfter(passes).since].map(([n, ms]) => [n, (ms - NOW) / MINUTE]));

  it('lists no further node, and does not count the time', () => {
    const [before, lacking] = [at(0, { n1: 1, n2: undefined }), { n1: undefined, n2: undefined, n3: 1 }];
    expect(since(before, partial(2, lacking))).toEqual({ n2: 0 });
    expect(since(before, partial(2, lacking), at(5, { n1: 1, n2: undefined, n3: 1 }))).toEqual({ n2: 5 });
  });

  it('forgets a node that has a figure in it', () => {
    expect(since(at(0, { n1: 1, n2: undefined }), partial(2, { n2: 1 }))).toEqual({});
  });
});

describe('missingData in a plan', () => {
  const nodes = { n1: { [KEY]: 'false' }, n2: { [KEY]: 'false' }, n3: { [KEY]: 'false' } };
  const figures = { n1: 1, n2: undefined, n3: 2 };
  const planOf = (missingData: { policy?: 'Unfit' | 'Fit'; holdFor?: string }, changes: ObservationChanges = {}) => {
    const o = anObservation({
      watch: aWatch({ missingData }),
      nodes,
      passes: [pass(2, figures), pass(1, figures)],
      missingSince: new Map([['n2', NOW - 5 * MINUTE]]),
      ...changes,
    });
    return { o, labels: Object.fromEntries(decidePlan(o).labels) };
  };

  it('labels the node after holdFor, five minutes by default', () => {
    const change = { n2: { [KEY]: 'true' } };
    expect(planOf({ policy: 'Unfit' }).labels).toEqual(change);
    expect(planOf({ policy: 'Unfit', holdFor: '5m' }).labels).toEqual(change);
    expect(planOf({ policy: 'Unfit', holdFor: '5m1s' }).labels).toEqual({});
    expect(planOf({ policy: 'Fit' }).labels).toEqual({});
    expect(planOf({}).labels).toEqual({});
  });

  it('labels the node also while the rate window fills after an outage: that needs no rate', () => {
    expect(planOf({ policy: 'Unfit' }, { isWindowFilling: true }).labels).toEqual({ n2: { [KEY]: 'true' } });
  });

  it('changes nothing if the last pass failed, may be partial, or had a figure of no node', () => {
    expect(planOf({ policy: 'Unfit' }, { newest: failedPass(2) }).labels).toEqual({});
    const partial = pass(2, figures, { warnings: ['store-2 did not answer'] });
    expect(planOf({ policy: 'Unfit' }, { newest: partial }).labels).toEqual({});
    const none = pass(2, { n1: undefined, n2: undefined, n3: undefined });
    expect(planOf({ policy: 'Unfit' }, { newest: none }).labels).toEqual({});
  });

  it('gives the last places of maxUnfit to nodes without a figure', () => {
    const watch = aWatch({ missingData: { policy: 'Unfit' } });
    const limited = { ...watch, spec: { ...watch.spec, maxUnfit: 1 } };
    const full = { n1: 11, n2: undefined, n3: 2 };
    const { labels } = planOf({}, { watch: limited, passes: [pass(2, full), pass(1, full)] });
    expect(labels).toEqual({ n1: { [KEY]: 'true' } });
  });

  it('says in the event that there was no figure, not that the node was above the threshold', () => {
    const { o } = planOf({ policy: 'Unfit' });
    expect(eventsOf(o).filter(({ reason }) => reason === 'NodeUnfit')).toEqual([
      { type: 'Warning', reason: 'NodeUnfit', note: 'node n2 turned unfit: no figure (missingData)' },
    ]);
  });
});
