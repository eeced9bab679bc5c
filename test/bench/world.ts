import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../src/api/trafficwatch/schema.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { DEFAULT_RATE_WINDOW_SECONDS } from '../../src/controllers/measurement/options.ts';
import type { UsageQuery } from '../../src/usage/pass/queries.ts';
import { withNodeOptions } from '../harness/nodeOptions.ts';
import { until } from '../harness/measured.ts';
import { startOperator, type Operator } from '../harness/operator.ts';
import { AuditTail } from './auditTail.ts';
import { BareClient } from './bare.ts';
import { chartHeapOption } from '../harness/chartHeap.ts';
import { imageEnvironment } from '../harness/imageEnvironment.ts';
import { ConnectionPeaks } from './connectionPeaks.ts';
import { startMeasuredPrometheus, type MeasuredPrometheus } from './measuredPrometheus.ts';
import { startPlane, type Plane } from './plane.ts';
import { ABOVE_ALL, DEVICES } from './shape.ts';

const BUNDLE = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const RESOLVE = new URL('resolveServices.ts', import.meta.url);
/** The default query of the operator to the deployed Prometheus. */
export const QUERY: UsageQuery = {
  windowSeconds: DEFAULT_RATE_WINDOW_SECONDS,
  scrapeIntervalSeconds: 5,
  matchers: [],
};

/** Default interval of passes, in ms. */
export const DEFAULT_INTERVAL_MS = 10_000;

/** Options that differ between the operators of a world. */
export interface OperatorOptions {
  readonly prometheusUrl?: string;
  /** Interval of passes, in ms. */
  readonly intervalMs?: number;
  readonly args?: readonly string[];
}

/** Everything that is necessary to measure a cluster of one size. */
export interface World {
  readonly nodes: number;
  /** Interval of passes. */
  readonly intervalMs: number;
  readonly plane: Plane;
  readonly prometheus: MeasuredPrometheus;
  readonly bare: BareClient;
  readonly audit: AuditTail;
  /** The peaks of each operator that ran. */
  readonly connections: ConnectionPeaks;
  /** Starts the bundle as the operator's ServiceAccount, with leader election and the deployed Prometheus. */
  startOperator(options?: OperatorOptions): Promise<Operator>;
  createWatch(name: string): Promise<void>;
  setThreshold(name: string, percent: string): Promise<void>;
  watch(name: string): Promise<TrafficWatch>;
  /** Resolves when the TrafficWatch, its labels and its Deployment are gone. */
  deleteWatch(name: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startWorld(nodes: number, intervalMs: number): Promise<World> {
  // Child processes inherit it.
  Object.assign(process.env, imageEnvironment());
  const plane = await startPlane();
  const stops: (() => Promise<void>)[] = [() => plane.stop()];
  const stop = async (): Promise<void> => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const prometheus = await startMeasuredPrometheus(nodes);
    stops.push(() => prometheus.stop());
    await plane.setNodes(nodes);
    const bare = new BareClient({ url: plane.controlPlane.url, ca: plane.ca, token: plane.token });
    stops.push(() => bare.close());
    const audit = new AuditTail(plane.controlPlane.auditLog);
    stops.push(() => audit.close());
    await until('every node has a rate', () => hasRates(prometheus, nodes), { timeout: 180_000 });
    const connections = new ConnectionPeaks(Number(new URL(plane.controlPlane.url).port));
    const startOperator = operatorOf({ plane, prometheus, connections, intervalMs });
    return { nodes, intervalMs, plane, prometheus, bare, audit, connections, ...watchesOf(plane), startOperator, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function hasRates(prometheus: MeasuredPrometheus, nodes: number): Promise<boolean> {
  const [rates] = await prometheus.query(`count(rate(node_network_transmit_bytes_total[${QUERY.windowSeconds}s]))`);
  return rates === nodes * DEVICES.length;
}

function operatorOf({
  plane: { kubeconfig, controlPlane },
  prometheus,
  connections,
  intervalMs: usualMs,
}: Pick<World, 'plane' | 'prometheus' | 'connections' | 'intervalMs'>): World['startOperator'] {
  // As JavaScript: the TypeScript loader would take a third of the measured memory.
  const preload = join(controlPlane.directory, 'resolveServices.mjs');
  writeFileSync(preload, transformSync(readFileSync(RESOLVE, 'utf8'), { loader: 'ts' }).code);
  return async ({ prometheusUrl, intervalMs = usualMs, args = [] } = {}) => {
    const options = `${chartHeapOption()} --import=${pathToFileURL(preload).href}?address=127.0.0.1`;
    const operator = await withNodeOptions(options, () =>
      startOperator({
        kubeconfig,
        prometheusUrl,
        main: BUNDLE,
        pace: [`--interval=${intervalMs}ms`],
        args: ['--leader-elect', ...args],
        pollMs: 10,
      }),
    );
    connections.follow(operator.pid);
    await prometheus.scrapeOperator(new URL(operator.metricsUrl).host);
    return operator;
  };
}

function watchesOf({ client }: Plane): Pick<World, 'createWatch' | 'setThreshold' | 'watch' | 'deleteWatch'> {
  const ref = (name: string) => ({ namespace: 'default', name });
  return {
    createWatch: async (name) => {
      await client.create(TRAFFIC_WATCHES, { metadata: ref(name), spec: specOf(name) });
    },
    setThreshold: async (name, maxBandwidthPercent) => {
      await client.mergePatch(
        TRAFFIC_WATCHES,
        ref(name),
        { spec: { maxBandwidthPercent } },
        { fieldManager: 'person' },
      );
    },
    watch: (name) => client.get(TRAFFIC_WATCHES, ref(name)),
    deleteWatch: async (name) => {
      await client.delete(TRAFFIC_WATCHES, ref(name));
      const isGone = async (): Promise<boolean> => {
        const names = (await client.list(TRAFFIC_WATCHES)).map(({ metadata }) => metadata?.name);
        return !names.includes(name);
      };
      await until(`${name} is gone`, isGone, { timeout: 600_000 });
      // No garbage collector runs here, and the next TrafficWatch of that name would find a foreign Deployment.
      await client.delete(DEPLOYMENTS, ref(name));
    },
  };
}

function specOf(app: string): TrafficWatch['spec'] {
  const template = {
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'web', image: 'registry.example.com/web:1' }] },
  };
  return { maxBandwidthPercent: ABOVE_ALL, deployment: { replicas: 3, selector: { matchLabels: { app } }, template } };
}
