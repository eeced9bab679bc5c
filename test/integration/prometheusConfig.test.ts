import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { exporterArgs } from '../../src/controllers/measurement/components/exporter.ts';
import {
  KEPT_METRICS,
  renderPrometheusConfig,
  TARGETS_DIRECTORY,
} from '../../src/controllers/measurement/components/prometheusConfig.ts';
import { renderTargetFiles } from '../../src/controllers/measurement/decide/discovery.ts';
import type { Target } from '../../src/controllers/measurement/decide/discovery.ts';
import { targetsFile } from '../../src/controllers/measurement/names.ts';
import { defaultMeasurementOptions } from '../../src/controllers/measurement/options.ts';
import { binary } from '../lab/binaries.ts';
import { freePorts, start, whenReady } from './process.ts';
import type { RunningProcess } from './process.ts';

const run = promisify(execFile);
const OPTIONS = defaultMeasurementOptions('traffic-operator-system');
/** From the change of the files to a sample: at most two looks of 5 s at the targets, and one scrape interval. */
const SCRAPED_WITHIN_MS = 16_000;

let directory: string;
let volume: string;
let url: string;
let exporter: string;
const running: RunningProcess[] = [];
let generation = 0;

/** What is different outside of a container: the places of files. */
function configHere(): string {
  return renderPrometheusConfig(OPTIONS.prometheus).replaceAll(TARGETS_DIRECTORY, volume);
}

/** Changes a volume as a kubelet does: a new directory, and one symbolic link to it that is swapped. */
async function mount(targets: readonly Target[]): Promise<void> {
  const { files } = renderTargetFiles(targets, 2);
  const content = `..${++generation}`;
  await mkdir(join(volume, content));
  for (const [index, file] of files.entries()) {
    await writeFile(join(volume, content, targetsFile(index)), file);
    await symlink(join('..data', targetsFile(index)), join(volume, targetsFile(index))).catch(() => undefined);
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
  return Object.fromEntries((await query('up')).map(({ metric, value }): [string, string] => [metric.node!, value[1]]));
}

describe('prometheus.yml', () => {
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'traffic-prometheus-'));
    volume = join(directory, 'targets');
    await mkdir(volume);
    const [web, metrics] = (await freePorts(2)) as [number, number];
    exporter = `127.0.0.1:${metrics}`;
    url = `http://127.0.0.1:${web}`;
    await writeFile(join(directory, 'prometheus.yml'), configHere());
    const args = exporterArgs({ ...OPTIONS.exporter, port: metrics });
    const nodeExporter = start(
      await binary('node_exporter'),
      args.map((arg) => arg.replace('$(IP)', '127.0.0.1')),
      join(directory, 'exporter.log'),
    );
    running.push(nodeExporter);
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
    await whenReady('node_exporter', nodeExporter, async () => (await fetch(`http://${exporter}`)).ok);
  });
  afterAll(async () => {
    await Promise.all(running.map((each) => each.stop()));
    await rm(directory, { recursive: true, force: true });
  });

  it('is one that Prometheus takes, as it stands in prometheus/ and with other options', async () => {
    const promtool = await binary('promtool');
    const written = new URL('../../prometheus/prometheus.yml', import.meta.url).pathname;
    await expect(run(promtool, ['check', 'config', '--lint=all', '--lint-fatal', written])).resolves.toBeDefined();
    const other = join(directory, 'other.yml');
    const options = { scrapeIntervalSeconds: 15, retentionTime: '6h', retentionSize: '512MB' };
    await writeFile(other, renderPrometheusConfig({ ...OPTIONS.prometheus, ...options }));
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

  it('keeps of what is scraped only what is used', async () => {
    const own = ['up', /^scrape_/];
    const names = (await query('group by (__name__) ({job="node-exporter"})')).map(({ metric }) => metric.__name__!);
    const stored = names.filter((name) => !own.some((pattern) => name.match(pattern)));
    expect(stored.length).toBeGreaterThan(3);
    expect(stored.filter((name) => !KEPT_METRICS.includes(name))).toEqual([]);
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
