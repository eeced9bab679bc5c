import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { NodeStatus } from '../../src/api/trafficwatch/statusSchema.ts';
import { TRAFFIC_WATCHES, type TrafficWatchSpec } from '../../src/api/trafficwatch/schema.ts';
import { NODES } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import { metricsOf } from '../harness/metricsOf.ts';

/** Tests the sources of the capacity of a node: spec.capacity, the annotation, the label of --capacity-label, the link speed. */
const WAIT = { timeout: 90_000, interval: 200 };
/** Figures are exact only once it is full. */
const WINDOW_S = 15;
const LABEL = 'karpenter.k8s.aws/instance-network-bandwidth';
const ANNOTATION = 'traffic.example.com/capacity';
const POOL = 'pool';
const THRESHOLD = { maxBandwidthPercent: '20' };
/** rate() extrapolates, and scrapes are late on a busy machine. */
const TOLERANCE = 0.2;

const inPool = (value: string): { matchLabels: Record<string, string> } => ({ matchLabels: { [POOL]: value } });
const BIG = { nodeSelector: inPool('big'), value: '10Gbit' };
const SMALL = { nodeSelector: inPool('small'), value: '500Mbit' };
const NEW = { nodeSelector: inPool('new'), value: '1Gbit' };

/** New machines, each with another thing that states 1 Gbit/s. */
const MACHINES = [
  { source: 'Spec', name: 'by-spec', labels: { [POOL]: 'new' } },
  { source: 'Annotation', name: 'by-annotation', annotations: { [ANNOTATION]: '1Gbit' } },
  { source: 'Label', name: 'by-label', labels: { [LABEL]: '1000' } },
] as const;

let f: Fixture;
let unfollow: () => Promise<void>;
/** Every status of each node in `web`, in order. */
const seen = new Map<string, NodeStatus[]>();

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  // Of 1 Gbit/s. n2 has a second device, of 10 Gbit/s.
  f.exporter.setDevice('n1', 'eth0', { sends: 50 });
  f.exporter.setDevice('n2', 'eth0', { sends: 50 });
  f.exporter.setDevice('n2', 'eth1', { speed: 1.25e9, sends: 0 });
  await f.setLabels('n1', { [POOL]: 'big' });
  await f.startOperator([`--capacity-label=${LABEL}`, `--window=${WINDOW_S}s`]);
  await f.createWatch('web', { ...THRESHOLD, capacity: [BIG, SMALL, NEW] });
  unfollow = await follow(f.controlPlane, TRAFFIC_WATCHES, ({ object: { metadata, status } }) => {
    if (metadata?.name !== 'web') return;
    for (const [name, node] of Object.entries(status?.nodes ?? {})) seen.set(name, [...(seen.get(name) ?? []), node]);
  });
  for (const machine of MACHINES) await addMachine(machine);
});
afterAll(async () => {
  await unfollow();
  await f.stop();
});

type Expected = Partial<NodeStatus> & { readonly percent?: number };

async function expectNode(watch: string, node: string, { percent, ...expected }: Expected): Promise<void> {
  await vi.waitFor(async () => {
    const status = (await f.watch(watch)).status?.nodes?.[node];
    expect({ watch, node, ...status }).toMatchObject(expected);
    if (percent === undefined) return;
    expect(Math.abs(Number(status?.currentBandwidthPercent) / percent - 1)).toBeLessThan(TOLERANCE);
  }, WAIT);
}

const setCapacity = (capacity: TrafficWatchSpec['capacity'] | null): Promise<unknown> =>
  f.patchWatch('web', { spec: { capacity } });

/** As an autoscaler adds one: no series has its speed. */
async function addMachine({ name, labels, annotations }: { name: string; labels?: object; annotations?: object }) {
  f.exporter.hideSpeed(name);
  f.exporter.setPercent(name, 50);
  const metadata = { name, labels: { 'kubernetes.io/hostname': name, ...labels }, annotations: { ...annotations } };
  await f.client.create(NODES, { metadata });
}

describe('a new node without a link speed', () => {
  it.each(MACHINES)('is measured by its $source in the first pass that has its rate', async ({ source, name }) => {
    const isMeasured = { verdict: 'Unfit', capacitySource: source };
    await vi.waitFor(() => expect(seen.get(name)?.at(-1)).toMatchObject(isMeasured), WAIT);
    const statuses = seen.get(name) ?? [];
    // `time` is there as soon as a pass has a rate of the node, with or without a capacity.
    const first = statuses.find(({ time }) => time !== undefined);
    expect(first).toMatchObject({ capacity: '1Gbit', capacitySource: source });
    expect(first?.currentBandwidthPercent).not.toBe('');
    expect(statuses.map(({ reason }) => reason)).not.toContain('NoCapacity');
  });

  it('is Unknown if nothing states its capacity, until its label does', async () => {
    await addMachine({ name: 'by-nothing' });
    await expectNode('web', 'by-nothing', { verdict: 'Unknown', reason: 'NoCapacity' });
    await f.setLabels('by-nothing', { [LABEL]: '25Gbit' });
    await expectNode('web', 'by-nothing', { verdict: 'Fit', capacity: '25Gbit', capacitySource: 'Label' });
  });
});

describe('spec.capacity', () => {
  it('comes before the annotation, the label and the link speed, for this TrafficWatch alone', async () => {
    await f.setLabels('n1', { [LABEL]: '4000' });
    await f.annotateNode('n1', { [ANNOTATION]: '2Gbit' });
    await f.createWatch('api', { ...THRESHOLD, capacity: [{ nodeSelector: {}, value: '625Mbit' }] });
    await f.createWatch('plain', THRESHOLD);
    await expectNode('web', 'n1', { verdict: 'Fit', capacity: '10Gbit', capacitySource: 'Spec', percent: 5 });
    await expectNode('api', 'n1', { verdict: 'Unfit', capacity: '625Mbit', capacitySource: 'Spec', percent: 80 });
    await expectNode('plain', 'n1', { verdict: 'Unfit', capacity: '2Gbit', capacitySource: 'Annotation', percent: 25 });
    // No entry matches it.
    await expectNode('web', 'n2', { capacity: '11Gbit', capacitySource: 'Series' });
    await vi.waitFor(async () => {
      const metrics = await metricsOf(f.operator());
      const count = (trafficwatch: string, source: string) =>
        metrics.sum('trafficwatch_capacity_source_nodes', { trafficwatch, source });
      expect([count('web', 'Spec'), count('web', 'Series'), count('plain', 'Spec')]).toEqual([2, 1, 0]);
    }, WAIT);
  });

  it('follows the labels of a node', async () => {
    await f.setLabels('n1', { [POOL]: 'small' });
    await expectNode('web', 'n1', { verdict: 'Unfit', capacity: '500Mbit', capacitySource: 'Spec', percent: 100 });
    await f.setLabels('n1', { [POOL]: null });
    await expectNode('web', 'n1', { capacity: '2Gbit', capacitySource: 'Annotation', percent: 25 });
    await f.annotateNode('n1', { [ANNOTATION]: null });
    await expectNode('web', 'n1', { capacity: '4Gbit', capacitySource: 'Label', percent: 12.5 });
    await f.setLabels('n1', { [LABEL]: null, [POOL]: 'big' });
    await expectNode('web', 'n1', { verdict: 'Fit', capacity: '10Gbit', capacitySource: 'Spec', percent: 5 });
  });

  it('takes effect without a new rate window when an entry changes, or goes', async () => {
    const changed = { ...BIG, value: '1.25Gbit' };
    await setCapacity([changed]);
    await expectNode('web', 'n1', { verdict: 'Unfit', capacity: changed.value, capacitySource: 'Spec', percent: 40 });
    // The watch may be behind.
    const isNew = ({ capacity }: NodeStatus): boolean => capacity === changed.value;
    await vi.waitFor(() => expect(seen.get('n1')?.some(isNew)).toBe(true), WAIT);
    const first = seen.get('n1')?.find(isNew);
    expect(Math.abs(Number(first?.currentBandwidthPercent) / 40 - 1)).toBeLessThan(TOLERANCE);
    await setCapacity(null);
    await expectNode('web', 'n1', { capacity: '1Gbit', capacitySource: 'Series', percent: 50 });
  });
});

it('a label that is not valid makes the node Unknown', async () => {
  await f.setLabels('n1', { [LABEL]: 'fast' });
  await expectNode('web', 'n1', { verdict: 'Unknown', reason: 'InvalidCapacity' });
});
