import type { V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { NODES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * A restart of the operator and an outage of Prometheus must change nothing, in a cluster with nodes that cannot be measured: Windows, a
 * virtual kubelet, and one that is switched off.
 */
const WAIT = { timeout: 180_000, interval: 200 };
/** A pass that lacks a figure is a transition: the window holds twenty scrapes. */
const PACE = ['--interval=5s', '--window=20s'];
const KEY = unfitKey('web');
const LABELS = { n1: 'false', n2: 'true', off: 'false' };

let f: Fixture;
const startOperator = () => f.startOperator([], { pace: PACE });
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2', 'off'], withTimes: true });
  f.exporter.setPercent('n2', 60);
  await createNode('win', { 'kubernetes.io/os': 'windows' });
  await createNode('virtual', { type: 'virtual-kubelet' });
  await createNode('tainted', {}, [{ key: 'virtual-kubelet.io/provider', value: 'some', effect: 'NoSchedule' }]);
  await startOperator();
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual(LABELS), WAIT);
});
afterAll(() => f.stop());

async function createNode(name: string, labels: Record<string, string>, taints?: object[]): Promise<void> {
  const metadata = { name, labels: { 'kubernetes.io/hostname': name, ...labels } };
  await f.client.create(NODES, { metadata, ...(taints && { spec: { taints } }) } as V1Node);
}

async function setReady(name: string, status: 'True' | 'Unknown', sinceMs: number): Promise<void> {
  const lastTransitionTime = new Date(Date.now() - sinceMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = { type: 'Ready', status, reason: 'NodeStatusUnknown', message: '', lastTransitionTime };
  const options = { fieldManager: 'kube-controller-manager', subresource: 'status' };
  await f.client.mergePatch(NODES, { name }, { status: { conditions: [condition] } }, options);
}

const conditionIn = ({ status }: TrafficWatch, wanted: string) =>
  status?.conditions?.find(({ type }) => type === wanted);
const condition = async (wanted: string) => conditionIn(await f.watch('web'), wanted);
const metrics = async (): Promise<string> => (await fetch(f.operator().metricsUrl)).text();
const passes = async (): Promise<number> => (await metricsOf(f.operator())).sum('passes_total', { result: 'ok' });

describe('nodes that cannot be measured', () => {
  it('are reported with the reason, and MetricsAvailable stays True', async () => {
    await vi.waitFor(async () => {
      const { nodes } = (await f.watch('web')).status ?? {};
      for (const name of ['win', 'virtual', 'tainted']) {
        expect(nodes?.[name]).toMatchObject({ verdict: 'Unknown', reason: 'NotMeasurable', unfit: false });
      }
      expect(await condition('MetricsAvailable')).toMatchObject({ status: 'True', reason: 'AllMeasured' });
      expect((await condition('MetricsAvailable'))?.message).toContain(
        'nodes that cannot be measured: tainted (NotMeasurable), virtual (NotMeasurable), win (NotMeasurable)',
      );
    }, WAIT);
  });

  it('may be switched off: its label stays, and it is measured again when it is back', async () => {
    await setReady('off', 'Unknown', 600_000);
    f.exporter.remove('off');
    await vi.waitFor(async () => {
      const off = { verdict: 'Unknown', reason: 'NodeNotReady', unfit: false };
      expect((await f.watch('web')).status?.nodes?.off).toMatchObject(off);
      expect(await condition('MetricsAvailable')).toMatchObject({ status: 'True' });
      expect((await condition('MetricsAvailable'))?.message).toContain('off (NodeNotReady)');
    }, WAIT);
    expect(await f.labels(KEY)).toEqual(LABELS);
    const series = 'traffic_operator_node_not_measurable{node="off"';
    await vi.waitFor(async () => expect(await metrics()).toContain(`${series},reason="NodeNotReady"} 1`), WAIT);
    f.exporter.setPercent('off', 1);
    await vi.waitFor(async () => {
      expect((await f.watch('web')).status?.nodes?.off).toMatchObject({ verdict: 'Fit' });
      // Nodes that cannot be measured are checked outside of the reconciles.
      expect(await metrics()).not.toContain(series);
    }, WAIT);
  });
});

describe('a restart', () => {
  const stateOf = ({ status }: TrafficWatch) => ({
    nodes: Object.entries(status?.nodes ?? {}).map(([name, n]) => [name, n.verdict, n.since, n.unfit]),
    conditions: status?.conditions,
  });

  /** The state before a restart, and all later reports, also short ones. */
  async function restarted() {
    await vi.waitFor(async () => {
      const watch = await f.watch('web');
      expect(watch.status?.unknownNodes).toBe(3);
      expect(conditionIn(watch, 'MetricsAvailable')?.status).toBe('True');
      expect(conditionIn(watch, 'Reconciling')?.status).toBe('False');
    }, WAIT);
    const [before, versions] = [stateOf(await f.watch('web')), await f.nodeVersions()];
    const reported = new Map<string, object>();
    const unfollow = await follow(f.controlPlane, TRAFFIC_WATCHES, ({ object }) => {
      const state = stateOf(object);
      reported.set(JSON.stringify(state), state);
    });
    await f.stopOperator();
    await startOperator();
    await vi.waitFor(async () => expect(await passes()).toBeGreaterThanOrEqual(3), WAIT);
    await unfollow();
    return { before, versions, reported: [...reported.values()] };
  }

  it('with everything in order changes no label, verdict or condition, and no status in between', async () => {
    let found: Awaited<ReturnType<typeof restarted>>;
    // A pass that missed its deadline is no restart with everything in order.
    do found = await restarted();
    while ((await metricsOf(f.operator())).sum('passes_total') > (await passes()));
    expect(found.reported).toEqual([found.before]);
    expect(await f.nodeVersions()).toEqual(found.versions);
    expect(await f.labels(KEY)).toEqual(LABELS);
  });
});

describe('when Prometheus is down', () => {
  it('labels stay, ready stays, and condition and event say so', async () => {
    await f.stopPrometheus();
    await vi.waitFor(async () => {
      const down = { status: 'False', reason: 'PrometheusUnreachable' };
      expect(await condition('PrometheusReachable')).toMatchObject(down);
      expect((await f.watch('web')).status).toMatchObject({ ready: true, unknownNodes: 6 });
      expect((await f.events('web')).map(({ reason }) => reason)).toContain('PrometheusUnreachable');
    }, WAIT);
    expect(await f.labels(KEY)).toEqual(LABELS);
  });

  it('a restarted operator changes nothing either', async () => {
    const versions = await f.nodeVersions();
    await f.stopOperator();
    await startOperator();
    await vi.waitFor(() => expect(f.operator().log()).toContain('Prometheus gives no usable answer'), WAIT);
    expect([await f.labels(KEY), await f.nodeVersions()]).toEqual([LABELS, versions]);
    expect((await f.watch('web')).status?.ready).toBe(true);
    await f.startPrometheus();
    await vi.waitFor(async () => expect((await condition('PrometheusReachable'))?.status).toBe('True'), WAIT);
  });
});
