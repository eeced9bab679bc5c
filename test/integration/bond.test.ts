import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { NodeStatus } from '../../src/api/trafficwatch/nodeStatus.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { startNodeExporter } from '../harness/nodeExporter.ts';
import { startPrometheus } from '../harness/prometheus.ts';
import { createKernelTree, type KernelTree } from '../harness/usageExporters.ts';

/** The capacity of a node with a bond, as a real node_exporter reads it from a kernel's tree. */
const WAIT = { timeout: 90_000, interval: 200 };
const KEY = 'web.traffic.example.com/unfit';
const SLAVE = 0x1803;
const MASTER = 0x1443;
/** Bytes per second: 40 % of 20 Gbit/s. */
const RATE = 1e9;

let f: Fixture;
let tree: KernelTree;
const started: { stop(): Promise<unknown> }[] = [];
beforeAll(async () => {
  f = await startFixture({ nodes: ['bonded'] });
  tree = await createKernelTree({
    eth0: { ifindex: 2, flags: SLAVE, speed: 10_000, rate: RATE / 2 },
    eth1: { ifindex: 3, flags: SLAVE, speed: 10_000, rate: RATE / 2 },
    bond0: { ifindex: 4, flags: MASTER, speed: 20_000, rate: RATE },
    eth2: { ifindex: 5, speed: 1000, rate: 0 },
  });
  const exporter = await startNodeExporter({ flags: tree.flags });
  const job = { job_name: 'bonded', static_configs: [{ targets: [exporter.address], labels: { node: 'bonded' } }] };
  const prometheus = await startPrometheus({
    config: { global: { scrape_interval: '1s', scrape_timeout: '1s' }, scrape_configs: [job] },
  });
  started.push(prometheus, exporter, tree);
  await f.startOperator([], { prometheusUrl: prometheus.url });
  await f.createWatch('web', { maxBandwidthPercent: '60', devices: { include: 'bond.*' } });
  await f.createWatch('all', { maxBandwidthPercent: '60' });
});
afterAll(async () => {
  await f.stop();
  for (const each of started) await each.stop();
});

async function expectNode(watch: string, expected: Partial<NodeStatus>): Promise<void> {
  await vi.waitFor(async () => expect((await f.watch(watch)).status?.nodes?.bonded).toMatchObject(expected), WAIT);
}

describe('a node with a bond', () => {
  it('has the capacity of the active slaves, and says so', async () => {
    await expectNode('web', { verdict: 'Fit', capacity: '20Gbit', capacitySource: 'ActiveSlaves' });
    await expectNode('all', { verdict: 'Fit', capacity: '21Gbit', capacitySource: 'ActiveSlaves' });
  });

  it('has half the capacity when the bond loses a slave', async () => {
    await tree.setSpeeds({ bond0: 10_000, eth1: -1 });
    await expectNode('web', {
      verdict: 'Unfit',
      reason: 'CapacityFell',
      capacity: '10Gbit',
      capacitySource: 'ActiveSlaves',
    });
  });

  it('has none while the bond has traffic and no speed, although a slave and another NIC have one', async () => {
    await tree.setSpeeds({ bond0: -1 });
    for (const watch of ['web', 'all']) await expectNode(watch, { verdict: 'Unknown', reason: 'NoCapacity' });
    expect((await f.watch('all')).status?.nodes?.bonded).not.toHaveProperty('capacity');
    expect(await f.labels(KEY)).toEqual({ bonded: 'true' });
  });

  it('has the capacity that the spec states, whatever the speed is', async () => {
    await f.patchWatch('web', { spec: { capacity: [{ value: '16Gbit' }] } });
    await expectNode('web', { verdict: 'Fit', capacity: '16Gbit', capacitySource: 'Spec' });
    await f.patchWatch('web', { spec: { capacity: null } });
  });

  it('has the whole capacity again when the slave is back', async () => {
    await tree.setSpeeds({ bond0: 20_000, eth1: 10_000 });
    await expectNode('web', { verdict: 'Fit', capacity: '20Gbit', capacitySource: 'ActiveSlaves' });
  });
});
