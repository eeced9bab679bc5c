import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { LEASES, NAMESPACES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { startOperator, type Operator } from '../harness/operator.ts';
import { clockOff } from './lyingAnswers.ts';
import { startLyingPrometheus, type LyingPrometheus } from './lyingPrometheus.ts';
import { measured, seconds, until } from '../harness/measured.ts';
import { withNodeOptions } from '../harness/nodeOptions.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** Clocks that are five minutes off, Prometheus' or the operator's, and samples that are old. */
const WAIT = { timeout: 90_000, interval: 100 };
const KEY = unfitKey('web');
const OFF_SECONDS = 300;
/** The time that the window and a loaded machine may add to a sample's age. */
const TOLERANCE_SECONDS = 60;
const LEASE = { namespace: 'traffic-operator-system', name: 'traffic-operator' };
const LEASE_MS = 15_000;

let f: Fixture;
let prometheus: LyingPrometheus;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2', 'n3'] });
  f.exporter.setPercent('n2', 60);
  await f.client.create(NAMESPACES, { metadata: { name: LEASE.namespace } });
  prometheus = await startLyingPrometheus(f.prometheusUrl);
  await start();
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'true', n3: 'false' }), WAIT);
});
afterAll(async () => {
  await f.stop();
  await prometheus.stop();
});

const start = () => f.startOperator([], { prometheusUrl: prometheus.url });

/** @param off how far its wall clock is ahead, seconds */
const withClock = <R>(off: number, startIt: () => Promise<R>): Promise<R> =>
  withNodeOptions(`--import=${new URL(`../harness/shiftClock.ts?seconds=${off}`, import.meta.url).href}`, startIt);

async function clockRemark(): Promise<string> {
  const { status } = await f.watch('web');
  const reachable = status?.conditions?.find(({ type }) => type === 'PrometheusReachable');
  expect(reachable).toMatchObject({ status: 'True' });
  return reachable?.message ?? '';
}

/** How far the time of the figures is ahead of this machine's, seconds. */
async function aheadOfUs(): Promise<number> {
  return ((await f.watch('web')).status?.nodes?.n1?.time ?? 0) - Date.now() / 1000;
}

/** Passes still decide: one node is filled and relieved, and the others are not written. */
async function expectDecisions(what: string): Promise<void> {
  const { n1, n2 } = await f.nodeVersions();
  for (const [percent, label] of [
    [90, 'true'],
    [1, 'false'],
  ] as const) {
    const since = performance.now();
    f.exporter.setPercent('n3', percent);
    const took = await until(`n3 is ${label}`, async () => (await f.labels(KEY)).n3 === label, { since });
    measured(`${what}: label ${label} ${seconds(took)} after the traffic`);
  }
  expect(await f.nodeVersions()).toMatchObject({ n1, n2 });
}

describe.each([
  [OFF_SECONDS, "about 5 min ahead of the operator's"],
  [-OFF_SECONDS, "about 5 min behind the operator's"],
])("Prometheus' clock %d s ahead", (off, remark) => {
  it('is named, changes no label, and figures carry its time', async () => {
    const versions = await f.nodeVersions();
    prometheus.lie = clockOff(off);
    await vi.waitFor(async () => expect(await clockRemark()).toContain(remark), WAIT);
    await vi.waitFor(async () => expect(Math.abs((await aheadOfUs()) - off)).toBeLessThan(TOLERANCE_SECONDS), WAIT);
    expect(await f.nodeVersions()).toEqual(versions);
    await expectDecisions(`Prometheus' clock ${off} s ahead`);
    prometheus.lie = undefined;
    await vi.waitFor(async () => expect(await clockRemark()).toBe('The last query succeeded'), WAIT);
    expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'true', n3: 'false' });
  });
});

describe.each([
  [OFF_SECONDS, "about 5 min behind the operator's"],
  [-OFF_SECONDS, "about 5 min ahead of the operator's"],
])("the operator's clock %d s ahead", (off, remark) => {
  it('is named, changes no label, and figures carry the time of Prometheus', async () => {
    const versions = await f.nodeVersions();
    await f.stopOperator();
    await withClock(off, start);
    await vi.waitFor(async () => expect(await clockRemark()).toContain(remark), WAIT);
    await vi.waitFor(async () => expect(Math.abs(await aheadOfUs())).toBeLessThan(TOLERANCE_SECONDS), WAIT);
    expect(await f.nodeVersions()).toEqual(versions);
    await expectDecisions(`the operator's clock ${off} s ahead`);
  });
});

describe('the lease of a leader whose clock is behind', () => {
  const replicas: Operator[] = [];
  afterAll(async () => {
    for (const replica of replicas) await replica.kill();
  });

  it('is not taken by replicas whose clocks are right or ahead', async () => {
    const { kubeconfig } = f.controlPlane;
    const args = ['--leader-elect'];
    const replica = () => startOperator({ kubeconfig, prometheusUrl: prometheus.url, args });
    const lease = async () => (await f.client.get(LEASES, LEASE)).spec;
    replicas.push(await withClock(-OFF_SECONDS, replica));
    await until('the first leads', async () => ((await lease())?.holderIdentity ?? '') !== '');
    const first = await lease();
    const behind = Date.now() - new Date(first?.renewTime ?? 0).getTime();
    replicas.push(await replica(), await withClock(OFF_SECONDS, replica));
    const since = performance.now();
    const held = await until('the lease could have run out', async () => {
      expect((await lease())?.holderIdentity).toBe(first?.holderIdentity);
      return performance.now() - since > LEASE_MS + 5_000;
    });
    expect(await lease()).toMatchObject({ leaseTransitions: first?.leaseTransitions });
    for (const standby of replicas.slice(1)) expect(standby.log()).not.toContain('started leading');
    measured(`a lease renewed ${seconds(behind)} ago by its own words: kept its holder for ${seconds(held)}`);
  });
});

describe('samples that are old', () => {
  it('are named, and no label changes', async () => {
    // A window of which a pass sees the end, also where it is late by seconds.
    await f.stopOperator();
    await f.startOperator([], { prometheusUrl: prometheus.url, pace: ['--interval=1s', '--window=15s'] });
    const passes = async (): Promise<number> => (await metricsOf(f.operator())).sum('passes_total', { result: 'ok' });
    await until('it has decided again', async () => (await passes()) >= 2);
    await vi.waitFor(async () => expect((await f.watch('web')).status).toMatchObject({ unknownNodes: 0 }), WAIT);
    const versions = await f.nodeVersions();
    const reasons = new Set<string>();
    // Not by polling, which may miss a status.
    const stopFollowing = await follow(f.controlPlane, TRAFFIC_WATCHES, ({ object: { status } }) => {
      const nodes = Object.values(status?.nodes ?? {});
      for (const { reason, verdict } of nodes) if (verdict === 'Unknown') reasons.add(reason);
    });
    await f.exporter.stop();
    await vi.waitFor(async () => {
      const nodes = (await f.watch('web')).status?.nodes ?? {};
      expect(nodes).toMatchObject({
        n1: { reason: 'NoSeries' },
        n2: { reason: 'NoSeries' },
        n3: { reason: 'NoSeries' },
      });
    }, WAIT);
    await vi.waitFor(() => expect([...reasons]).toEqual(['StaleSamples', 'NoSeries']), WAIT);
    await stopFollowing();
    expect(await f.nodeVersions()).toEqual(versions);
    measured(`an exporter that is gone: ${[...reasons].join(', then ')}; no node written`);
  });
});
