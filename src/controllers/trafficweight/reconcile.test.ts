import { expect, it } from 'vitest';
import type { TrafficWeight } from '../../api/trafficweight/trafficWeight.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import { terminatingFor } from '../../runtime/testing/terminating.ts';
import { reconcile, type Dependencies } from './reconcile.ts';

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
