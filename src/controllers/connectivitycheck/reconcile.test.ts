import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { ConnectivityCheckStatus } from '../../api/connectivitycheck/connectivityCheck.ts';
import { BodyBudget } from '../../runtime/cache/bodyBudget.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import { createConnectivityCheckMetrics } from './metrics.ts';
import { identityOfCheck } from './module.ts';
import { terminatingFor } from '../../runtime/testing/terminating.ts';
import { reconcile, type Dependencies } from './reconcile.ts';
import { answered, checkWith, evaluation, finding } from './testing/scenes.ts';

it('has no series after the replica has lost the Lease, and has them again when it leads', async () => {
  const registry = new Registry();
  let isLeader = true;
  let writes = 0;
  const check = checkWith(undefined);
  const d: Dependencies = {
    statuses: {
      newest: () => check,
      write: () => Promise.resolve(++writes > 0),
      forget: () => undefined,
    } as unknown as Dependencies['statuses'],
    feed: { view: () => answered(evaluation([finding()])) },
    events: { event: () => undefined } as unknown as Dependencies['events'],
    metrics: createConnectivityCheckMetrics(registry),
    clock: new FakeClock(),
    isLeader: () => isLeader,
    memories: new Map(),
  };
  const series = async () => (await registry.metrics()).split('\n').filter((line) => line.includes('check="cluster"'));
  await reconcile(d, 'cluster');
  expect(await series()).toContain('traffic_operator_connectivity_findings{check="cluster",class="PodNetwork"} 1');
  isLeader = false;
  await reconcile(d, 'cluster');
  expect(await series()).toEqual([]);
  expect([writes, d.memories.size]).toEqual([1, 0]);
  isLeader = true;
  await reconcile(d, 'cluster');
  expect(await series()).not.toEqual([]);
});

it('is not Ready while it is being deleted, and has no series', async () => {
  const registry = new Registry();
  const ready = { type: 'Ready', status: 'True', reason: 'Checked', message: '', lastTransitionTime: '' } as const;
  const check = checkWith({ conditions: [ready] });
  const metadata = { ...check.metadata, deletionTimestamp: new Date(0), finalizers: ['example.com/backup'] };
  const written: unknown[] = [];
  const d = {
    statuses: { newest: () => ({ ...check, metadata }), write: (_: unknown, status: unknown) => written.push(status) },
    metrics: createConnectivityCheckMetrics(registry),
    clock: new FakeClock(),
    isLeader: () => true,
  } as unknown as Dependencies;
  await reconcile(d, 'cluster');
  expect(written).toEqual([{ conditions: [terminatingFor('example.com/backup')] }]);
  expect(await registry.metrics()).not.toContain('check="cluster"');
});

it('is Unknown, and says why, while the cache has no body of it; it is reported once', async () => {
  const registry = new Registry();
  let check = new BodyBudget(0).keep(checkWith({ verdict: 'Healthy', findings: [] }), identityOfCheck);
  const written: ConnectivityCheckStatus[] = [];
  const d = {
    statuses: {
      newest: () => check,
      write: (_: unknown, status: ConnectivityCheckStatus) => Promise.resolve(written.push(status) > 0),
    },
    events: { event: () => undefined },
    metrics: createConnectivityCheckMetrics(registry),
    clock: new FakeClock(),
    isLeader: () => true,
    memories: new Map(),
  } as unknown as Dependencies;
  await reconcile(d, 'cluster');
  // Without findings: the last ones are unchanged.
  expect(Object.keys(written[0]!)).toEqual(['verdict', 'conditions']);
  const reason = 'TooLarge';
  expect(written[0]).toMatchObject({
    verdict: 'Unknown',
    conditions: [
      { type: 'Ready', status: 'False', reason, message: expect.stringMatching(/Make it smaller/) as string },
      { type: 'Healthy', status: 'Unknown', reason },
      { type: 'ServerReachable', status: 'Unknown', reason },
      { type: 'AgentsReporting', status: 'Unknown', reason },
    ],
  });
  expect(await registry.metrics()).toContain('verdict{check="cluster",verdict="Unknown"} 1');
  check = new BodyBudget(0).keep({ ...check, status: written[0]! }, identityOfCheck);
  await reconcile(d, 'cluster');
  expect(written[1]).toEqual(check.status);
});

it('has series of a bounded number of checks that come and go under new names', async () => {
  const registry = new Registry();
  const metrics = createConnectivityCheckMetrics(registry);
  const seen = new Set<string>();
  for (let round = 0; round < 1_000; round += 1) {
    metrics.record(`check-${round}`, {});
    for (const [name] of (await registry.metrics()).matchAll(/verdict\{check=.*Unknown.*/g)) seen.add(name);
    metrics.forget(`check-${round}`);
  }
  expect(seen.size).toBe(100);
});
