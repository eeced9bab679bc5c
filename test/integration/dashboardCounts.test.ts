import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import { panelQueries } from '../../dashboards/queries.ts';
import { MAX_NODES_SHOWN } from '../../src/controllers/trafficwatch/metrics.ts';
import { promtool } from './promtool.ts';

/**
 * Panels while more nodes are unfit than have a series. promtool evaluates their queries, because a cluster of that size
 * takes too long. For ten minutes one node is unfit, then one more than the limit, then one again.
 */
const MINUTES = { few: 5, turning: 10, many: 15, turnedBack: 20, fewAgain: 25 };
const OPERATOR = 'job="traffic-operator",instance="a"';
const WATCH = `${OPERATOR},namespace="default",trafficwatch="web"`;
const SERIES = {
  [`traffic_operator_leader{${OPERATOR}}`]: '1x30',
  [`traffic_operator_trafficwatch_nodes{${WATCH},verdict="Fit"}`]: '1000x30',
  [`traffic_operator_trafficwatch_nodes{${WATCH},verdict="Unfit"}`]: `1x9 ${MAX_NODES_SHOWN + 1}x9 1x10`,
  [`traffic_operator_trafficwatch_nodes{${WATCH},verdict="Unknown"}`]: '0x30',
  [`traffic_operator_node_unfit{${WATCH},node="n1"}`]: '1x30',
  [`traffic_operator_node_unfit{${WATCH},node="n2"}`]: '_x10 1x9 stale',
};
const QUERIES = panelQueries({
  job: 'traffic-operator',
  namespace: 'default',
  trafficwatch: 'web',
  stack: '',
  node: '.*',
  __rate_interval: '1m',
  __interval: '1m',
  __range: '5m',
});

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'traffic-dashboards-'));
});
afterAll(() => rm(directory, { recursive: true }));

type Shown = Readonly<Record<keyof typeof MINUTES, number | undefined>>;
const ONLY_FEW: Shown = { few: 1, turning: undefined, many: undefined, turnedBack: 1, fewAgain: 1 };
const NO_CHANGE: Shown = { few: 0, turning: undefined, many: undefined, turnedBack: undefined, fewAgain: 0 };
const ALL = MAX_NODES_SHOWN + 1;

it.each<[where: string, shown: Shown]>([
  ['traffic-operator-nodes / Unfit / A', ONLY_FEW],
  ['traffic-operator-nodes / Unknown / A', { ...ONLY_FEW, few: 0, turnedBack: 0, fewAgain: 0 }],
  ['traffic-operator-trafficwatch / Unfit / A', { few: 1, turning: ALL, many: ALL, turnedBack: 1, fewAgain: 1 }],
  ['traffic-operator-trafficwatch / Transitions / A', NO_CHANGE],
  ['traffic-operator-trafficwatch / Transitions / B', NO_CHANGE],
])('%s counts, or says nothing', async (where, shown) => {
  const { expr } = QUERIES.find((query) => query.where === where)!;
  const tests = Object.entries(MINUTES).map(([when, minute]) => {
    const value = shown[when as keyof Shown];
    return { expr, eval_time: `${minute}m`, exp_samples: value === undefined ? [] : [{ labels: '{}', value }] };
  });
  const input = Object.entries(SERIES).map(([series, values]) => ({ series, values }));
  const file = join(directory, `${where.replaceAll(/\W+/g, '-')}.yml`);
  // JSON is valid YAML.
  const group = { interval: '1m', input_series: input, promql_expr_test: tests };
  await writeFile(file, JSON.stringify({ evaluation_interval: '1m', tests: [group] }));
  await promtool('test', 'rules', file);
});
