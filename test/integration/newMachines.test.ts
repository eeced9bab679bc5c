import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { NodeStatus } from '../../src/api/trafficwatch/nodeStatus.ts';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { NODES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';

/** Virtual machines that an autoscaler adds: no series has a speed, and something states the capacity from the start. */
const WAIT = { timeout: 90_000, interval: 200 };
const LABEL = 'karpenter.k8s.aws/instance-network-bandwidth';
const ANNOTATION = 'traffic.example.com/capacity';
const POOL = 'karpenter.sh/nodepool';

let f: Fixture;
let stopFollowing: () => Promise<void>;
/** Every status of each node, in order. */
const seen = new Map<string, NodeStatus[]>();

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
  await f.startOperator([`--capacity-label=${LABEL}`]);
  await f.createWatch('web', {
    maxBandwidthPercent: '10',
    capacity: [{ nodeSelector: { matchLabels: { [POOL]: 'web' } }, value: '1Gbit' }],
  });
  stopFollowing = await follow(f.controlPlane, TRAFFIC_WATCHES, ({ object: { status } }) => {
    for (const [name, node] of Object.entries(status?.nodes ?? {})) seen.set(name, [...(seen.get(name) ?? []), node]);
  });
});
afterAll(async () => {
  await stopFollowing();
  await f.stop();
});

describe('a new node without a link speed is measured in the first pass that has its rate', () => {
  it.each<[source: string, name: string, metadata: { labels?: object; annotations?: object }]>([
    ['Spec', 'by-spec', { labels: { [POOL]: 'web' } }],
    ['Annotation', 'by-annotation', { annotations: { [ANNOTATION]: '1Gbit' } }],
    ['Label', 'by-label', { labels: { [LABEL]: '1000' } }],
  ])('%s', async (capacitySource, name, { labels, annotations }) => {
    f.exporter.hideSpeed(name);
    f.exporter.setPercent(name, 50);
    const metadata = { name, labels: { 'kubernetes.io/hostname': name, ...labels }, annotations: { ...annotations } };
    await f.client.create(NODES, { metadata });
    await vi.waitFor(() => expect(seen.get(name)?.at(-1)).toMatchObject({ verdict: 'Unfit', capacitySource }), WAIT);
    const statuses = seen.get(name) ?? [];
    // `time` is there as soon as a pass has a rate of the node, with or without a capacity.
    const first = statuses.find(({ time }) => time !== undefined);
    expect(first).toMatchObject({ capacity: '1Gbit', capacitySource });
    expect(first?.currentBandwidthPercent).not.toBe('');
    expect(statuses.map(({ reason }) => reason)).not.toContain('NoCapacity');
  });

  it('and is Unknown if nothing states its capacity', async () => {
    f.exporter.hideSpeed('by-nothing');
    f.exporter.setPercent('by-nothing', 50);
    await f.addNode('by-nothing');
    await vi.waitFor(() => {
      expect(seen.get('by-nothing')?.at(-1)).toMatchObject({ verdict: 'Unknown', reason: 'NoCapacity' });
    }, WAIT);
  });
});
