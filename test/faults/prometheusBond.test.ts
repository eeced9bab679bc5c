import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { startNodeExporter } from '../harness/nodeExporter.ts';
import { startPrometheus } from '../harness/prometheus.ts';
import { createKernelTree, type KernelTree } from '../harness/usageExporters.ts';
import { measured, seconds } from '../harness/measured.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** A bond of two 10 Gbit/s NICs that loses one, as a real node_exporter reads it from a kernel's tree. */
const WAIT = { timeout: 90_000, interval: 100 };
const KEY = unfitKey('web');
/** Bytes per second: 40 % of both, 80 % of one. */
const RATE = 1e9;
const SLAVE = 0x1803;

let f: Fixture;
let tree: KernelTree;
const started: { stop(): Promise<unknown> }[] = [];
beforeAll(async () => {
  f = await startFixture({ nodes: ['bonded', 'other'] });
  f.exporter.remove('bonded');
  tree = await createKernelTree({
    eth0: { ifindex: 2, flags: SLAVE, speed: 10_000, rate: RATE / 2 },
    eth1: { ifindex: 3, flags: SLAVE, speed: 10_000, rate: RATE / 2 },
    bond0: { ifindex: 4, flags: 0x1443, speed: 20_000, rate: RATE },
  });
  const exporter = await startNodeExporter({ flags: tree.flags });
  const prometheus = await startPrometheus({ config: configOf(exporter.address) });
  started.push(prometheus, exporter, tree);
  await f.startOperator([], { prometheusUrl: prometheus.url });
  await f.createWatch('web', { maxBandwidthPercent: '60' });
  await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({ bonded: 'false', other: 'false' }), WAIT);
});
afterAll(async () => {
  await f.stop();
  for (const each of started) await each.stop();
});

function configOf(exporter: string) {
  const job = (name: string, target: string, labels = {}) => ({
    job_name: name,
    static_configs: [{ targets: [target], labels }],
    honor_labels: true,
  });
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: [job('bonded', exporter, { node: 'bonded' }), job('other', f.exporter.target)],
  };
}

async function told() {
  const { status } = await f.watch('web');
  const remark = status?.conditions?.find(({ type }) => type === 'MetricsAvailable')?.message;
  return { node: status?.nodes?.bonded, remark };
}

describe('a bond that loses a slave', () => {
  it('counts with what it has from then on, and the reason names it', async () => {
    const begin = performance.now();
    await tree.setSpeeds({ bond0: 10_000, eth1: -1 });
    await vi.waitFor(async () => expect(await f.labels(KEY)).toEqual({ bonded: 'true', other: 'false' }), WAIT);
    measured(`a bond that lost half of its speed: unfit after ${seconds(performance.now() - begin)}`);
    await vi.waitFor(async () => {
      const { node, remark } = await told();
      expect(node).toMatchObject({ verdict: 'Unfit', reason: 'CapacityFell' });
      expect(remark).toContain('all nodes have data; bonded: capacity fell from 20Gbit to 10Gbit (bond0)');
    }, WAIT);
    measured(`a bond that lost half of its speed: named after ${seconds(performance.now() - begin)}`);
  });

  it('is as it was when the slave is back', async () => {
    await tree.setSpeeds({ bond0: 20_000, eth1: 10_000 });
    await vi.waitFor(async () => {
      expect(await f.labels(KEY)).toEqual({ bonded: 'false', other: 'false' });
      const { node, remark } = await told();
      expect(node).toMatchObject({ verdict: 'Fit', reason: 'BelowThreshold' });
      expect(remark).toMatch(/^all nodes have data; no drivers reported for bonded, other: /);
    }, WAIT);
  });
});
