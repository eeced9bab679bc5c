import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { lagQuery, standingQuery, totalsQuery, type UsageQuery } from '../../src/usage/pass/queries.ts';
import { promtool } from './promtool.ts';

/** Queries about values and times of whole nodes, evaluated by Prometheus itself. */
const QUERY: UsageQuery = { windowSeconds: 120, matchers: [] };
const COUNTER = 'node_network_transmit_bytes_total';
const NODE = '{node="a",instance="a:9100"}';

interface Expected {
  readonly expr: string;
  readonly eval_time: string;
  readonly exp_samples: readonly { readonly labels: string; readonly value: number }[];
}

async function evaluate(
  values: Readonly<Record<string, string>>,
  promql_expr_test: readonly Expected[],
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-totals-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const input_series = Object.entries(values).map(([device, each]) => ({
    series: `${COUNTER}{node="a",instance="a:9100",device="${device}",job="x"}`,
    values: each,
  }));
  const tests = [{ interval: '1s', input_series, promql_expr_test }];
  const file = join(directory, 'test.yml');
  // JSON is valid YAML. Samples are there until the last full interval of evaluations.
  await writeFile(file, JSON.stringify({ evaluation_interval: '10s', tests }));
  await expect(promtool('test', 'rules', file)).resolves.toContain('SUCCESS');
}

it('the bytes that a node has sent are one series', async () => {
  const exp_samples = [{ labels: NODE, value: 171 }];
  const values = { eth0: '0+10x9', eth1: '1+10x8', veth1: '1000x20' };
  await evaluate(values, [{ expr: totalsQuery(QUERY), eval_time: '30s', exp_samples }]);
});

it('the query for the lag has a node only if its newest sample on any device is late', async () => {
  const values = { eth0: '0+1x99', eth1: '0+1x39' };
  const lag = (lagOfAll: number) => ({ labels: '{}', value: lagOfAll });
  const expr = lagQuery(QUERY);
  await evaluate(values, [
    { expr, eval_time: '99s', exp_samples: [lag(3)] },
    { expr, eval_time: '158s', exp_samples: [lag(62)] },
    { expr, eval_time: '159s', exp_samples: [lag(63), { labels: NODE, value: 60 }] },
  ]);
});

it.each<{ why: string; values: Readonly<Record<string, string>>; stands: boolean }>([
  { why: 'counters that get samples, and repeat their values', values: { eth0: '5x100', eth1: '7x100' }, stands: true },
  { why: 'one that still counts', values: { eth0: '5x100', eth1: '0+1x100' }, stands: false },
  { why: 'lo that still counts', values: { eth0: '5x100', lo: '0+1x100' }, stands: false },
  { why: 'a pod that counts', values: { eth0: '5x100', veth1: '0+1x100' }, stands: true },
  { why: 'counters whose samples have stopped', values: { eth0: '5x60' }, stands: false },
])('the query for repeated values finds a node with $why: $stands', async ({ values, stands }) => {
  const exp_samples = stands ? [{ labels: NODE, value: 0 }] : [];
  await evaluate(values, [{ expr: standingQuery(QUERY, 30), eval_time: '100s', exp_samples }]);
});
