import { describe, expect, it } from 'vitest';
import type { TrafficWeight, TrafficWeightStatus } from '../../api/trafficweight/trafficWeight.ts';
import { BodyBudget } from '../../runtime/cache/bodyBudget.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import { terminatingFor } from '../../runtime/testing/terminating.ts';
import { OWNER_LABEL } from '../../weights/plan/plan.ts';
import { sourceOfIngress, type Source } from '../../weights/records/source.ts';
import { DNS_ENDPOINTS, type DnsEndpoint } from '../../weights/records/endpoint.ts';
import { divide } from './decide/divide.ts';
import { identityOfWeight } from './weightObjects.ts';
import { hasNextRound, reconcile, rampStepOf, staleOf, type Dependencies } from './reconcile.ts';

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

describe('a TrafficWeight without its body', () => {
  const condition = {
    type: 'Applied',
    status: 'True',
    reason: 'AllApplied',
    message: '',
    lastTransitionTime: '',
  } as const;
  const weight = {
    metadata: { name: 'main', generation: 3, labels: { a: 'x'.repeat(100_000) } },
    spec: { clusterName: 'a', backend: { static: { weight: 40 } }, ingressClassNames: ['nginx'] },
    status: { desiredWeight: 40, explain: [{ message: 'x'.repeat(100_000) }], conditions: [condition] },
  } as unknown as TrafficWeight;
  const kept = new BodyBudget(0).keep(weight, identityOfWeight);

  it('is not Ready and says why; its weight and its records are unchanged', async () => {
    const written: TrafficWeightStatus[] = [];
    const d = {
      statuses: { newest: () => kept, write: (_: unknown, status: TrafficWeightStatus) => written.push(status) },
      metrics: { record: () => undefined },
      events: { event: () => undefined },
      clock: new FakeClock(),
      isLeader: () => true,
    } as unknown as Dependencies;
    await reconcile(d, 'main');
    expect(Object.keys(written[0]!)).toEqual(['conditions', 'observedGeneration']);
    const reason = 'NotRead';
    expect(written[0]?.conditions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'Ready',
          status: 'False',
          reason,
          message: expect.stringMatching(/one of the largest/) as string,
        }),
        expect.objectContaining({ type: 'Applied', status: 'Unknown', reason }),
      ]),
    );
  });

  it('keeps the sources that its DNSEndpoints are of, and selects no other', () => {
    expect(JSON.stringify(kept).length).toBeLessThan(1_000);
    const other = { ...weight, metadata: { name: 'other' } };
    const source = (name: string) => ({ kind: 'Ingress', namespace: 'shop', name, hosts: [] }) as unknown as Source;
    const [own, free] = [source('own'), source('free')];
    const candidate = { classNames: ['nginx'], isKnown: true, isBeyond: false, namespaceLabels: {} };
    const candidates = [own, free].map((each) => ({ ...candidate, source: each }));
    const labelOf = (each: Source) => (each === own ? 'main' : undefined);
    const { otherOwnerOf } = divide(other, { weights: [other, kept], candidates }, labelOf);
    expect([own, free].map(otherOwnerOf)).toEqual(['main', undefined]);
  });
});

it.each([
  ['waits since before', 'False', 'RemovalNotConfirmed', true],
  ['of one namespace waits since before', 'True', 'AllApplied', true, 'False'],
  ['may wait since before: a failed write is named instead', 'False', 'WriteFailed', true],
  ['may wait since before: nothing could be decided', 'Unknown', 'BackendUnavailable', true],
  ['waited for no confirmation', 'True', 'AllApplied', false],
  ['was never decided', undefined, '', false],
] as [string, string | undefined, string, boolean, string?][])(
  'the first plan of a process takes from the status whether a removal %s',
  async (_, status, reason, waits, confirmed) => {
    const common = { reason, message: '', lastTransitionTime: '' };
    const applied = { type: 'Applied', status, ...common };
    const removals = confirmed === undefined ? [] : [{ type: 'RemovalsConfirmed', status: confirmed, ...common }];
    const weight = {
      metadata: { name: 'main' },
      spec: {},
      status: { conditions: status === undefined ? [] : [applied, ...removals] },
    } as unknown as TrafficWeight;
    const d = {
      caches: { endpoints: { resource: DNS_ENDPOINTS, synced: false } },
      statuses: { newest: () => weight, write: () => undefined },
      metrics: { record: () => undefined },
      events: { event: () => undefined },
      removals: new Map(),
      clock: new FakeClock(),
      isLeader: () => true,
    };
    // The spec is invalid: the report of this reconcile replaces the condition.
    await reconcile(d as unknown as Dependencies, 'main');
    expect((d as unknown as Dependencies).removals.get('main')?.waiting.has('shop')).toBe(waits);
  },
);

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

it.each([
  ['it has none', undefined, undefined, []],
  ['it has one of this TrafficWeight', 'u1', 'main', ['shop/web']],
  ['it has one of the original', 'u1', undefined, ['shop/web']],
  ['it has one of another TrafficWeight', 'u1', 'other', []],
  ['its name is of a DNSEndpoint of another source', 'u2', 'main', []],
])('a source beyond the memory leaves a DNSEndpoint as it is if %s', (_, uid, owner, wanted) => {
  const source = sourceOfIngress({ metadata: { name: 'web', namespace: 'shop', uid: 'u1' } });
  const owned = { apiVersion: source.apiVersion, kind: 'Ingress', name: 'web' };
  const controller = { ...owned, uid: uid ?? '', controller: true };
  const labels: Record<string, string> = owner === undefined ? {} : { [OWNER_LABEL]: owner };
  const endpoint = { metadata: { labels, ownerReferences: [controller] } };
  const endpointOf = () => (uid === undefined ? undefined : endpoint);
  expect(staleOf([source], 'main', { endpointOf, owned: [] })).toEqual(wanted);
});

it('a DNSEndpoint of the TrafficWeight that is beyond the memory is unchanged', () => {
  const of = (name: string, owner: string) => ({
    metadata: { namespace: 'shop', name, labels: { [OWNER_LABEL]: owner } },
  });
  const reduced = (endpoint: DnsEndpoint) => new BodyBudget(0).keep(endpoint, ({ metadata = {} }) => ({ metadata }));
  const owned = [of('whole', 'main'), reduced(of('cut', 'main')), reduced(of('moved', 'other'))];
  expect(staleOf([], 'main', { endpointOf: () => undefined, owned })).toEqual(['shop/cut']);
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
