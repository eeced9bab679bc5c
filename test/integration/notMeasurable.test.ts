import type { V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { NODES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import { metricsOf } from '../harness/metricsOf.ts';

/** Nodes that can have no figures, on a real API server: they are reported, and cause no other problem. */
const WAIT = { timeout: 180_000, interval: 200 };
/**
 * A pass that fails, or that lacks a figure, is a transition. So a pass has the default deadline of 8 s, which the first
 * one of a process needs on a busy machine, and the window holds thirty scrapes.
 */
const PACE = ['--interval=10s', '--window=30s'];
const KEY = 'web.traffic.example.com/unfit';

let f: Fixture;
const startOperator = () => f.startOperator([], { pace: PACE });
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'off'], withTimes: true });
  await createNode('win', { 'kubernetes.io/os': 'windows' });
  await createNode('virtual', { type: 'virtual-kubelet' });
  await createNode('tainted', {}, [{ key: 'virtual-kubelet.io/provider', value: 'some', effect: 'NoSchedule' }]);
  await startOperator();
  await f.createWatch('web', { maxBandwidthPercent: '10' });
});
afterAll(async () => {
  await f.stop();
});

/** A node that joined long ago: a new node has a minute to be measured. */
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

const availableIn = ({ status }: TrafficWatch) => status?.conditions?.find(({ type }) => type === 'MetricsAvailable');
const available = async () => availableIn(await f.watch('web'));

async function metrics(): Promise<string> {
  return (await fetch(f.operator().metricsUrl)).text();
}

describe('nodes that cannot be measured', { timeout: 600_000 }, () => {
  it('are reported with the reason, and MetricsAvailable stays True', async () => {
    // If the condition turned False after the minute for new nodes, it would stay False.
    await vi.waitFor(async () => {
      const { status } = await f.watch('web');
      expect(status?.nodes?.win).toMatchObject({ verdict: 'Unknown', reason: 'NotMeasurable', unfit: false });
      expect(status?.nodes?.virtual).toMatchObject({ verdict: 'Unknown', reason: 'NotMeasurable' });
      expect(status?.nodes?.tainted).toMatchObject({ verdict: 'Unknown', reason: 'NotMeasurable' });
      expect(await available()).toMatchObject({ status: 'True', reason: 'AllMeasured' });
      expect((await available())?.message).toContain(
        'nodes that cannot be measured: tainted (NotMeasurable), virtual (NotMeasurable), win (NotMeasurable)',
      );
    }, WAIT);
  });

  it('may be switched off: its label stays, and it is measured again when it is back', async () => {
    await vi.waitFor(async () => expect((await f.labels(KEY)).off).toBe('false'), WAIT);
    f.exporter.remove('off');
    await vi.waitFor(async () => expect(await available()).toMatchObject({ reason: 'PartialData' }), WAIT);
    await setReady('off', 'Unknown', 600_000);
    await vi.waitFor(async () => {
      const { status } = await f.watch('web');
      expect(status?.nodes?.off).toMatchObject({ verdict: 'Unknown', reason: 'NodeNotReady', unfit: false });
      expect(await available()).toMatchObject({ status: 'True' });
      expect((await available())?.message).toContain('off (NodeNotReady)');
    }, WAIT);
    expect(await f.labels(KEY)).toEqual({ n1: 'false', off: 'false' });
    const series = 'traffic_operator_node_not_measurable{node="off"';
    await vi.waitFor(async () => expect(await metrics()).toContain(`${series},reason="NodeNotReady"} 1`), WAIT);
    f.exporter.setPercent('off', 1);
    await vi.waitFor(async () => {
      expect((await f.watch('web')).status?.nodes?.off).toMatchObject({ verdict: 'Fit' });
    }, WAIT);
    // What cannot be measured is looked at beside the reconciles.
    await vi.waitFor(async () => expect(await metrics()).not.toContain(series), WAIT);
  });

  it('are still reported after a restart, and figures are not reported as missing', async () => {
    f.exporter.remove('off');
    const before = await vi.waitFor(async () => {
      const settled = await available();
      expect(settled).toMatchObject({ status: 'True', reason: 'AllMeasured' });
      expect(settled?.message).toContain('off (NodeNotReady)');
      return settled;
    }, WAIT);
    // Every status from here on, also one that would be over soon, with the time of its last transition.
    const reported = new Map<string, object>();
    const unfollow = await follow(f.controlPlane, TRAFFIC_WATCHES, ({ object }) => {
      const report = { unknownNodes: object.status?.unknownNodes, available: availableIn(object) };
      reported.set(JSON.stringify(report), report);
    });
    await f.stopOperator();
    await startOperator();
    const passes = async () => (await metricsOf(f.operator())).sum('passes_total', { result: 'ok' });
    await vi.waitFor(async () => expect(await passes()).toBeGreaterThanOrEqual(3), WAIT);
    await unfollow();
    expect([...reported.values()]).toEqual([{ unknownNodes: 4, available: before }]);
  });
});
