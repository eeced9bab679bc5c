import { expect, it } from 'vitest';
import type { TrafficWeight } from '../../api/trafficweight/trafficWeight.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import { terminatingFor } from '../../runtime/testing/terminating.ts';
import { hasNextRound, reconcile, type Dependencies } from './reconcile.ts';

it('is not Ready while it is being deleted', async () => {
  const ready = { type: 'Ready', status: 'True', reason: 'InForce', message: '', lastTransitionTime: '' } as const;
  const weight = {
    metadata: { name: 'main', generation: 3, deletionTimestamp: new Date(0), finalizers: ['example.com/backup'] },
    status: { appliedWeight: 40, conditions: [ready] },
  } as unknown as TrafficWeight;
  const written: unknown[] = [];
  const d = {
    statuses: { newest: () => weight, write: (_: unknown, status: unknown) => written.push(status) },
    metrics: { record: () => undefined },
    clock: new FakeClock(),
    isLeader: () => true,
  } as unknown as Dependencies;
  await reconcile(d, 'main');
  expect(written).toEqual([
    { appliedWeight: 40, observedGeneration: 3, conditions: [terminatingFor('example.com/backup')] },
  ]);
});

it.each([
  { why: 'everything is written', written: 3, failed: 0, left: 0, isNext: false },
  { why: 'all was tried, and one failed: backoff', written: 3, failed: 1, left: 0, isNext: false },
  { why: 'some are left', written: 3, failed: 0, left: 2, isNext: true },
  { why: 'some are left, and one namespace refuses writes', written: 3, failed: 1, left: 2, isNext: true },
  { why: 'every write failed: backoff', written: 0, failed: 1, left: 2, isNext: false },
])('the next round follows at once: $isNext, $why', ({ written, failed, left, isNext }) => {
  const failures = new Map(Array.from({ length: failed }, (_, n) => [`shop/${n}`, new Error('no')]));
  expect(hasNextRound({ written, failures, left })).toBe(isNext);
});
