import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { NodeStatus } from '../../src/api/trafficwatch/nodeStatus.ts';
import { TRAFFIC_WATCHES, type TrafficWatchSpec } from '../../src/api/trafficwatch/schema.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { follow } from '../harness/follow.ts';
import { metricsOf } from '../harness/metricsOf.ts';

/** spec.capacity on a real API server and Prometheus. */
const WAIT = { timeout: 90_000, interval: 200 };
/** Figures are exact only once it is full. */
const WINDOW_S = 45;
const LABEL = 'example.com/mbits';
const ANNOTATION = 'traffic.example.com/capacity';
const POOL = 'pool';
const THRESHOLD = { maxBandwidthPercent: '20' };
/** rate() extrapolates, and scrapes are late on a busy machine. */
const TOLERANCE = 0.2;

const inPool = (value: string): { matchLabels: Record<string, string> } => ({ matchLabels: { [POOL]: value } });
const BIG = { nodeSelector: inPool('big'), value: '10Gbit' };
const SMALL = { nodeSelector: inPool('small'), value: '500Mbit' };

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  // Of 1 Gbit/s. n2 has a second device, of 10 Gbit/s.
  f.exporter.setDevice('n1', 'eth0', { sends: 50, receives: 25 });
  f.exporter.setDevice('n2', 'eth0', { sends: 50, receives: 25 });
  f.exporter.setDevice('n2', 'eth1', { speed: 1.25e9, sends: 0, receives: 0 });
  await f.setLabels('n1', { [POOL]: 'big' });
  await f.startOperator([`--capacity-label=${LABEL}`, `--window=${WINDOW_S}s`]);
});
afterAll(() => f.stop());

type Expected = Partial<NodeStatus> & { readonly percent?: number };

async function expectNode(watch: string, node: string, { percent, ...expected }: Expected): Promise<void> {
  await vi.waitFor(async () => {
    const status = (await f.watch(watch)).status?.nodes?.[node];
    expect({ watch, node, ...status }).toMatchObject(expected);
    if (percent === undefined) return;
    expect(Math.abs(Number(status?.currentBandwidthPercent) / percent - 1)).toBeLessThan(TOLERANCE);
  }, WAIT);
}

const setCapacity = (watch: string, capacity: TrafficWatchSpec['capacity'] | null): Promise<unknown> =>
  f.patchWatch(watch, { spec: { capacity } });

describe('spec.capacity', () => {
  it('comes before the annotation, the label and the link speed, for this TrafficWatch alone', async () => {
    await f.setLabels('n1', { [LABEL]: '4000' });
    await f.annotateNode('n1', { [ANNOTATION]: '2Gbit' });
    await f.createWatch('web', { ...THRESHOLD, capacity: [BIG, SMALL] });
    await f.createWatch('api', { ...THRESHOLD, capacity: [{ nodeSelector: {}, value: '625Mbit' }] });
    await f.createWatch('plain', THRESHOLD);
    await expectNode('web', 'n1', { verdict: 'Fit', capacity: '10Gbit', capacitySource: 'Spec', percent: 5 });
    await expectNode('api', 'n1', { verdict: 'Unfit', capacity: '625Mbit', capacitySource: 'Spec', percent: 80 });
    await expectNode('plain', 'n1', { verdict: 'Unfit', capacity: '2Gbit', capacitySource: 'Annotation', percent: 25 });
  });

  it('leaves a node that no entry matches to the other sources', async () => {
    await expectNode('web', 'n2', { capacity: '11Gbit', capacitySource: 'Series' });
    await expectNode('api', 'n2', { capacity: '625Mbit', capacitySource: 'Spec', percent: 80 });
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
    /** Of n1, every one from here on. */
    const seen: NodeStatus[] = [];
    const unfollow = await follow(f.controlPlane, TRAFFIC_WATCHES, ({ object: { metadata, status } }) => {
      if (metadata?.name === 'web' && status?.nodes?.n1 !== undefined) seen.push(status.nodes.n1);
    });
    const changed = { ...BIG, value: '1.25Gbit' };
    await setCapacity('web', [changed]);
    await expectNode('web', 'n1', { verdict: 'Unfit', capacity: changed.value, capacitySource: 'Spec', percent: 40 });
    // The watch may be behind.
    const isNew = ({ capacity }: NodeStatus): boolean => capacity === changed.value;
    await vi.waitFor(() => expect(seen.some(isNew)).toBe(true), WAIT);
    await unfollow();
    expect(Math.abs(Number(seen.find(isNew)?.currentBandwidthPercent) / 40 - 1)).toBeLessThan(TOLERANCE);
    await setCapacity('web', null);
    await expectNode('web', 'n1', { capacity: '1Gbit', capacitySource: 'Series', percent: 50 });
    await setCapacity('web', [BIG]);
    await expectNode('web', 'n1', { verdict: 'Fit', capacity: '10Gbit', capacitySource: 'Spec', percent: 5 });
    await expectNode('api', 'n1', { capacity: '625Mbit', capacitySource: 'Spec', percent: 80 });
  });

  it.each([
    ['Transmit', 50],
    ['Receive', 25],
    ['Max', 50],
    ['Sum', 75],
  ] as const)('is the capacity of each direction: %s', async (direction, percent) => {
    const name = direction.toLowerCase();
    await f.createWatch(name, { ...THRESHOLD, direction, capacity: [{ value: '1Gbit' }] });
    await expectNode(name, 'n2', { capacity: '1Gbit', capacitySource: 'Spec', percent });
    await f.deleteWatch(name);
  });

  it('is the capacity of the whole node with the measure Fullest, and a device by its own speed can be fuller', async () => {
    await f.createWatch('fullest', { ...THRESHOLD, measure: 'Fullest', capacity: [{ value: '10Gbit' }] });
    await expectNode('fullest', 'n1', { capacity: '10Gbit', capacitySource: 'Spec', percent: 5 });
    await expectNode('fullest', 'n2', { capacity: '1Gbit', capacitySource: 'Series', percent: 50 });
    await setCapacity('fullest', [{ value: '625Mbit' }]);
    await expectNode('fullest', 'n2', { capacity: '625Mbit', capacitySource: 'Spec', percent: 80 });
    await f.deleteWatch('fullest');
  });

  it('is counted by TrafficWatch and source', async () => {
    await vi.waitFor(async () => {
      const metrics = await metricsOf(f.operator());
      const count = (trafficwatch: string, source: string) =>
        metrics.sum('trafficwatch_capacity_source_nodes', { trafficwatch, source });
      expect([count('web', 'Spec'), count('web', 'Series'), count('api', 'Spec')]).toEqual([1, 1, 2]);
      expect([count('plain', 'Spec'), count('plain', 'Series')]).toEqual([0, 2]);
    }, WAIT);
  });
});

describe('the API server', () => {
  it.each<[why: string, capacity: unknown, message: RegExp]>([
    ['no unit', [{ value: '10' }], /capacity\[0\]\.value.*must be a decimal number above 0 with one of the units/],
    ['bytes or bits is not clear', [{ value: '10Gbps' }], /capacity\[0\]\.value.*must be a decimal number above 0/],
    ['zero', [{ value: '0Gbit' }], /capacity\[0\]\.value.*must be a decimal number above 0/],
    ['no value', [{ nodeSelector: inPool('a') }], /capacity\[0\]\.value: Required/],
    ['an entry that is never used', [{ value: '1Gbit' }, BIG], /capacity.*must be the last: it matches every node/],
    ['the same, empty', [{ nodeSelector: { matchLabels: {} }, value: '1Gbit' }, BIG], /capacity.*must be the last/],
    [
      'not a label',
      [{ nodeSelector: inPool('a b'), value: '1Gbit' }],
      /nodeSelector\.matchLabels.*must be a label value/,
    ],
    [
      'our label',
      [{ nodeSelector: { matchLabels: { 'web.traffic.example.com/unfit': 'true' } }, value: '1Gbit' }],
      /the verdicts would decide the capacity/,
    ],
    ['too many', Array.from({ length: 17 }, () => BIG), /capacity.*must have at most 16 items/],
  ])('refuses it and says what is allowed: %s', async (_why, capacity, message) => {
    const spec = { ...THRESHOLD, capacity: capacity as NonNullable<TrafficWatchSpec['capacity']> };
    await expect(f.createWatch('refused', spec)).rejects.toMatchObject({
      message: expect.stringMatching(message) as string,
    });
  });
});
