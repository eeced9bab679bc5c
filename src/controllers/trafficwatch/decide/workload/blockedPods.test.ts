import { describe, expect, it } from 'vitest';
import type { TrafficWatchStatus } from '../../../../api/trafficwatch/schema.ts';
import { findCondition, type Condition } from '../../../../runtime/controller/conditions.ts';
import type { Observation, WaitingPod, WaitingPodsRead } from '../../observe/observation.ts';
import {
  aClaim,
  aForeignWatch,
  anObservation,
  aWatch,
  KEY,
  NOW,
  type ObservationChanges,
  type WatchChanges,
} from '../../testing/observations.ts';
import { eventsOf, statusOf } from '../../testing/settled.ts';
import { decidePlan } from '../decidePlan.ts';
import { blockingKeys } from '../../model/labelKeys.ts';
import { decideBlockedPods } from './blockedPods.ts';

const UNFIT = { n1: { [KEY]: 'true' }, n2: { [KEY]: 'false' } };
const podSelector = { matchLabels: { app: 'db' } };
const REQUIRED: WatchChanges = { placement: 'Required' };

function aPod(name: string, changes: Partial<WaitingPod> = {}): WaitingPod {
  return { name, labels: { app: 'db' }, keys: [KEY], since: NOW - 1_000, ...changes };
}

function observed(read: WaitingPodsRead | undefined, watch = REQUIRED, changes: ObservationChanges = {}): Observation {
  return anObservation({ watch: aForeignWatch({ podSelector }, watch), nodes: UNFIT, waitingPods: read, ...changes });
}

const known = (count: number, ...names: string[]) => ({ kind: 'Known', pods: { count, names }, isLasting: false });
const TOO_LARGE = { kind: 'Unreadable', message: expect.stringContaining('remove labels') as string };
const NOBODY = { kind: 'Known', pods: undefined, isLasting: false };

describe('blockingKeys', () => {
  it.each<[string, Observation, string[]]>([
    ['a node is labelled unfit', observed(undefined), [KEY]],
    ['no node is labelled unfit', observed(undefined, REQUIRED, { nodes: { n1: { [KEY]: 'false' } } }), []],
    ['no node has a label', observed(undefined, REQUIRED, { nodes: { n1: {} } }), []],
    ['the placement is Preferred, the default', observed(undefined, {}), []],
    ['the placement is AtCreation', observed(undefined, { placement: 'AtCreation' }), [KEY]],
    ['the mode is Observe', observed(undefined, { ...REQUIRED, mode: 'Observe' }), []],
    ['the placement is Required, the default with a Deployment', anObservation({ nodes: UNFIT }), [KEY]],
    [
      'the key belongs to an older TrafficWatch',
      observed(undefined, REQUIRED, { claims: new Map([[KEY, [aClaim()]]]) }),
      [],
    ],
    [
      'in a rename the nodes still have the previous key',
      observed(undefined, { ...REQUIRED, label: 'new', status: { labelKey: KEY } }),
      [KEY],
    ],
  ])('%s', (_why, o, keys) => {
    expect(blockingKeys(o)).toEqual(keys);
  });
});

describe('decideBlockedPods', () => {
  const one = { pods: [aPod('db-0')] };

  it.each<[string, Observation, object]>([
    ['Preferred blocks no pod', observed(undefined, { placement: 'Preferred' }), { kind: 'Never' }],
    ['pods are not read without unfit nodes', observed(undefined), NOBODY],
    ['the first question only starts the watch', observed({}), { kind: 'NotRead' }],
    ['a refusal is no number', observed({ refusal: 'forbidden' }), { kind: 'Unreadable', message: 'forbidden' }],
    ['no pod waits', observed({ pods: [] }), NOBODY],
    ['no pod that is small enough waits', observed({ pods: [], isPartial: true }), TOO_LARGE],
    ['a pod waits for a short time, and others are too large', observed({ ...one, isPartial: true }), TOO_LARGE],
    [
      'a pod waits for long, and others are too large',
      observed({ pods: [aPod('db-0', { since: NOW - 60_000 })], isPartial: true }),
      { ...known(1, 'db-0'), isLasting: true },
    ],
    ['a pod of the workload', observed(one), known(1, 'db-0')],
    ['the same with AtCreation', observed(one, { placement: 'AtCreation' }), known(1, 'db-0')],
    ['a pod of another workload', observed({ pods: [aPod('web-0', { labels: { app: 'web' } })] }), NOBODY],
    [
      'a pod of another TrafficWatch',
      observed({ pods: [aPod('db-0', { keys: ['a.traffic.example.com/unfit'] })] }),
      NOBODY,
    ],
    [
      'the first three names of five pods',
      observed({ pods: ['e', 'b', 'd', 'a', 'c'].map((name) => aPod(name)) }),
      known(5, 'a', 'b', 'c'),
    ],
    [
      'a pod of the Deployment',
      anObservation({ nodes: UNFIT, waitingPods: { pods: [aPod('web-0', { labels: { app: 'web' } })] } }),
      known(1, 'web-0'),
    ],
    [
      'no pods while the target is unknown',
      anObservation({
        watch: aForeignWatch({ targetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' } }, REQUIRED),
        nodes: UNFIT,
        waitingPods: one,
      }),
      NOBODY,
    ],
  ])('%s', (_why, o, decision) => {
    expect(decideBlockedPods(o)).toEqual(decision);
  });

  it('reads the values of the selector once for all pods: users choose the number of both', () => {
    let read = 0;
    const values = {
      *[Symbol.iterator]() {
        read += 1;
        yield 'db';
      },
      length: 1,
    } as unknown as string[];
    const expressions = { matchExpressions: [{ key: 'app', operator: 'In' as const, values }] };
    const watch = aForeignWatch({ podSelector: expressions }, REQUIRED);
    const pods = ['a', 'b', 'c'].map((name) => aPod(name));
    expect(decideBlockedPods(observed({ pods }, REQUIRED, { watch }))).toEqual(known(3, 'a', 'b', 'c'));
    expect(read).toBe(1);
  });

  it.each([
    [100, known(1, 'db-0')],
    [101, { kind: 'Unreadable', message: expect.stringContaining('use a shorter one') as string }],
  ])('a selector with %d requirements', (count, decision) => {
    const matchExpressions = Array.from({ length: count }, (_, n) => ({
      key: `a${n}`,
      operator: 'DoesNotExist' as const,
    }));
    const watch = aForeignWatch({ podSelector: { matchExpressions } }, REQUIRED);
    expect(decideBlockedPods(observed({ pods: [aPod('db-0')] }, REQUIRED, { watch }))).toEqual(decision);
  });

  it.each([
    [59_999, false],
    [60_000, true],
  ])('a pod that has waited for %d ms: lasting is %j', (ms, isLasting) => {
    const pods = [aPod('db-0'), aPod('db-1', { since: NOW - ms })];
    expect(decideBlockedPods(observed({ pods }))).toMatchObject({ isLasting });
  });
});

describe('status.blockedPods and the condition NoFitNode', () => {
  const conditionOf = ({ conditions = [] }: TrafficWatchStatus): Condition | undefined =>
    findCondition(conditions, 'NoFitNode');
  const lasting = { pods: [aPod('db-0', { since: NOW - 60_000 })] };
  /** The observation of the next pass. */
  const next = (status: TrafficWatchStatus, read: WaitingPodsRead | undefined, watch = REQUIRED): Observation =>
    observed(read, { ...watch, status });

  it('are False and absent without blocked pods', () => {
    const status = statusOf(observed({ pods: [] }));
    expect(status.blockedPods).toBeUndefined();
    expect(conditionOf(status)).toMatchObject({ status: 'False', reason: 'NoPodBlocked' });
  });

  it('count a pod at once, and are True after 60 s with one event', () => {
    const early = statusOf(observed({ pods: [aPod('db-0')] }));
    expect(early.blockedPods).toEqual({ count: 1, names: ['db-0'] });
    expect(conditionOf(early)?.status).toBe('False');
    const late = next(early, lasting);
    const status = statusOf(late);
    expect(conditionOf(status)).toMatchObject({ status: 'True', reason: 'PodsBlocked' });
    const told = (o: Observation) => eventsOf(o).filter(({ note }) => note.includes('NoFitNode'));
    expect(told(late)).toEqual([expect.objectContaining({ type: 'Warning', reason: 'PodsBlocked' })]);
    const more = next(status, { pods: [...lasting.pods, aPod('db-1')] });
    expect(conditionOf(statusOf(more))).toEqual(conditionOf(status));
    expect(told(more)).toEqual([]);
  });

  it('stay while the pods are not read yet, and end when none is blocked', () => {
    const status = statusOf(observed(lasting));
    const later = statusOf(next(status, {}));
    expect([later.blockedPods, conditionOf(later)]).toEqual([status.blockedPods, conditionOf(status)]);
    const over = statusOf(next(later, undefined));
    expect([over.blockedPods, conditionOf(over)?.status]).toEqual([undefined, 'False']);
  });

  it('are Unknown and absent while pods may not be read', () => {
    const status = statusOf(next(statusOf(observed(lasting)), { refusal: 'pods is forbidden' }));
    expect(status.blockedPods).toBeUndefined();
    expect(conditionOf(status)).toMatchObject({
      status: 'Unknown',
      reason: 'PodsUnreadable',
      message: 'pods cannot be read: pods is forbidden',
    });
  });

  it('are dropped with Preferred', () => {
    const status = statusOf(next(statusOf(observed(lasting)), undefined, { placement: 'Preferred' }));
    expect([status.blockedPods, conditionOf(status)]).toEqual([undefined, undefined]);
  });

  it('stay while the TrafficWatch is stalled by its spec', () => {
    const status = statusOf(observed(lasting));
    const stalled = next(status, lasting, { ...REQUIRED, maxBandwidthPercent: 'much' });
    expect(decidePlan(stalled).blocked).toEqual({ kind: 'NotRead' });
    expect(statusOf(stalled).blockedPods).toEqual(status.blockedPods);
  });

  it('with a Deployment too', () => {
    const pods = [aPod('web-0', { labels: { app: 'web' }, since: NOW - 60_000 })];
    const status = statusOf(anObservation({ watch: aWatch(), nodes: UNFIT, waitingPods: { pods } }));
    expect([status.blockedPods?.count, conditionOf(status)?.status]).toEqual([1, 'True']);
  });
});
