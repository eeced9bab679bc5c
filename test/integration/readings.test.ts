import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { NodeStatus } from '../../src/api/trafficwatch/statusSchema.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** Tests the bandwidth use of a node, on a real API server and Prometheus. */
const WAIT = { timeout: 90_000, interval: 200 };
const THRESHOLD = { maxBandwidthPercent: '60' };
/** rate() extrapolates, and scrapes are late on a busy machine. */
const TOLERANCE = 0.2;

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  f.exporter.setDevice('n1', 'eth0', { sends: 1, receives: 80 });
  await f.startOperator();
});
afterAll(() => f.stop());

async function nodeOf(watch: string, node = 'n1'): Promise<NodeStatus | undefined> {
  return (await f.watch(watch)).status?.nodes?.[node];
}

async function expectNode(watch: string, expected: { verdict: string; percent: number }, name = 'n1'): Promise<void> {
  await vi.waitFor(async () => {
    const node = await nodeOf(watch, name);
    const [verdict, percent] = [
      node?.verdict,
      Number(node?.currentBandwidthPercent === '' ? NaN : node?.currentBandwidthPercent),
    ];
    expect([
      watch,
      verdict,
      percent > expected.percent * (1 - TOLERANCE),
      percent < expected.percent * (1 + TOLERANCE),
    ]).toEqual([watch, expected.verdict, true, true]);
  }, WAIT);
}

interface Counts {
  passes: number;
  /** Queries for receive rates. */
  received: number;
}

async function counts(): Promise<Counts> {
  const metrics = await metricsOf(f.operator());
  return {
    passes: metrics.sum('passes_total'),
    received: metrics.sum('prometheus_query_duration_seconds_count', { kind: 'receive_rates' }),
  };
}

/** The queries for receive rates in the next three passes or more. */
async function receivedInPasses(): Promise<Counts> {
  const before = await counts();
  return vi.waitFor(async () => {
    const now = await counts();
    const passes = now.passes - before.passes;
    expect(passes).toBeGreaterThanOrEqual(3);
    return { passes, received: now.received - before.received };
  }, WAIT);
}

describe('direction', () => {
  const DIRECTIONS = ['Transmit', 'Receive', 'Max', 'Sum'] as const;

  it('decides which traffic makes a node unfit: load that is only received', async () => {
    for (const direction of DIRECTIONS) await f.createWatch(direction.toLowerCase(), { ...THRESHOLD, direction });
    await Promise.all([
      expectNode('receive', { verdict: 'Unfit', percent: 80 }),
      expectNode('max', { verdict: 'Unfit', percent: 80 }),
      expectNode('sum', { verdict: 'Unfit', percent: 81 }),
      expectNode('transmit', { verdict: 'Fit', percent: 1 }),
    ]);
    const labels = await Promise.all(
      DIRECTIONS.map(async (direction) => (await f.labels(unfitKey(direction.toLowerCase()))).n1),
    );
    expect(labels).toEqual(['false', 'true', 'true', 'true']);
    expect((await f.events('transmit')).map(({ reason }) => reason)).not.toContain('NodeUnfit');
  });

  it('is a label of the metrics', async () => {
    const metrics = await metricsOf(f.operator());
    const info = (direction: string): number =>
      metrics.sum('trafficwatch_info', { trafficwatch: 'receive', direction });
    expect([info('Receive'), info('Transmit')]).toEqual([1, 0]);
  });

  it('has no figure for a node whose exporter has no counter of received bytes', async () => {
    await vi.waitFor(async () => {
      expect(await nodeOf('receive', 'n2')).toMatchObject({ verdict: 'Unknown', reason: 'StaleSamples' });
      expect(await nodeOf('receive', 'n2')).toMatchObject({ currentBandwidthPercent: '', unfit: false });
      expect(await nodeOf('transmit', 'n2')).toMatchObject({ verdict: 'Fit' });
    }, WAIT);
    expect((await f.labels(unfitKey('receive'))).n2).toBeUndefined();
  });

  it('asks for receive rates once a pass for all TrafficWatches, and not at all without demand', async () => {
    const shared = await receivedInPasses();
    // A pass may be under way at either end.
    expect(shared.received).toBeGreaterThan(0);
    expect(shared.received).toBeLessThanOrEqual(shared.passes + 1);
    await f.patchWatch('receive', { spec: { direction: null } });
    await Promise.all([f.deleteWatch('max'), f.deleteWatch('sum')]);
    await vi.waitFor(async () => expect((await receivedInPasses()).received).toBe(0), WAIT);
    await expectNode('receive', { verdict: 'Fit', percent: 1 });
  });
});

describe('measure', () => {
  const NIC_10G = 1_250_000_000;
  const NIC_25G = 3_125_000_000;

  it('Sum is 27 % of a full 10G device and an idle 25G one, and the message of the node names it; Fullest is 95 %', async () => {
    await f.addNode('dual');
    f.exporter.setDevice('dual', 'eth0', { speed: NIC_10G, sends: 95 });
    f.exporter.setDevice('dual', 'eth1', { speed: NIC_25G, sends: 0 });
    await f.createWatch('together', { ...THRESHOLD, measure: 'Sum' });
    await f.createWatch('fullest', { ...THRESHOLD, measure: 'Fullest' });
    await Promise.all([
      expectNode('together', { verdict: 'Fit', percent: 27 }, 'dual'),
      expectNode('fullest', { verdict: 'Unfit', percent: 95 }, 'dual'),
    ]);
    const labels = ['together', 'fullest'].map(async (name) => (await f.labels(unfitKey(name))).dual);
    expect(await Promise.all(labels)).toEqual(['false', 'true']);
    await vi.waitFor(async () => {
      expect((await nodeOf('together', 'dual'))?.message).toMatch(/^eth0 is at \d+\.\d %, the node at 2/);
    }, WAIT);
    expect(await nodeOf('fullest', 'dual')).not.toHaveProperty('message');
    expect(await nodeOf('together')).not.toHaveProperty('message');
  });
});

describe('devices', () => {
  it('exclude and include choose among the devices that count', async () => {
    await f.addNode('storage');
    f.exporter.setDevice('storage', 'eth0', { sends: 5 });
    f.exporter.setDevice('storage', 'eth1', { sends: 95, speed: 125_000_000 });
    await f.createWatch('without', { ...THRESHOLD, devices: { exclude: 'eth1' } });
    await f.createWatch('only', { ...THRESHOLD, devices: { include: 'eth1|bond.*' } });
    await f.createWatch('every', THRESHOLD);
    await Promise.all([
      expectNode('without', { verdict: 'Fit', percent: 5 }, 'storage'),
      expectNode('only', { verdict: 'Unfit', percent: 95 }, 'storage'),
      expectNode('every', { verdict: 'Fit', percent: 50 }, 'storage'),
    ]);
  });

  it('that leave none make a node Unknown, with a reason that says so', async () => {
    await vi.waitFor(async () => {
      expect(await nodeOf('only')).toMatchObject({ verdict: 'Unknown', reason: 'NoDeviceSelected' });
    }, WAIT);
    await vi.waitFor(async () => {
      const { conditions = [] } = (await f.watch('only')).status ?? {};
      expect(conditions.find(({ type }) => type === 'MetricsAvailable')?.message).toContain('n1 (NoDeviceSelected)');
    }, WAIT);
  });

  it('that are no pattern of RE2 stall this TrafficWatch, with field, value and rule; others go on', async () => {
    await f.createWatch('invalid', { ...THRESHOLD, devices: { exclude: '(?=eth)eth1' } });
    await vi.waitFor(async () => {
      const { conditions = [] } = (await f.watch('invalid')).status ?? {};
      expect(conditions.find(({ type }) => type === 'Stalled')).toMatchObject({
        status: 'True',
        reason: 'InvalidSpec',
        message: expect.stringMatching(/^spec\.devices\.exclude is "\(\?=eth\)eth1": must be .* RE2/) as string,
      });
    }, WAIT);
    f.exporter.setDevice('storage', 'eth0', { sends: 90 });
    await expectNode('without', { verdict: 'Unfit', percent: 90 }, 'storage');
    await f.patchWatch('invalid', { spec: { devices: { exclude: 'eth1' } } });
    await expectNode('invalid', { verdict: 'Unfit', percent: 90 }, 'storage');
  });
});
