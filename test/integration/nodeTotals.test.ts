import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newestQuery, totalsQuery, type UsageQuery } from '../../src/usage/pass/queries.ts';
import { promtool } from './promtool.ts';

/** The queries that find repeated values, evaluated by Prometheus itself. */
const QUERY: UsageQuery = { windowSeconds: 120, matchers: [] };
const COUNTER = 'node_network_transmit_bytes_total';
const NODE = '{node="a",instance="a:9100"}';

it('what a node has sent, and when its newest sample came, are one series for each node', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'traffic-totals-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const seriesOf = (device: string): string => `${COUNTER}{node="a",instance="a:9100",device="${device}",job="x"}`;
  const input_series = [
    { series: seriesOf('eth0'), values: '0+10x9' },
    { series: seriesOf('eth1'), values: '1+10x8' },
    { series: seriesOf('veth1'), values: '1000x20' },
  ];
  const of = (expr: string, value: number) => ({ expr, eval_time: '30s', exp_samples: [{ labels: NODE, value }] });
  const promql_expr_test = [of(totalsQuery(QUERY), 171), of(newestQuery(QUERY), 9)];
  const file = join(directory, 'test.yml');
  // JSON is valid YAML. Samples are there until the last full interval of evaluations.
  await writeFile(
    file,
    JSON.stringify({ evaluation_interval: '10s', tests: [{ interval: '1s', input_series, promql_expr_test }] }),
  );
  await expect(promtool('test', 'rules', file)).resolves.toContain('SUCCESS');
});
