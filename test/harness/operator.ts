import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts, start, whenReady, type RunningProcess } from './process.ts';

/** Also on a machine in other use, where Node.js alone takes half a minute to start; 50,000 nodes take some seconds. */
const READY_MS = 120_000;
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** An operator process that a test started. */
export interface Operator {
  readonly pid: number;
  readonly healthUrl: string;
  readonly metricsUrl: string;
  /** When it was spawned and when it said that it is ready, or alive: performance.now(). */
  readonly startedAt: number;
  readonly readyAt: number;
  /** Everything that it has logged, a JSON object a line. */
  log(): string;
  /** SIGTERM; resolves to the milliseconds until it was gone. */
  terminate(): Promise<number>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/**
 * Starts `manager` against a control plane and waits until it is ready, or only alive.
 *
 * @param options.prometheusUrl undefined: it deploys a Prometheus of its own
 * @param options.main the program: the sources' unless told
 * @param options.pace how often it ticks and over what time rates are taken: every second over 5 s unless told
 * @param options.pollMs how often it is asked whether it is ready: every 100 ms unless told
 */
export async function startOperator(options: {
  kubeconfig: string;
  prometheusUrl: string | undefined;
  args?: readonly string[];
  until?: 'ready' | 'alive';
  main?: string;
  pace?: readonly string[];
  pollMs?: number;
}): Promise<Operator> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-operator-'));
  const [health, metrics] = (await freePorts(2)) as [number, number];
  const log = `${directory}/operator.log`;
  const args = [
    options.main ?? MAIN,
    'manager',
    `--kubeconfig=${options.kubeconfig}`,
    ...(options.prometheusUrl === undefined ? [] : [`--prometheus-url=${options.prometheusUrl}`]),
    `--health-probe-bind-address=127.0.0.1:${health}`,
    `--metrics-bind-address=127.0.0.1:${metrics}`,
    ...(options.pace ?? ['--interval=1s', '--window=5s']),
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
