import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operatorMain } from './operatorMain.ts';
import { freePorts, start, whenReady, type RunningProcess } from './process.ts';

/**
 * Long enough for a busy machine, on which Node.js alone takes half a minute to start; 50,000 nodes take some seconds.
 */
const READY_MS = 120_000;

/** An operator process of a test. */
export interface Operator {
  readonly pid: number;
  readonly healthUrl: string;
  readonly metricsUrl: string;
  /** Times of the spawn and of readiness, or liveness: performance.now(). */
  readonly startedAt: number;
  readonly readyAt: number;
  /** The whole log, one JSON object per line. */
  log(): string;
  /** Sends SIGTERM; resolves to the milliseconds until the process ended. */
  terminate(): Promise<number>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

/**
 * Starts `manager`, or `trafficweights`, with a control plane and waits until it is ready, or only alive.
 *
 * @param options.prometheusUrl if undefined, the operator deploys a Prometheus
 * @param options.main the program; default: see operatorMain
 * @param options.pace interval and rate window; default: 1 s and 5 s, and none for `trafficweights`
 * @param options.pollMs poll interval of the readiness; default: 100 ms
 */
export async function startOperator(options: {
  kubeconfig: string;
  prometheusUrl: string | undefined;
  args?: readonly string[];
  until?: 'ready' | 'alive';
  main?: string;
  pace?: readonly string[];
  pollMs?: number;
  command?: 'manager' | 'trafficweights';
}): Promise<Operator> {
  const { command = 'manager' } = options;
  const directory = await mkdtemp(join(tmpdir(), 'traffic-operator-'));
  const [health, metrics] = (await freePorts(2)) as [number, number];
  const log = `${directory}/operator.log`;
  const args = [
    options.main ?? operatorMain(),
    command,
    `--kubeconfig=${options.kubeconfig}`,
    ...(options.prometheusUrl === undefined ? [] : [`--prometheus-url=${options.prometheusUrl}`]),
    `--health-probe-bind-address=127.0.0.1:${health}`,
    `--metrics-bind-address=127.0.0.1:${metrics}`,
    ...(options.pace ?? (command === 'manager' ? ['--interval=1s', '--window=5s'] : [])),
    ...(options.args ?? []),
  ];
  const startedAt = performance.now();
  const running = start(process.execPath, args, log);
  const healthUrl = `http://127.0.0.1:${health}`;
  const probe = options.until === 'alive' ? 'healthz' : 'readyz';
  const ready = async (): Promise<boolean> => (await fetch(`${healthUrl}/${probe}`)).ok;
  try {
    await whenReady('the operator', running, ready, READY_MS, options.pollMs);
  } catch (error) {
    await running.stop();
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
  return {
    pid: running.pid,
    startedAt,
    readyAt: performance.now(),
    healthUrl,
    metricsUrl: `http://127.0.0.1:${metrics}/metrics`,
    log: () => readFileSync(log, 'utf8'),
    terminate: () => terminate(running, directory),
    kill: async () => {
      await running.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function terminate(running: RunningProcess, directory: string): Promise<number> {
  const begin = performance.now();
  process.kill(running.pid, 'SIGTERM');
  await running.ended;
  const took = performance.now() - begin;
  await rm(directory, { recursive: true, force: true });
  return took;
}
