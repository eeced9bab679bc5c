import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished, vi } from 'vitest';
import { binary } from '../lab/binaries.ts';
import { start } from '../harness/process.ts';
import { startPrometheus } from '../harness/prometheus.ts';
import { startTextExporter } from '../harness/usageExporters.ts';
import { snapshotWhen } from './usageSnapshot.ts';

const run = promisify(execFile);
/** In a network of its own: the kernel knows no speed of a bridge without ports, here with the name of a NIC. */
const WITH_BRIDGE =
  'ip link set lo up && ip link add eth0 type bridge && ip link set eth0 up && exec setpriv --pdeathsig KILL "$0" "$@"';
/** Reads speeds by netlink, as on OpenShift and AKS. */
const FLAGS = [
  '--web.listen-address=127.0.0.1:9100',
  '--collector.disable-defaults',
  '--collector.netdev',
  '--collector.netclass',
  '--collector.netclass.netlink',
];
const GET = "process.stdout.write(await (await fetch('http://127.0.0.1:9100/metrics')).text())";
/** Bytes per second. With the sentinel as its speed, the node would be at 0.0002 %. */
const RATE = 1e9;

/** The metrics of a node_exporter next to the bridge. */
async function scrapeBesideBridge(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-netlink-'));
  const program = await binary('node_exporter');
  const inNetwork = ['--user', '--map-root-user', '--net', 'sh', '-c', WITH_BRIDGE, program, ...FLAGS];
  const exporter = start('unshare', inNetwork, join(directory, 'log'));
  try {
    const namespaces = ['--target', String(exporter.pid), '--user', '--preserve-credentials', '--net'];
    const get = [...namespaces, process.execPath, '--input-type=module', '--eval', GET];
    return await vi.waitFor(
      async () => {
        exporter.check();
        return (await run('nsenter', get)).stdout;
      },
      { timeout: 60_000, interval: 200 },
    );
  } finally {
    await exporter.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

it('a speed that netlink does not know is none: the node is Unknown, and the message quotes the speed', async () => {
  const text = await scrapeBesideBridge();
  expect(text).toContain('node_network_speed_bytes{device="eth0"} 5.36870911875e+14');
  const exporter = await startTextExporter();
  onTestFinished(() => exporter.stop());
  exporter.text = (seconds) =>
    text.replace(/^(node_network_transmit_bytes_total\{device="eth0"\}) .*$/m, `$1 ${Math.trunc(seconds * RATE)}`);
  const scrape = { job_name: 'netlink', static_configs: [{ targets: [exporter.address], labels: { node: 'a' } }] };
  const global = { scrape_interval: '250ms', scrape_timeout: '250ms' };
  const prometheus = await startPrometheus({ config: { global, scrape_configs: [scrape] } });
  onTestFinished(() => prometheus.stop());
  const { nodes } = await snapshotWhen({ url: prometheus.url, nodes: { a: {} } }, ({ nodes }) =>
    expect(nodes.get('a')?.reason).toMatch(/^(?:Measured|NoCapacity)$/),
  );
  const usage = nodes.get('a');
  expect(usage).toMatchObject({ reason: 'NoCapacity' });
  expect(usage).not.toHaveProperty('percent');
  expect(usage?.message).toContain('eth0: speed 536870911875000');
});
