import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { annotated } from '../../src/nodes/statedCapacity.ts';
import { PrometheusError } from '../../src/prometheus/prometheusError.ts';
import type { NodeUsage } from '../../src/usage/evaluate/percent.ts';
import { windowIsTooShort } from '../../src/usage/evaluate/snapshot.ts';
import { until } from '../harness/measured.ts';
import { numberOf } from './serversQuestion.ts';
import { expectPercent, snapshotWhen } from './usageSnapshot.ts';
import { NODES, SAMPLES, startUsageWorld } from './usageWorld.ts';
import type { UsageWorld } from './usageWorld.ts';

const MEASURED = ['sound', 'idle-without-speed', 'pods', 'veth-uplink', 'macvlan-uplink', 'free-names'];

let world: UsageWorld;

beforeAll(async () => {
  world = await startUsageWorld();
});
afterAll(() => world.stop());

describe('a real Prometheus over counters that are known', () => {
  it('gives each node its own percent or its own reason', async () => {
    const { nodes, unmatchedSeries, timeSeconds } = await snapshotWhen(
      { url: world.url, job: 'samples', nodes: { ...NODES, absent: {} } },
      ({ nodes }) => MEASURED.forEach((name) => expectPercent(nodes.get(name), 10)),
    );
    expect(nodes.get('pods')?.devices).toEqual(['eth0']);
    expect(nodes.get('veth-uplink')?.devices).toEqual(['veth7a1']);
    expect(nodes.get('macvlan-uplink')?.devices).toEqual(['macvlan0']);
    expect(nodes.get('free-names')?.devices).toEqual(['eth0']);
    const reasons = Object.fromEntries([...nodes].map(([name, { reason }]) => [name, reason]));
    expect(reasons).toMatchObject({
      down: 'NoCapacity',
      half: 'NoCapacity',
      zero: 'NoCapacity',
      speedless: 'NoCapacity',
      'nan-speed': 'NoCapacity',
      nan: 'InvalidSample',
      infinite: 'InvalidSample',
      'two-veths': 'AmbiguousUplink',
      absent: 'NoSeries',
    });
    expect(nodes.get('sound')?.timeSeconds).toBe(timeSeconds);
    expect(unmatchedSeries).toBe(0);
  });
});

describe('series that are not one for each device', () => {
  const a = { a: {} };
  const measured = ({ nodes }: { nodes: ReadonlyMap<string, NodeUsage> }) => expectPercent(nodes.get('a'), 10);
  const ambiguous = ({ nodes }: { nodes: ReadonlyMap<string, NodeUsage> }) =>
    expect(nodes.get('a')).toMatchObject({ reason: 'AmbiguousSeries' });

  it("are ambiguous when another cluster's node has the same name, until a matcher tells them apart", async () => {
    const { nodes } = await snapshotWhen({ url: world.url, job: 'twice', nodes: a }, ambiguous);
    expect(nodes.get('a')?.message).toContain('cluster=');
    // A value that would end the string, the braces and the query if it were not escaped.
    const query = { matchers: [{ name: 'cluster', op: '=' as const, value: 'y"\\{' }] };
    await snapshotWhen({ url: world.url, job: 'twice', nodes: a, query }, measured);
  });

  it('are ambiguous when two exporters run on a node', async () => {
    const { nodes } = await snapshotWhen({ url: world.url, job: 'exporters', nodes: a }, ambiguous);
    expect(nodes.get('a')?.message).toContain('"a:9100", "a:9796"');
  });

  it('are none as native histograms, which have no slope', async () => {
    // So that there are samples to ignore.
    const isScraped = `count(count_over_time({__name__="node_network_transmit_bytes_total",job="histogram"}[10s]) > 2)`;
    await until('the histograms are scraped', async () => (await numberOf(world.url, isScraped)) > 0);
    await snapshotWhen({ url: world.url, job: 'histogram', nodes: a }, ({ nodes }) =>
      expect(nodes.get('a')).toMatchObject({ reason: 'NoSeries' }),
    );
  });
});

describe('series with nothing but an instance', () => {
  it('belong to the node with that name or address; the others are counted and named', async () => {
    const nodes = {
      'node-a': { addresses: ['10.0.0.1', '10.0.0.9'] },
      'node-b': { addresses: ['fd00:0::2', '10.0.0.9'] },
      'node-c': {},
    };
    const snapshot = await snapshotWhen({ url: world.url, job: 'instances', nodes }, (now) => {
      for (const name of Object.keys(nodes)) expectPercent(now.nodes.get(name), 10);
    });
    expect(snapshot).toMatchObject({ unmatchedSeries: 1, ambiguousSeries: 1 });
    expect(snapshot.unmatchedExamples).toEqual([expect.stringContaining('10.0.0.77')]);
    expect(snapshot.ambiguousExamples).toEqual([expect.stringContaining('10.0.0.9:9100')]);
  });
});

describe('a real node_exporter', () => {
  it('of a machine with a bond and VLANs: the bond counts, once', async () => {
    const { nodes } = await snapshotWhen({ url: world.url, job: 'by-hand', nodes: { a: {} } }, ({ nodes }) =>
      // 1e6 B/s of 200 Mbit/s
      expectPercent(nodes.get('a'), 4),
    );
    expect(nodes.get('a')).toMatchObject({ devices: ['bond0'], capacityBytesPerSecond: 25e6 });
  });

  it('of this machine: its uplink counts, with a capacity that need not be known', async () => {
    const nodes = { a: { capacity: annotated('10Gbit') } };
    const snapshot = await snapshotWhen({ url: world.url, job: 'real', nodes }, ({ nodes }) =>
      expect(nodes.get('a')).toMatchObject({ reason: 'Measured', capacityBytesPerSecond: 1.25e9 }),
    );
    const { devices, transmitBytesTotal } = snapshot.nodes.get('a')!;
    expect(devices.length).toBeGreaterThan(0);
    expect(devices).not.toContain('lo');
    expect(Number.isSafeInteger(transmitBytesTotal)).toBe(true);
  });
});

describe('missing data', () => {
  it('are no number: a node whose exporter ends is stale, then without series', async () => {
    const mortal = SAMPLES.sound!;
    const seen: string[] = [];
    const numbers: unknown[] = [];
    // Stale for as long as the window: long enough to be met by a pass of a busy machine.
    const query = { windowSeconds: 20 };
    await snapshotWhen({ url: world.url, job: 'samples', nodes: { sound: {} }, query }, ({ nodes }) => {
      const { reason, percent } = nodes.get('sound')!;
      if (reason !== 'Measured') numbers.push(percent);
      if (reason === 'Measured') SAMPLES.sound = () => '';
      if (SAMPLES.sound !== mortal && seen.at(-1) !== reason) seen.push(reason);
      expect(seen.at(-1)).toBe('NoSeries');
    });
    expect(seen).toEqual(['Measured', 'StaleSamples', 'NoSeries']);
    expect(new Set(numbers)).toEqual(new Set([undefined]));
    SAMPLES.sound = mortal;
    await snapshotWhen({ url: world.url, job: 'samples', nodes: { sound: {} } }, ({ nodes }) =>
      expectPercent(nodes.get('sound'), 10),
    );
  });

  it('are never below 0 when counters begin again', async () => {
    let passes = 0;
    await snapshotWhen({ url: world.url, job: 'samples', nodes: { reset: {} } }, ({ nodes }) => {
      const { percent = 0 } = nodes.get('reset')!;
      if (percent < 0) throw new Error(`${percent} %`);
      expect(++passes).toBeGreaterThan(20);
    });
  });
});

describe('a window', () => {
  it('is too short when it holds two scrapes, and is not when it holds eight', async () => {
    const query = { windowSeconds: 2 };
    const [short] = await Promise.all([
      snapshotWhen({ url: world.url, job: 'slow', nodes: { a: {} }, query }, ({ samplesPerWindow }) =>
        expect(samplesPerWindow).toBeGreaterThan(1),
      ),
      // Scrapes that were late are fewer.
      snapshotWhen({ url: world.url, job: 'samples', nodes: { a: {} }, query }, (long) =>
        expect([windowIsTooShort(long), (long.samplesPerWindow ?? 0) > 4]).toEqual([false, true]),
      ),
    ]);
    expect(windowIsTooShort(short)).toBe(true);
  });
});

describe('time', () => {
  it("is the server's: a clock that is an hour behind changes nothing", async () => {
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: now - 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const asked = { url: world.url, job: 'samples', nodes: { sound: {} } };
    const { timeSeconds } = await snapshotWhen(asked, ({ nodes }) => expectPercent(nodes.get('sound'), 10));
    expect(Math.abs(timeSeconds! - now / 1000)).toBeLessThan(600);
  });
});

describe('questions', () => {
  it('about very many nodes without series are taken by Prometheus, long as they are', async () => {
    const many = Array.from({ length: 600 }, (_, n) => [
      `node-${n}.${'long'.repeat(10)}`,
      { addresses: [`10.1.${n >> 8}.${n & 255}`] },
    ]);
    const { nodes, infos } = await snapshotWhen(
      { url: world.url, job: 'samples', nodes: { ...(Object.fromEntries(many) as object), sound: {} } },
      ({ nodes }) => expectPercent(nodes.get('sound'), 10),
    );
    expect([nodes.size, infos]).toEqual([601, []]);
  });

  it('that Prometheus can not answer fail the pass with what it says', async () => {
    const query = { excludedDevices: '(?=lookahead)' };
    const { error } = await snapshotWhen({ url: world.url, nodes: {}, query }, ({ ok }) => expect(ok).toBe(false));
    expect(error).toMatchObject({ reason: 'QueryFailed' });
    expect(error?.message).toMatch(/^bad_data: .*parse/);
  });

  it('that make no sense are refused before they are asked', async () => {
    const query = { windowSeconds: -1 };
    await expect(snapshotWhen({ url: world.url, nodes: {}, query }, () => undefined)).rejects.toThrow(PrometheusError);
  });
});
