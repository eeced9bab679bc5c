import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { exporterArgs } from '../../src/controllers/measurement/components/exporter.ts';
import { KEPT_METRICS } from '../../src/controllers/measurement/components/prometheusConfig.ts';
import { defaultMeasurementOptions } from '../../src/controllers/measurement/options.ts';
import type { ExporterOptions } from '../../src/controllers/measurement/options.ts';
import { binary } from '../lab/binaries.ts';
import { startNodeExporter } from '../harness/nodeExporter.ts';
import { freePorts, start, whenReady } from '../harness/process.ts';
import type { RunningProcess } from '../harness/process.ts';

const DEFAULTS = defaultMeasurementOptions('traffic-operator-system').exporter;
/** As the container has it: nobody, without a capability or a way to one. Only root can become that. */
const AS_NOBODY = ['--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs', '--bounding-set=-all'];

/** Other tests add and remove devices of this machine. One that goes during a scrape makes a collector fail: the next scrape is as good. */
const SCRAPES = { timeout: 60_000, interval: 200 };

let directory: string;
let program: string;
let running: RunningProcess | undefined;

/** Runs node_exporter with the arguments of the DaemonSet; answers with what it says on /metrics, by line. */
async function scrape(ip: string, options: Partial<ExporterOptions> = {}): Promise<string[]> {
  await running?.stop();
  const [port] = (await freePorts(1)) as [number];
  // What the kubelet does with the container's environment.
  const args = exporterArgs({ ...DEFAULTS, port, ...options }).map((arg) => arg.replace('$(IP)', ip));
  const drop = process.getuid?.() === 0 ? AS_NOBODY : [];
  await rm(join(directory, 'log'), { force: true });
  running = start('setpriv', [...drop, program, ...args], join(directory, 'log'));
  const url = `http://${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
  await whenReady('node_exporter', running, async () => (await fetch(url)).ok);
  const text = await (await fetch(`${url}/metrics`)).text();
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

function devices(): string[] {
  return execFileSync('ls', ['/sys/class/net'], { encoding: 'utf8' }).trim().split(/\s+/);
}

function nameOf(line: string): string {
  return /^[a-z_]+/.exec(line)![0];
}

describe('node_exporter with the arguments of the DaemonSet', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'traffic-exporter-'));
    await chmod(directory, 0o755);
    program = join(directory, 'node_exporter');
    await copyFile(await binary('node_exporter'), program);
  });
  afterEach(async () => {
    await running?.stop();
    running = undefined;
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('says what the bandwidth is worked out from, of every device, to a process that may do nothing', async () => {
    await vi.waitFor(async () => {
      const lines = await scrape('127.0.0.1');
      const counted = lines.filter((line) => line.startsWith('node_network_transmit_bytes_total{'));
      expect(counted.map((line) => /device="([^"]+)"/.exec(line)![1]!).sort()).toEqual(
        devices()
          .filter((name) => !new RegExp(DEFAULTS.ignoredDevices).test(name))
          .sort(),
      );
      // A speed or a driver is not known of every device: on a machine with none of either there is no such series.
      const always = KEPT_METRICS.filter((name) => !/speed|ethtool/.test(name));
      expect(always.filter((name) => !lines.some((line) => nameOf(line) === name))).toEqual([]);
    }, SCRAPES);
  });

  it('runs the collectors that are needed, successfully, and says nothing of itself', async () => {
    await vi.waitFor(async () => {
      const lines = await scrape('127.0.0.1');
      const success = lines.filter((line) => line.startsWith('node_scrape_collector_success'));
      expect(success.sort()).toEqual(
        ['ethtool', 'netclass', 'netdev'].map((name) => `node_scrape_collector_success{collector="${name}"} 1`),
      );
      const others = lines.map(nameOf).filter((name) => !/^node_(network|ethtool_info|scrape|exporter)/.test(name));
      expect(others).toEqual([]);
      expect(await readFile(join(directory, 'log'), 'utf8')).not.toContain('level=ERROR');
    }, SCRAPES);
  });

  it.each(['veth0', 'macvlan0', 'eth0', 'ipvlan1', 'br-ex', 'enp3s0f0', 'enx00e04c680001', 'ib0', 'bond0.100'])(
    'reads %s, which may be an uplink or tell of one',
    (name) => {
      expect(new RegExp(DEFAULTS.ignoredDevices).test(name)).toBe(false);
    },
  );

  it('leaves out the devices that are to be ignored, in every collector', async () => {
    const lines = await scrape('127.0.0.1', { ignoredDevices: '^lo$' });
    expect(lines.filter((line) => line.includes('device="lo"'))).toEqual([]);
  });

  it.runIf(Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1')))(
    'listens on an IPv6 address as well',
    async () => {
      expect((await scrape('::1')).length).toBeGreaterThan(0);
    },
  );
});

/**
 * The device pattern that OpenShift's monitoring gives node_exporter (pkg/manifests of
 * github.com/openshift/cluster-monitoring-operator), without its other collectors.
 */
const EXCLUDED = '^(veth.*|[a-f0-9]{15}|enP.*|ovn-k8s-mp[0-9]*|br-ex|br-int|br-ext|br[0-9]*|tun[0-9]*|cali[a-f0-9]*)$';
const FLAGS = [
  '--collector.disable-defaults',
  '--collector.netdev',
  `--collector.netdev.device-exclude=${EXCLUDED}`,
  '--collector.netclass',
  '--collector.netclass.netlink',
  `--collector.netclass.ignored-devices=${EXCLUDED}`,
];

it('node_exporter as in OpenShift says what the bandwidth is worked out from, but no drivers', async () => {
  const exporter = await startNodeExporter({ flags: FLAGS });
  onTestFinished(() => exporter.stop());
  await vi.waitFor(async () => {
    const text = await (await fetch(`${exporter.url}/metrics`)).text();
    const names = new Set(text.split('\n').map((line) => /^node_[a-z_]+/.exec(line)?.[0]));
    // A speed is not known of every device: on a machine without one there is no such series.
    const always = KEPT_METRICS.filter((name) => !/speed|ethtool/.test(name));
    expect(always.filter((name) => !names.has(name))).toEqual([]);
    expect(names.has('node_ethtool_info')).toBe(false);
    const counted = [...text.matchAll(/^node_network_transmit_bytes_total{device="([^"]+)"}/gm)].map(
      ([, name]) => name,
    );
    expect(counted.sort()).toEqual(
      devices()
        .filter((name) => !new RegExp(EXCLUDED).test(name))
        .sort(),
    );
  }, SCRAPES);
});
