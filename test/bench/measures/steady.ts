import { ConditionType } from '../../../src/api/trafficwatch/reasons.ts';
import { sleep, until } from '../../harness/measured.ts';
import type { Operator } from '../../harness/operator.ts';
import { bareQuery, bareRatesQuery } from '../bare.ts';
import type { Answered } from '../auditTail.ts';
import type { Effort } from '../effort.ts';
import type { Figure } from '../figure.ts';
import { MetricsPage } from '../metricsPage.ts';
import { cpuSeconds } from '../../harness/processUse.ts';
import { percentile } from '../statistics.ts';
import { QUERY, type World } from '../world.ts';

const STATUS_WRITES_A_MINUTE = 1;
const LEAST_TO_SETTLE_MS = 600_000;
/** Per label: several times what servers need for it that share two slow cores with the operator. */
const TO_SETTLE_A_NODE_MS = 30;
/** Not a divisor of the scrape interval of five seconds. */
const BETWEEN_BARE_QUERIES_MS = 450;

type Tail = Record<'p99' | 'median', number>;

interface Steady extends Tail, Undisturbed {
  failed: number;
}

/**
 * Pass after pass without changes, with all nodes labelled.
 *
 * @param name of the TrafficWatch
 * @param effort.passes per repetition
 */
export async function measureSteady(
  world: World,
  { operator, name }: { operator: Operator; name: string },
  effort: Effort,
): Promise<Figure[]> {
  const { repetitions, passes } = effort;
  const { url } = world.prometheus;
  // Before the passes: these queries keep Prometheus busy for seconds, and a concurrent pass might miss its deadline.
  const both: number[] = [];
  while (both.length < repetitions) both.push(await bareQuery(url, QUERY));
  const bare: Tail[] = [];
  while (bare.length < repetitions) bare.push(tail(await bareRates(url, passes)));
  await quiet(world, name);
  const since = Date.now();
  const seen: Steady[] = [];
  while (seen.length < repetitions) seen.push(await repeat(world, operator, passes));
  const minutes = (Date.now() - since) / 60_000;
  const writes = await writesOf(world, since);
  const statuses = writes.filter(({ resource }) => resource === 'trafficwatches/status');
  const of = (field: keyof Steady): number[] => seen.map((each) => each[field]);
  const limit = { what: 'bare query of the rates', samples: bare.map(({ median }) => median) };
  return [
    {
      id: 'steady.p99',
      what: 'steady pass, from its start to the end of its reconcile, 99th percentile',
      unit: 'ms',
      samples: of('p99'),
      atMost: 250,
      limit: { ...limit, atMostTimes: 3 },
    },
    {
      id: 'steady.median',
      what: 'steady pass, median',
      unit: 'ms',
      samples: of('median'),
      limit,
    },
    { id: 'steady.failed', what: 'failed passes', unit: 'passes', samples: of('failed'), atMost: 0 },
    {
      id: 'steady.bareP99',
      what: 'bare query of the rates, 99th percentile',
      unit: 'ms',
      samples: bare.map(({ p99 }) => p99),
    },
    { id: 'steady.bareBoth', what: 'bare queries of rates and of facts', unit: 'ms', samples: both },
    {
      id: 'steady.loopP99',
      what: 'event loop lag, highest 99th percentile of 15 s',
      unit: 'ms',
      samples: of('loopP99'),
      atMost: 50,
    },
    { id: 'steady.loopMax', what: 'event loop lag, maximum', unit: 'ms', samples: of('loopMax') },
    { id: 'steady.cpu', what: 'CPU time of a pass', unit: 'ms', samples: of('cpuMs'), atMost: 100 },
    {
      id: 'steady.statusWrites',
      what: 'status writes per minute',
      unit: 'calls',
      samples: [statuses.length / minutes],
      atMost: STATUS_WRITES_A_MINUTE + 1 / minutes,
    },
    {
      id: 'steady.otherWrites',
      what: 'all other writes except for the Lease',
      unit: 'calls',
      samples: [writes.length - statuses.length],
      atMost: 0,
    },
  ];
}

const WRITES = new Set(['create', 'update', 'patch', 'delete']);

/** Writes since `since`, without the Lease, which is always renewed. */
async function writesOf({ audit }: World, since: number): Promise<Answered[]> {
  const requests = await audit.requests(since);
  return requests.filter(({ verb, resource }) => WRITES.has(verb) && resource !== 'leases');
}

/**
 * Waits until nothing was written for two passes, the last of which succeeded. Some effects of a decision end after it
 * (the Deployment, events), and the next pass reverts the status of a failed pass.
 */
async function quiet(world: World, name: string): Promise<void> {
  const isQuiet = async (): Promise<boolean> => {
    const { conditions = [] } = (await world.watch(name)).status ?? {};
    const isAnswered = conditions.some((c) => c.type === ConditionType.PrometheusReachable && c.status === 'True');
    return isAnswered && (await writesOf(world, Date.now() - 2 * world.intervalMs)).length === 0;
  };
  await until(`${name} is answered and nothing is written`, isQuiet, { timeout: 300_000, every: 500 });
}

async function repeat(world: World, operator: Operator, count: number): Promise<Steady> {
  const { intervalMs } = world;
  const before = await MetricsPage.of(operator);
  const passes = await eachPass(operator, { count, intervalMs });
  const use = await undisturbed(world, operator, count * intervalMs);
  const failed = (await MetricsPage.of(operator)).failedSince(before);
  return { ...tail(passes), failed, ...use };
}

const tail = (samples: readonly number[]): Tail => ({
  p99: percentile(samples, 0.99),
  median: percentile(samples, 0.5),
});

/** As many queries as passes, because Prometheus is slower while it scrapes. */
async function bareRates(url: string, count: number): Promise<number[]> {
  const took: number[] = [];
  while (took.length < count) {
    took.push(await bareRatesQuery(url, QUERY));
    await sleep(BETWEEN_BARE_QUERIES_MS);
  }
  return took;
}

/** Milliseconds of each pass, with one reading between two passes. */
export async function eachPass(
  operator: Operator,
  { count, intervalMs }: { count: number; intervalMs: number },
): Promise<number[]> {
  const took: number[] = [];
  let { settled: before } = await MetricsPage.of(operator);
  while (took.length < count) {
    await sleep(intervalMs);
    const { settled: after } = await MetricsPage.of(operator);
    const passes = after.passes - before.passes;
    const each = (after.ms - before.ms) / passes;
    took.push(...Array.from({ length: passes }, () => each));
    before = after;
  }
  return took;
}

type Undisturbed = Record<'cpuMs' | 'loopP99' | 'loopMax', number>;

/** A measurement without readings in between, because a metrics page also costs time. */
async function undisturbed(world: World, operator: Operator, ms: number): Promise<Undisturbed> {
  const { allPasses } = await MetricsPage.of(operator);
  const begin = cpuSeconds(operator.pid);
  await sleep(ms);
  const cpu = cpuSeconds(operator.pid) - begin;
  const page = await MetricsPage.of(operator);
  const loopLag = (kind: string): Promise<number> => longestLag(world, page, { kind, ms });
  const [loopP99, loopMax] = [await loopLag('p99'), await loopLag('max')];
  return { cpuMs: (cpu * 1000) / (page.allPasses - allPasses), loopP99, loopMax };
}

/**
 * The maximum of all scrapes within the last `ms` milliseconds. The operator's Prometheus also scrapes the metric, and
 * each scrape resets it, so the last page covers only the time since then.
 */
async function longestLag(
  { prometheus }: World,
  page: MetricsPage,
  { kind, ms }: { kind: string; ms: number },
): Promise<number> {
  const metric = `nodejs_eventloop_lag_${kind}_seconds`;
  const window = `${Math.round(ms / 1000)}s`;
  const scraped = await prometheus.query(`max_over_time(${metric}[${window}])`);
  return Math.max(page.sum(metric), ...scraped) * 1000;
}

/** Waits until the operator reports that everything is decided: all nodes measured, none unknown. */
export async function settled(world: World, name: string): Promise<void> {
  const isSettled = async (): Promise<boolean> => {
    const { fitNodes = 0, unfitNodes = 0 } = (await world.watch(name)).status ?? {};
    return fitNodes + unfitNodes === world.nodes;
  };
  const timeout = Math.max(LEAST_TO_SETTLE_MS, world.nodes * TO_SETTLE_A_NODE_MS);
  await until(`${name} is settled`, isSettled, { timeout });
}
