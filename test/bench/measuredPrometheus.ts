import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { configFiles } from '../../src/controllers/measurement/components/prometheus.ts';
import {
  renderPrometheusConfig,
  TARGETS_DIRECTORY,
} from '../../src/controllers/measurement/components/prometheusConfig.ts';
import { OPERATOR_FILE } from '../../src/controllers/measurement/names.ts';
import { defaultMeasurementOptions, PROMETHEUS_PORT } from '../../src/controllers/measurement/options.ts';
import { startPrometheus } from '../harness/prometheus.ts';

const EXPORTER = fileURLToPath(new URL('exporter.ts', import.meta.url));
/** Number of nodes of one target. */
const NODES_PER_TARGET = 500;

/** The deployed Prometheus with its own configuration, over synthetic exporters. */
export interface MeasuredPrometheus {
  readonly url: string;
  readonly pid: number;
  /** When it was ready: milliseconds, by performance.now(). */
  readonly readyAt: number;
  /** A value of Prometheus' own metrics. @throws if there is none */
  own(metric: string): Promise<number>;
  /** Values of an instant query. */
  query(expression: string): Promise<number[]>;
  /**
   * Scrapes an operator, and no longer the previous one. All are one instance, like a container that restarts.
   *
   * @param address host:port of its metrics
   */
  scrapeOperator(address: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts both, on the port that the operator queries, and waits until each node has a rate. */
export async function startMeasuredPrometheus(nodes: number): Promise<MeasuredPrometheus> {
  const exporter = await startExporter(nodes);
  const directory = await mkdtemp(join(tmpdir(), 'traffic-bench-prometheus-'));
  for (const part of ['rules', 'targets']) await mkdir(join(directory, part));
  await writeFile(join(directory, 'targets', 'targets.json'), JSON.stringify([{ targets: exporter.targets }]));
  const options = defaultMeasurementOptions('bench');
  for (const { path, content } of configFiles(options)) await writeFile(join(directory, path), content);
  const config = renderPrometheusConfig(options).replaceAll(TARGETS_DIRECTORY, join(directory, 'targets'));
  const stopAll = async (): Promise<void> => {
    exporter.stop();
    await rm(directory, { recursive: true, force: true });
  };
  const prometheus = await startPrometheus({ config, dir: directory, port: PROMETHEUS_PORT }).catch(
    async (error: unknown) => {
      await stopAll();
      throw error;
    },
  );
  const query = (expression: string): Promise<number[]> => valuesOf(prometheus.url, expression);
  return {
    url: prometheus.url,
    pid: prometheus.pid,
    readyAt: performance.now(),
    query,
    scrapeOperator: (address) => {
      const group = { targets: [address], labels: { instance: 'operator' } };
      return writeFile(join(directory, 'targets', OPERATOR_FILE), JSON.stringify([group]));
    },
    own: async (metric) => {
      const [value] = await query(`${metric}{job="prometheus"}`);
      if (value === undefined) throw new Error(`Prometheus does not tell ${metric} of itself`);
      return value;
    },
    stop: async () => {
      await prometheus.stop();
      await stopAll();
    },
  };
}

interface Exporter {
  targets: string[];
  stop(): void;
}

async function startExporter(nodes: number): Promise<Exporter> {
  const args = ['--pdeathsig', 'KILL', process.execPath, EXPORTER, '0', String(nodes), String(NODES_PER_TARGET)];
  const child = spawn('setpriv', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const targets: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    if (line === 'ready') return { targets, stop: () => void child.kill('SIGKILL') };
    targets.push(line);
  }
  throw new Error('the synthetic exporter ended');
}

async function valuesOf(url: string, query: string): Promise<number[]> {
  const answer = await fetch(`${url}/api/v1/query`, { method: 'POST', body: new URLSearchParams({ query }) });
  const body = (await answer.json()) as { data?: { result: { value: [number, string] }[] }; error?: string };
  if (body.data === undefined) throw new Error(`${query}: ${body.error}`);
  return body.data.result.map(({ value }) => Number(value[1]));
}
