import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { V1EndpointSlice } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { exporterArgs, METRICS_PORT } from '../../src/controllers/measurement/components/exporter.ts';
import { configFiles } from '../../src/controllers/measurement/components/prometheus.ts';
import { KEPT_METRICS, TARGETS_DIRECTORY } from '../../src/controllers/measurement/components/prometheusConfig.ts';
import { renderTargetFiles, targetsOf } from '../../src/controllers/measurement/model/discovery.ts';
import type { Target } from '../../src/controllers/measurement/model/discovery.ts';
import { renderOperatorTargets, type OperatorTarget } from '../../src/controllers/measurement/decide/operatorPods.ts';
import { OPERATOR_FILE, targetsFile } from '../../src/controllers/measurement/names.ts';
import { defaultMeasurementOptions, type MeasurementOptions } from '../../src/controllers/measurement/options.ts';
import { binary } from '../lab/binaries.ts';
import { freePorts, start, whenReady } from '../harness/process.ts';
import type { RunningProcess } from '../harness/process.ts';

const run = promisify(execFile);
const OPTIONS = defaultMeasurementOptions('traffic-operator-system');
/**
 * From the change of the files to a sample: at most two looks of 5 s at the targets, and one scrape interval of 5 s. The rest is for a
 * busy machine.
 */
const SCRAPED_WITHIN_MS = 20_000;

/** From the change of the files to a scrape of what is scraped every 15 s, or an evaluation. */
const UNHURRIED = { timeout: 120_000, interval: 250 };

let directory: string;
let volume: string;
let url: string;
let exporter: string;
const running: RunningProcess[] = [];
let operator: Server;
let generation = 0;

/** Writes all that Prometheus is configured by. @returns the path of prometheus.yml */
async function writeConfig(
  into: string,
  options: MeasurementOptions,
  adapt = (text: string): string => text,
): Promise<string> {
  for (const { path, content } of configFiles(options)) {
    await mkdir(dirname(join(into, path)), { recursive: true });
    await writeFile(join(into, path), adapt(content));
  }
  return join(into, 'prometheus.yml');
}

/** An operator's /metrics, with what prom-client writes for a value that is not known. */
async function startOperatorMetrics(): Promise<Server> {
  const lines = [
    'traffic_operator_leader 1',
    'traffic_operator_node_unfit{namespace="shop",trafficwatch="web",node="n1"} Nan',
    'process_cpu_seconds_total 1',
    'nodejs_eventloop_lag_seconds 0.01',
    'nodejs_version_info 24',
  ];
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(`${lines.join('\n')}\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** One with the arguments of the DaemonSet, on an address that the downward API would fill in. */
async function startExporter(ip: string, port: number): Promise<void> {
  const args = exporterArgs({ ...OPTIONS.exporter, port }).map((arg) => arg.replace('$(IP)', ip));
  const nodeExporter = start(await binary('node_exporter'), args, join(directory, `exporter-${port}.log`));
  running.push(nodeExporter);
  const host = isIPv6(ip) ? `[${ip}]` : ip;
  await whenReady('node_exporter', nodeExporter, async () => (await fetch(`http://${host}:${port}`)).ok);
}

/** The exporter of a node in an EndpointSlice, as Kubernetes writes it. */
function sliceOf(node: string, ip: string, port: number): V1EndpointSlice {
  const endpoints = [{ addresses: [ip], nodeName: node, conditions: { ready: true } }];
  return { addressType: isIPv6(ip) ? 'IPv6' : 'IPv4', endpoints, ports: [{ name: METRICS_PORT, port }] };
}

/** Changes a volume as a kubelet does: a new directory, and one symbolic link to it that is swapped. */
async function mount(targets: readonly Target[], operators: readonly OperatorTarget[] = []): Promise<void> {
  const files = renderTargetFiles(targets, 2).files.map((file, index) => [targetsFile(index), file] as const);
  const content = `..${++generation}`;
  await mkdir(join(volume, content));
  for (const [name, file] of [...files, [OPERATOR_FILE, renderOperatorTargets(operators)] as const]) {
    await writeFile(join(volume, content, name), file);
    await symlink(join('..data', name), join(volume, name)).catch(() => undefined);
  }
  await symlink(content, join(volume, '..data_tmp'));
  await rename(join(volume, '..data_tmp'), join(volume, '..data'));
}

interface Series {
  metric: Record<string, string>;
  value: [number, string];
}

async function query(expression: string): Promise<Series[]> {
  const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
  const { data } = (await answer.json()) as { data: { result: Series[] } };
  return data.result;
}

async function up(): Promise<Record<string, string>> {
  const nodes = await query('up{job="node-exporter"}');
  return Object.fromEntries(nodes.map(({ metric, value }): [string, string] => [metric.node!, value[1]]));
}

describe('prometheus.yml', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'traffic-prometheus-'));
    volume = join(directory, 'targets');
    await mkdir(volume);
    const [web, metrics] = (await freePorts(2)) as [number, number];
    exporter = `127.0.0.1:${metrics}`;
    url = `http://127.0.0.1:${web}`;
    // What is different outside of a container: the places of files, and the port.
    await writeConfig(directory, OPTIONS, (text) =>
      text.replaceAll(TARGETS_DIRECTORY, volume).replace('localhost:9090', `127.0.0.1:${web}`),
    );
    operator = await startOperatorMetrics();
    await startExporter('127.0.0.1', metrics);
    const prometheus = start(
      await binary('prometheus'),
      [
        `--config.file=${directory}/prometheus.yml`,
        `--storage.tsdb.path=${directory}/storage`,
        `--web.listen-address=127.0.0.1:${web}`,
      ],
      join(directory, 'prometheus.log'),
    );
    running.push(prometheus);
    await whenReady('prometheus', prometheus, async () => (await fetch(`${url}/-/ready`)).ok);
  });
  afterAll(async () => {
    await Promise.all(running.map((each) => each.stop()));
    operator.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('is one that Prometheus takes, as it stands in prometheus/ and with other options', async () => {
    const promtool = await binary('promtool');
    const written = new URL('../../prometheus/prometheus.yml', import.meta.url).pathname;
    await expect(run(promtool, ['check', 'config', '--lint=all', '--lint-fatal', written])).resolves.toBeDefined();
    const prometheus = {
      ...OPTIONS.prometheus,
      scrapeIntervalSeconds: 60,
      retentionTime: '6h',
      retentionSize: '512MB',
    };
    const other = await writeConfig(join(directory, 'other'), { ...OPTIONS, operatorMetrics: false, prometheus });
    await expect(run(promtool, ['check', 'config', other])).resolves.toBeDefined();
  });

  it('limits time and size of what is kept', async () => {
    const answer = await fetch(`${url}/api/v1/status/runtimeinfo`);
    const { data } = (await answer.json()) as { data: { storageRetention: string } };
    expect(data.storageRetention).toBe('1d or 1GiB');
  });

  it('scrapes a node soon after its target is written, under the name of the node', async () => {
    await mount([{ node: 'node-a', address: exporter }]);
    await vi.waitFor(async () => expect(await up()).toEqual({ 'node-a': '1' }), SCRAPED_WITHIN_MS);
    const series = await query('{job="node-exporter"}');
    expect(new Set(series.map(({ metric }) => `${metric.node} ${metric.instance}`))).toEqual(
      new Set(['node-a node-a']),
    );
  });

  it('scrapes one node by IPv6 and one by IPv4, from their EndpointSlices', async () => {
    const loopback = /^0{31}1 .* lo$/m;
    expect(await readFile('/proc/net/if_inet6', 'utf8').catch(() => ''), 'this test needs ::1 on lo').toMatch(loopback);
    const [port] = (await freePorts(1)) as [number];
    await startExporter('::1', port);
    const four = Number(exporter.split(':')[1]);
    await mount(targetsOf([sliceOf('node-a', '127.0.0.1', four), sliceOf('node-6', '::1', port)], METRICS_PORT));
    await vi.waitFor(async () => expect(await up()).toEqual({ 'node-a': '1', 'node-6': '1' }), SCRAPED_WITHIN_MS);
    const series = await query('{job="node-exporter",node="node-6",__name__=~"node_network_.*"}');
    expect(series).not.toEqual([]);
    expect(new Set(series.map(({ metric }) => metric.instance))).toEqual(new Set(['node-6']));
    const answer = await fetch(`${url}/api/v1/targets?scrapePool=node-exporter`);
    const { data } = (await answer.json()) as { data: { activeTargets: { scrapeUrl: string }[] } };
    expect(data.activeTargets.map(({ scrapeUrl }) => scrapeUrl)).toContain(`http://[::1]:${port}/metrics`);
  });

  it('keeps of what is scraped only what is used', async () => {
    const own = ['up', /^scrape_/];
    // After a scrape that failed, there is nothing until the next one.
    const stored = await vi.waitFor(async () => {
      const names = (await query('group by (__name__) ({job="node-exporter"})')).map(({ metric }) => metric.__name__!);
      const kept = names.filter((name) => !own.some((pattern) => name.match(pattern)));
      expect(kept.length).toBeGreaterThan(3);
      return kept;
    }, UNHURRIED);
    expect(stored.filter((name) => !KEPT_METRICS.includes(name))).toEqual([]);
  });

  it("scrapes the operator's pods and itself, and keeps what dashboards and alerts use", async () => {
    const { port } = operator.address() as AddressInfo;
    await mount([{ node: 'node-a', address: exporter }], [{ pod: 'operator-1', address: `127.0.0.1:${port}` }]);
    const names = async (job: string): Promise<(string | undefined)[]> =>
      (await query(`{job="${job}",__name__!~"up|scrape_.*"}`)).map(({ metric }) => metric.__name__).sort();
    await vi.waitFor(
      async () =>
        expect(await names('traffic-operator')).toEqual([
          'nodejs_eventloop_lag_seconds',
          'process_cpu_seconds_total',
          'traffic_operator_leader',
          'traffic_operator_node_unfit',
        ]),
      UNHURRIED,
    );
    const [unfit] = await query('traffic_operator_node_unfit');
    expect(unfit!.metric).toMatchObject({ namespace: 'shop', pod: 'operator-1', node: 'n1' });
    expect(unfit!.value[1]).toBe('NaN');
    await vi.waitFor(async () => expect(await names('prometheus')).toContain('prometheus_tsdb_head_series'), UNHURRIED);
    expect((await names('prometheus')).filter((name) => name!.startsWith('go_'))).toEqual([]);
  });

  it('evaluates all of its rules without an error', async () => {
    await vi.waitFor(async () => {
      const answer = await fetch(`${url}/api/v1/rules`);
      const { data } = (await answer.json()) as { data: { groups: { rules: { health: string; name: string }[] }[] } };
      const rules = data.groups.flatMap((group) => group.rules);
      const some = ['NodeExporterDown', 'node:traffic_operator_bandwidth:ratio'];
      expect(rules.map(({ name }) => name)).toEqual(expect.arrayContaining(some));
      expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    }, UNHURRIED);
  });

  it('follows nodes that come and go, and says which one does not answer', async () => {
    const [nobody] = (await freePorts(1)) as [number];
    await mount([
      { node: 'node-b', address: exporter },
      { node: 'node-c', address: `127.0.0.1:${nobody}` },
    ]);
    await vi.waitFor(async () => expect(await up()).toEqual({ 'node-b': '1', 'node-c': '0' }), SCRAPED_WITHIN_MS);
  });
});
