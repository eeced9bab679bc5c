import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { uidOf } from '../../../dashboards/dashboard.ts';
import { panelQueries } from '../../../dashboards/queries.ts';
import { measured, seconds } from '../../harness/measured.ts';
import { startPrometheus, type RunningPrometheus } from '../../harness/prometheus.ts';

/**
 * The panels about single nodes, in a cluster of 5,000: a real Prometheus scrapes made-up figures. At each scrape other nodes
 * lose packets, so that a plain topk would find as many rows as nodes over time.
 */
const NODES = 5_000;
/** Nodes that lose packets at one moment. */
const LOSSY = 40;
const PLANES = ['Pod', 'Host'];
const WAIT = { timeout: 120_000, interval: 500 };
const PREFIX = 'traffic_operator_connectivity_';
const QUERIES = panelQueries({
  job: '.*',
  namespace: '',
  trafficwatch: '',
  stack: '',
  node: '',
  __rate_interval: '4s',
  __interval: '1s',
  __range: '5m',
}).filter(
  ({ where, expr }) => where.startsWith(`${uidOf('connectivity')} /`) && expr.includes('topk') && expr.includes(PREFIX),
);

let scrapes = 0;
let exporter: Server;
let prometheus: RunningPrometheus;

/** From 0.25, and more at each scrape, so that the choice is not a matter of the order. */
function lossAt(node: number): number {
  return Math.floor(node / LOSSY) === scrapes ? 0.25 + scrapes / 100 : 0;
}

function figures(): string {
  scrapes++;
  const lines = Array.from({ length: NODES }, (_, node) =>
    PLANES.map((plane) => {
      const labels = `{node="node-${node}",plane="${plane}"}`;
      return `${PREFIX}loss_ratio${labels} ${lossAt(node)}\n${PREFIX}latency_seconds${labels} ${node / 1_000_000}\n`;
    }).join(''),
  );
  return lines.join('');
}

beforeAll(async () => {
  exporter = createServer((_request, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(figures());
  });
  await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve));
  const targets = [`127.0.0.1:${(exporter.address() as AddressInfo).port}`];
  prometheus = await startPrometheus({
    config: {
      // So many series take their time on a busy machine.
      global: { scrape_interval: '3s', scrape_timeout: '3s' },
      scrape_configs: [{ job_name: 'server', static_configs: [{ targets }] }],
    },
  });
  // A plain topk, to see that this scene would tell.
  await vi.waitFor(async () => {
    const plain = await rowsOf(`topk(${LOSSY}, ${PREFIX}loss_ratio{plane="Pod"})`);
    expect(plain.length).toBeGreaterThan(2 * LOSSY);
  }, WAIT);
});
afterAll(async () => {
  await prometheus.stop();
  await new Promise((resolve) => exporter.close(resolve));
});

interface Row {
  readonly metric: Record<string, string>;
  readonly values: [number, string][];
}

/** Over the last minute, with a point each second. */
async function rowsOf(query: string): Promise<Row[]> {
  const end = Date.now() / 1_000;
  const form = new URLSearchParams({ query, start: `${end - 60}`, end: `${end}`, step: '1' });
  const answer = await fetch(`${prometheus.url}/api/v1/query_range`, { method: 'POST', body: form });
  const { data, error } = (await answer.json()) as { data?: { result: Row[] }; error?: string };
  if (data === undefined) throw new Error(`${query}: ${error}`);
  return data.result;
}

it.each(QUERIES.filter(({ instant }) => !instant))('$where has 40 rows of 5,000 nodes', async ({ where, expr }) => {
  const began = performance.now();
  const rows = await rowsOf(expr);
  measured(`${where}: ${rows.length} rows after ${seconds(performance.now() - began)}`);
  expect(rows).toHaveLength(LOSSY);
  // Those that lost most: each of them had its loss.
  const highest = rows.map(({ values }) => Math.max(...values.map(([, text]) => Number(text))));
  expect(Math.min(...highest)).toBeGreaterThan(0.25);
});

it.each(QUERIES.filter(({ instant }) => instant))('$where has 20 of 10,000 series', async ({ expr }) => {
  // A scrape that took too long leaves none until the next one.
  await vi.waitFor(async () => {
    const answer = await fetch(`${prometheus.url}/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`);
    const { data } = (await answer.json()) as { data: { result: Row[] } };
    expect(data.result).toHaveLength(20);
  }, WAIT);
});
