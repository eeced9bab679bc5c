import type { V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NODES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** Nodes that can have no figures, on a real API server: they are reported, and cause no other problem. */
const WAIT = { timeout: 90_000, interval: 200 };
const KEY = 'web.traffic.example.com/unfit';

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'off'] });
  await createNode('win', { 'kubernetes.io/os': 'windows' });
  await createNode('virtual', { type: 'virtual-kubelet' });
  await createNode('tainted', {}, [{ key: 'virtual-kubelet.io/provider', value: 'some', effect: 'NoSchedule' }]);
  await f.startOperator();
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

async function condition(type: string) {
  return (await f.watch('web')).status?.conditions?.find((c) => c.type === type);
}

const available = () => condition('MetricsAvailable');

async function metrics(): Promise<string> {
  return (await fetch(f.operator().metricsUrl)).text();
}

describe('nodes that cannot be measured', () => {
  it('are reported with the reason, and MetricsAvailable stays True', async () => {
    // If the condition turned False after the minute for new nodes, it would stay False.
    await vi.waitFor(async () => {
      const { status } = await f.watch('web');
      expect(status?.nodes?.win).toMatchObject({ verdict: 'Unknown', reason: 'NotMeasurable', unfit: false });
      expect(status?.nodes?.virtual).toMatchObject({ verdict: 'Unknown', reason: 'NotMeasurable' });
      expect(status?.nodes?.tainted).toMatchObject({ verdict: 'Unknown', reason: 'NotMeasurable' });
      expect(await available()).toMatchObject({ status: 'True', reason: 'AllMeasured' });
      expect((await available())?.message).toContain('nodes that cannot be measured');
    }, WAIT);
    expect((await available())?.message).toContain(
      'tainted (NotMeasurable), virtual (NotMeasurable), win (NotMeasurable)',
    );
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
    await vi.waitFor(async () => expect((await available())?.message).toContain('off (NodeNotReady)'), WAIT);
    const before = await available();
    await f.restartOperator();
    const { unknownNodes } = (await f.watch('web')).status ?? {};
    expect(unknownNodes).toBe(4);
    await vi.waitFor(async () => expect(await metrics()).toMatch(/passes_total\{result="ok"\} [3-9]/), WAIT);
    expect(await available()).toEqual(before);
  });
});
