import type { Readable } from 'node:stream';
import { PrometheusDriver } from 'prometheus-query';
import { createNodeResolver } from '../../src/nodes/nodeNames.ts';
import { createPrometheusClient } from '../../src/prometheus/prometheusClient.ts';
import { systemClock } from '../../src/runtime/process/clock.ts';
import { QueryRunner } from '../../src/usage/pass/queryRunner.ts';
import { RateTable } from '../../src/usage/series/rateTable.ts';
import { SeriesCache } from '../../src/usage/series/seriesCache.ts';
import { SeriesDecoder } from '../../src/usage/series/seriesDecoder.ts';
import { percentile } from './statistics.ts';

/**
 * Parses the same response several times in one way, and prints the costs as JSON. Each way has its own process,
 * because the peak memory of a process cannot be reset.
 */
const [url = '', way = '', names = '', small = ''] = process.argv.slice(2);
const QUERIES = 5;
const TIMEOUT_MS = 60_000;
const QUERY = { windowSeconds: 20, matchers: [] } as const;
const nodes = new Map(names.split(',').map((name) => [name, {}]));
const signal = new AbortController().signal;

/** The way of the operator, pass after pass. */
function streaming(endpoint: string): () => Promise<void> {
  const client = createPrometheusClient({ url: endpoint, isNear: true });
  const queries = new QueryRunner({ client, query: QUERY, clock: systemClock });
  const cache = new SeriesCache();
  let table = new RateTable();
  return async () => {
    table = table.next(nodes);
    await queries.rates(createNodeResolver(nodes), { signal, timeoutMs: TIMEOUT_MS }, { table, cache });
  };
}

/** The body as a whole, then JSON.parse, then each series. */
function whole(endpoint: string): () => Promise<void> {
  let body = '';
  const driver = new PrometheusDriver({
    endpoint,
    timeout: TIMEOUT_MS,
    requestInterceptor: { onFulfilled: (request) => Object.assign(request, { responseType: 'stream' }) },
    responseInterceptor: {
      async onFulfilled(response) {
        const chunks: Buffer[] = [];
        for await (const chunk of response.data as Readable) chunks.push(chunk as Buffer);
        body = Buffer.concat(chunks).toString('utf8');
        return { ...response, data: { status: 'success', data: { resultType: 'vector', result: [] } } };
      },
    },
  });
  return async () => {
    await driver.instantQuery('up');
    visitAll((JSON.parse(body) as { data: { result: unknown[] } }).data.result);
  };
}

/** prometheus-query, then each series. */
function library(endpoint: string): () => Promise<void> {
  const driver = new PrometheusDriver({ endpoint, timeout: TIMEOUT_MS });
  return async () => {
    const { result } = await driver.instantQuery('up');
    const series = result as { metric: { labels: object }; value: { time: Date; value: number } }[];
    visitAll(
      series.map(({ metric, value }) => ({
        metric: metric.labels,
        value: [value.time.getTime() / 1000, String(value.value)],
      })),
    );
  };
}

function visitAll(series: readonly unknown[]): void {
  const decoder = new SeriesDecoder(createNodeResolver(nodes), 'rate');
  for (const one of series) decoder.visit(one);
}

/** The longest time in which no timer fired, in ms of CPU time. */
function watchStops(): () => number {
  let longest = 0;
  let before = threadMs();
  const timer = setInterval(() => {
    const now = threadMs();
    longest = Math.max(longest, now - before);
    before = now;
  }, 1);
  return () => {
    clearInterval(timer);
    return Math.max(longest, threadMs() - before);
  };
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const mostMemory = (): number => process.resourceUsage().maxRSS / 1024;

const WAYS = { streaming, whole, library };
const open = WAYS[way as keyof typeof WAYS];
const warmUp = open(small);
for (let query = 0; query < QUERIES; query++) await warmUp();
const before = mostMemory();
const read = open(url);
const taken: { cpu: number; stop: number }[] = [];
for (let query = 0; query < QUERIES; query++) {
  const [start, stop] = [cpuMs(), watchStops()];
  await read();
  taken.push({ stop: stop(), cpu: cpuMs() - start });
}
const cpu = percentile(
  taken.map((one) => one.cpu),
  0.5,
);
console.log(JSON.stringify({ cpu, stop: Math.max(...taken.map((one) => one.stop)), memory: mostMemory() - before }));
process.exit(0);
