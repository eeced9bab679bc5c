import { EVALUATIONS_PATH, type Evaluations } from '../../../src/connectivity/protocol/evaluation.ts';
import { sleep, until } from '../../harness/measured.ts';
import { cpuSeconds, peakResidentBytes, residentBytes } from '../../harness/processUse.ts';
import type { Figure } from '../figure.ts';
import { percentile } from '../statistics.ts';
import type { Fleet } from './fleet.ts';
import type { MeasuredProcess } from './serverProcess.ts';

const MIB = 1024 ** 2;
const CHECK_PATH = '/api/v1/connectivity_check';
const METRICS_PATH = '/metrics';
/** Checks, evaluations and scrapes in each repetition, spread over it. The operator asks for evaluations every 5 s. */
const READS = 20;
/** The goals: % of a core, MiB, ms. */
const GOALS = { cpu: 50, memory: 300, report: 250, check: 100 };

/** A number of agents, and how often they report. */
export interface Scale {
  readonly agents: number;
  readonly intervalSeconds: number;
}

/** The measurements of one repetition. */
interface Window {
  readonly cpuPercent: number;
  readonly residentMiB: number;
  readonly reportP99Ms: number;
  readonly checkP99Ms: number;
  readonly evaluationP99Ms: number;
  readonly metricsP99Ms: number;
  readonly refused: number;
  /** CPU of one report, with its share of everything else, ms. */
  readonly cpuPerReportMs: number;
}

/** Measures a server whose agents report, `repetitions` times for `windowSeconds`. */
export async function measureScale(
  { agents, intervalSeconds }: Scale,
  o: { server: MeasuredProcess; fleet: Fleet; repetitions: number; windowSeconds: number; bareBytes: number },
): Promise<Figure[]> {
  await settled(o.server, agents);
  // The agents report once with their peers, and what the start left behind is collected.
  await sleep(intervalSeconds * 1_000);
  const windows: Window[] = [];
  for (let n = 0; n < o.repetitions; n += 1) windows.push(await measureWindow(o));
  const of = (key: keyof Window): number[] => windows.map((window) => window[key]);
  const id = `connectivity.${agents}`;
  const who = `${agents.toLocaleString('en')} agents at ${intervalSeconds} s`;
  return [
    { id: `${id}.cpu`, what: `${who}: CPU`, unit: '% of a core', samples: of('cpuPercent'), atMost: GOALS.cpu },
    {
      id: `${id}.memory`,
      what: `${who}: resident memory`,
      unit: 'MiB',
      samples: of('residentMiB'),
      atMost: GOALS.memory,
      limit: { what: 'bare HTTP server with as many connections', samples: [o.bareBytes / MIB] },
    },
    {
      id: `${id}.peak`,
      what: `${who}: peak resident memory`,
      unit: 'MiB',
      samples: [peakResidentBytes(o.server.pid) / MIB],
    },
    {
      id: `${id}.report`,
      what: `${who}: answer to a report, 99th percentile`,
      unit: 'ms',
      samples: of('reportP99Ms'),
      atMost: GOALS.report,
    },
    {
      id: `${id}.check`,
      what: `${who}: connectivity_check, slowest of ${READS}`,
      unit: 'ms',
      samples: of('checkP99Ms'),
      atMost: GOALS.check,
    },
    {
      id: `${id}.evaluation`,
      what: `${who}: evaluations, slowest of ${READS}`,
      unit: 'ms',
      samples: of('evaluationP99Ms'),
    },
    {
      id: `${id}.metrics`,
      what: `${who}: metrics, slowest of ${READS}`,
      unit: 'ms',
      samples: of('metricsP99Ms'),
    },
    { id: `${id}.perReport`, what: `${who}: CPU per report`, unit: 'ms', samples: of('cpuPerReportMs') },
    {
      id: `${id}.refused`,
      what: `${who}: reports that were not accepted`,
      unit: 'calls',
      samples: of('refused'),
      atMost: 0,
    },
  ];
}

async function measureWindow(o: { server: MeasuredProcess; fleet: Fleet; windowSeconds: number }): Promise<Window> {
  const { server, fleet, windowSeconds } = o;
  fleet.take();
  const cpu = cpuSeconds(server.pid);
  const begin = performance.now();
  const checks: number[] = [];
  const evaluations: number[] = [];
  const scrapes: number[] = [];
  for (let n = 0; n < READS; n += 1) {
    await sleep(begin + ((n + 1) * windowSeconds * 1_000) / READS - performance.now());
    checks.push(await timed(server, CHECK_PATH));
    evaluations.push(await timed(server, EVALUATIONS_PATH));
    scrapes.push(await timed(server, METRICS_PATH));
  }
  const seconds = (performance.now() - begin) / 1_000;
  const used = cpuSeconds(server.pid) - cpu;
  const { latencies, refused } = fleet.take();
  return {
    cpuPercent: (100 * used) / seconds,
    residentMiB: residentBytes(server.pid) / MIB,
    reportP99Ms: percentile(latencies, 0.99),
    checkP99Ms: Math.max(...checks),
    evaluationP99Ms: Math.max(...evaluations),
    metricsP99Ms: Math.max(...scrapes),
    refused,
    cpuPerReportMs: (1_000 * used) / latencies.length,
  };
}

/** Waits until every agent has reported and the evaluation covers all of them. */
async function settled(server: MeasuredProcess, agents: number): Promise<void> {
  await until(
    `${agents} agents have reported`,
    async () => {
      const { default: evaluation } = (await (await ask(server, EVALUATIONS_PATH)).json()) as Evaluations;
      return evaluation?.counts.reportingAgents === agents && evaluation.counts.observedPairs > 0;
    },
    { timeout: 300_000, every: 1_000 },
  );
  const { status } = await ask(server, CHECK_PATH);
  if (status !== 200) throw new Error(`${CHECK_PATH}: status ${status}`);
}

async function timed(server: MeasuredProcess, path: string): Promise<number> {
  const begin = performance.now();
  const response = await ask(server, path);
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${path}: status ${response.status}`);
  return performance.now() - begin;
}

function ask({ port }: MeasuredProcess, path: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`);
}
