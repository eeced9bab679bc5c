import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { NodeStatus } from '../../src/api/trafficwatch/nodeStatus.ts';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { NODES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';

/** --capacity-label on a real API server and Prometheus: new virtual machines without a link speed in their series. */
const WAIT = { timeout: 90_000, interval: 200 };
const LABEL = 'karpenter.k8s.aws/instance-network-bandwidth';
const ANNOTATION = 'traffic.example.com/capacity';

let f: Fixture;
let stopFollowing: () => Promise<void>;
/** Every status of the node vm, in order. */
const seen: NodeStatus[] = [];

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
  await f.startOperator([`--capacity-label=${LABEL}`]);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  stopFollowing = await follow(f.controlPlane, TRAFFIC_WATCHES, ({ object: { status } }) => {
    const { vm } = status?.nodes ?? {};
    if (vm !== undefined) seen.push(vm);
  });
});
afterAll(async () => {
  await stopFollowing();
  await f.stop();
});

async function expectNode(node: string, expected: Partial<NodeStatus>): Promise<void> {
  await vi.waitFor(async () => expect((await f.watch('web')).status?.nodes?.[node]).toMatchObject(expected), WAIT);
}

async function addMachine(name: string, labels: Record<string, string>): Promise<void> {
  f.exporter.hideSpeed(name);
  f.exporter.setPercent(name, 50);
  await f.client.create(NODES, { metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } } });
}

async function messageOf(type: string): Promise<string | undefined> {
  return (await f.watch('web')).status?.conditions?.find((condition) => condition.type === type)?.message;
}

describe('a new node without a link speed', () => {
  it('is measured by its label in the first pass that has its rate', async () => {
    await addMachine('vm', { [LABEL]: '1000' });
    await expectNode('vm', { verdict: 'Unfit', capacity: '1Gbit', capacitySource: 'Label' });
    // The watch may be behind.
    await vi.waitFor(() => expect(seen.at(-1)).toMatchObject({ verdict: 'Unfit' }), WAIT);
    expect(seen.map(({ reason }) => reason)).not.toContain('NoCapacity');
    const first = seen.find(({ currentBandwidthPercent }) => currentBandwidthPercent !== '');
    expect(first).toMatchObject({ capacity: '1Gbit', capacitySource: 'Label' });
  });

  it('is Unknown without the label, until the label is set', async () => {
    await addMachine('vm2', {});
    await expectNode('vm2', { verdict: 'Unknown', reason: 'NoCapacity' });
    await f.setLabels('vm2', { [LABEL]: '25Gbit' });
    await expectNode('vm2', { verdict: 'Fit', capacity: '25Gbit', capacitySource: 'Label' });
  });

  it('is measured by its annotation, if it has one', async () => {
    await f.annotateNode('vm', { [ANNOTATION]: '25Gbit' });
    await expectNode('vm', { verdict: 'Fit', capacity: '25Gbit', capacitySource: 'Annotation' });
    await f.annotateNode('vm', { [ANNOTATION]: null });
    await expectNode('vm', { verdict: 'Unfit', capacity: '1Gbit', capacitySource: 'Label' });
  });
});

describe('a node with a link speed', () => {
  it('is measured by its speed without the label, and by the label with it', async () => {
    await expectNode('n1', { capacity: '1Gbit', capacitySource: 'Series' });
    await f.setLabels('n1', { [LABEL]: '2000' });
    await expectNode('n1', { capacity: '2Gbit', capacitySource: 'Label' });
  });

  it('is Unknown while the label is not valid: the condition names the label, its value and what is allowed', async () => {
    await f.setLabels('n1', { [LABEL]: 'fast' });
    await expectNode('n1', { verdict: 'Unknown', reason: 'InvalidCapacity' });
    await vi.waitFor(async () => {
      const message = await messageOf('MetricsAvailable');
      expect(message).toContain(`n1 (InvalidCapacity: the capacity label ${LABEL}="fast" is invalid: it must be`);
    }, WAIT);
  });

  it('is counted by the source of its capacity', async () => {
    await vi.waitFor(async () => {
      const text = await (await fetch(f.operator().metricsUrl)).text();
      expect(text).toContain('traffic_operator_capacity_source_nodes{source="Label"} 2\n');
      expect(text).toContain('traffic_operator_capacity_source_nodes{source="Series"} 0\n');
    }, WAIT);
  });
});
