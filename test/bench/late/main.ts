/**
 * Measures the cost of the query for late samples: passes with it and without it in turn, in one run, over the deployed Prometheus with
 * synthetic exporters, which scrapes every 5 s. "Without" a client in between answers the query with no series.
 *
 *   node test/bench/late/main.ts --out docs/performance/late.json
 *
 * Ends with status 1 if a goal is missed. Environment: SIZES ("1000 10000": nodes), REPETITIONS (5), PASSES of each kind per repetition (20),
 * INTERVAL_MS of passes (1500).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { createPrometheusClient } from '../../../src/prometheus/prometheusClient.ts';
import { until } from '../../harness/measured.ts';
import { cpuSeconds } from '../../harness/processUse.ts';
import { resultOf, type Figure, type Result } from '../figure.ts';
import { failIfMissed, positiveInteger } from '../goals.ts';
import { machine } from '../machine.ts';
import { startMeasuredPrometheus, type MeasuredPrometheus } from '../measuredPrometheus.ts';
import { DEVICES, nodeName } from '../shape.ts';
import { percentile } from '../statistics.ts';
import { renderTable } from '../table.ts';
import { QUERY } from '../world.ts';
import { Passes, withoutLate } from './passes.ts';

/** The goal: the 99th percentile of passes with the query, as a multiple of passes without it. */
const MOST_TIMES = 1.15;
const WITHOUT = 'without the query';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const repetitions = positiveInteger('REPETITIONS', process.env.REPETITIONS ?? '5');
const passes = positiveInteger('PASSES', process.env.PASSES ?? '20');
/** By default far more often than the operator (10 s), so that minutes have hundreds of passes. Above 1,000 nodes the query runs every 5 s at most. */
const intervalMs = positiveInteger('INTERVAL_MS', process.env.INTERVAL_MS ?? '1500');
const sizes = (process.env.SIZES ?? '1000 10000').split(' ').map((size) => positiveInteger('SIZES', size));
const date = new Date().toISOString().slice(0, 10);
const run = { command: 'make bench-late', ...machine(), date, repetitions, passes, intervalMs };
const loads: number[] = [];

/** The passes of one kind. */
interface Kind {
  readonly passes: Passes;
  /** ms of each pass, by repetition. */
  readonly took: number[][];
  /** CPU time of Prometheus for each pass, ms, scrapes included, by repetition. */
  readonly cpu: number[];
}

async function measureKind({ passes: each, took, cpu }: Kind, { pid }: MeasuredPrometheus): Promise<void> {
  const before = cpuSeconds(pid);
  took.push(await each.run(passes, intervalMs));
  cpu.push(((cpuSeconds(pid) - before) * 1000) / passes);
}

/** Both kinds in turn. The kind that begins changes with each repetition, so that neither has the quieter machine. */
async function measure(prometheus: MeasuredPrometheus, size: number): Promise<Figure[]> {
  const client = createPrometheusClient({ url: prometheus.url, isNear: true });
  const nodes = new Map(Array.from({ length: size }, (_, index) => [nodeName(index), {}]));
  const kindOf = (of: typeof client): Kind => ({
    passes: new Passes({ client: of, query: QUERY, nodes }),
    took: [],
    cpu: [],
  });
  const kinds = { late: kindOf(client), bare: kindOf(withoutLate(client, QUERY)) };
  // The first passes of each read the facts of all nodes, and compile their code.
  for (const { passes: each } of Object.values(kinds)) {
    await each.warmUp(10);
    await each.run(2, intervalMs);
  }
  for (let n = 0; n < repetitions; n += 1) {
    const order = n % 2 === 0 ? [kinds.late, kinds.bare] : [kinds.bare, kinds.late];
    for (const kind of order) await measureKind(kind, prometheus);
    loads.push(loadavg()[0] ?? NaN);
  }
  client.close();
  return figuresOf(size, kinds);
}

function figuresOf(size: number, { late, bare }: Record<'late' | 'bare', Kind>): Figure[] {
  const p99 = (samples: readonly number[]): number => percentile(samples, 0.99);
  const figure = (
    [id, what, unit]: readonly [string, string, Figure['unit']],
    samplesOf: (kind: Kind) => readonly number[],
    atMostTimes?: number,
  ): Figure => ({
    ...{
      id: `late.${size}.${id}`,
      what: `${size.toLocaleString('en')} nodes: ${what}`,
      unit,
      samples: samplesOf(late),
    },
    limit: { what: WITHOUT, samples: samplesOf(bare), ...(atMostTimes && { atMostTimes }) },
  });
  const queries = late.passes.queries;
  return [
    figure(['pass', 'pass', 'ms'], ({ took }) => took.flat()),
    figure(['p99', 'pass, 99th percentile of each repetition', 'ms'], ({ took }) => took.map(p99), MOST_TIMES),
    figure(['p99All', 'pass, 99th percentile of all', 'ms'], ({ took }) => [p99(took.flat())]),
    figure(['cpu', 'CPU time of Prometheus for a pass, scrapes included', 'ms'], ({ cpu }) => cpu),
    {
      id: `late.${size}.query`,
      what: `${size.toLocaleString('en')} nodes: the query for late samples`,
      unit: 'ms',
      samples: queries.get('late') ?? [],
      limit: { what: 'the query of the rates', samples: queries.get('rates') ?? [] },
    },
  ];
}

const results: Result[] = [];
for (const size of sizes) {
  const prometheus = await startMeasuredPrometheus(size);
  try {
    const full = `count(count_over_time(node_network_transmit_bytes_total[${QUERY.windowSeconds}s]) > 3)`;
    const isFull = async (): Promise<boolean> => (await prometheus.query(full))[0] === size * DEVICES.length;
    await until('the rate window of every node is full', isFull, { timeout: 180_000, every: 1_000 });
    const added = (await measure(prometheus, size)).map(resultOf);
    results.push(...added);
    console.log(`\n${renderTable(added)}`);
  } finally {
    await prometheus.stop();
  }
}
const load = { min: Math.min(...loads), max: Math.max(...loads) };
console.log(`\nload of the machine: ${load.min} to ${load.max}`);
if (values.out !== undefined) {
  mkdirSync(dirname(values.out), { recursive: true });
  writeFileSync(values.out, `${JSON.stringify({ ...run, load, results }, null, 2)}\n`);
}
failIfMissed(results, run);
