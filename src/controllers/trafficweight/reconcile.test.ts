import { describe, expect, it } from 'vitest';
import type { TrafficWeight } from '../../api/trafficweight/trafficWeight.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import { terminatingFor } from '../../runtime/testing/terminating.ts';
import type { DnsEndpoint } from '../../weights/records/endpoint.ts';
import { hasNextRound, reconcile, rampStepOf, type Dependencies } from './reconcile.ts';

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

describe('a step of a ramp', () => {
  const NOW = Date.parse('2026-01-01T01:00:00Z');
  const spec = {
    ...{ clusterName: 'a', recordTTL: 60, backend: { static: { weight: 50 } } },
    ramp: { step: 10, gate: { query: 'errors', condition: '< 0.01', failureLimit: 1 } },
  };
  const recordOf = (recordTTL: number): DnsEndpoint => ({
    spec: { endpoints: [{ dnsName: 'a.example.org', targets: [], recordType: 'A', recordTTL }] },
  });

  /** The step after that to 5, which was taken three minutes ago and is in force, with records of this TTL. */
  function stepWith(ttl: number, result: 'Passed' | 'Failed') {
    const status = { appliedWeight: 5, currentWeight: 5, lastStepTime: '2026-01-01T00:57:00Z' };
    const weight: TrafficWeight = { metadata: { name: 'main' }, spec, status };
    const parts = {
      gates: { ask: () => Promise.resolve({ result, value: 1 }) },
      endpoints: { byIndex: (_: string, owner: string) => (owner === 'main' ? [recordOf(ttl)] : []) },
      clock: { now: () => NOW },
    };
    return rampStepOf(parts, weight, { spec, desired: 50 });
  }

  it.each([
    ['its own', 60, 15],
    ['the TTL of the other clusters, which is longer', 300, 5],
  ])('comes no sooner than twice the TTL of the records: %s', async (_, ttl, weight) => {
    expect((await stepWith(ttl, 'Passed')).weight).toBe(weight);
  });

  it('is tried again after twice the TTL of the records if its gate has failed', async () => {
    expect((await stepWith(60, 'Failed')).state).toMatchObject({ failures: 1, nextStepAt: NOW + 120_000 });
    expect((await stepWith(80, 'Failed')).state).toMatchObject({ failures: 1, nextStepAt: NOW + 160_000 });
  });
});
