import { expect, it } from 'vitest';
import type { TrafficWeight } from '../../api/trafficweight/trafficWeight.ts';
import type { DnsEndpoint } from '../../weights/records/endpoint.ts';
import { takeStep } from './takeStep.ts';

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
  return takeStep(parts, weight, { spec, desired: 50 });
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
