import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RULE_FILES } from '../../src/controllers/measurement/components/prometheusConfig.ts';
import { allAlerts } from '../../src/controllers/measurement/components/rules/alerts.ts';
import { RUNBOOKS, runbookUrl } from '../../src/controllers/measurement/components/rules/rule.ts';
import { PROMETHEUS, promtool } from './promtool.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { panelQueries } from '../../dashboards/queries.ts';
import { managerFlags } from '../../src/commands/manager/command.ts';
import { managerOptions } from '../../src/commands/manager/options.ts';
import { CONTROLLERS } from '../../src/controllers/registry.ts';
import { MAX_NODES_SHOWN } from '../../src/controllers/trafficwatch/metrics.ts';
import { readFlags } from '../../src/options/readFlags.ts';
import { type UsageQuery, ratesQuery, samplesPerWindowQuery } from '../../src/usage/pass/queries.ts';

const RULES = `${PROMETHEUS}rules/`;
const TESTS = readdirSync(RULES).filter((file) => file.endsWith('.test.yml'));
const ALERTS = allAlerts();

/** How often a text has this word in it. */
function count(text: string, word: string): number {
  return text.split(word).length - 1;
}

describe('the rules', () => {
  it('are taken by promtool with all its lints', async () => {
    const files = [...Object.values(RULE_FILES), 'rules/recording-without-operator.yml'];
    await promtool('check', 'rules', '--lint=all', '--lint-fatal', ...files);
  });

  it.each(TESTS)('hold what %s says', async (file) => {
    await promtool('test', 'rules', `rules/${file}`);
  });

  it.each(ALERTS)('are tried out, both firing and silent: $alert', ({ alert }) => {
    const tests = TESTS.map((file) => readFileSync(`${RULES}${file}`, 'utf8')).join('');
    const [, ...cases] = tests.split(new RegExp(`alertname: ${alert}\\n`));
    const silent = cases.filter((text) => /^\s*exp_alerts: \[\]/.test(text));
    expect([silent.length > 0, silent.length < cases.length]).toEqual([true, true]);
  });
});

describe('the runbooks', () => {
  const text = readFileSync(fileURLToPath(new URL('../../docs/runbooks.md', import.meta.url)), 'utf8');
  const sections = new Map(
    text
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf('\n')), section]),
  );

  it('have a section for each alert, in its order, and no other', () => {
    expect([...sections.keys()]).toEqual(ALERTS.map(({ alert }) => alert));
  });

  it.each(ALERTS)('say what $alert means, what it does, how to look and what to do', ({ alert }) => {
    const section = sections.get(alert)!;
    for (const part of ['**Meaning.**', '**Impact.**', '**Diagnosis.**', '**Mitigation.**']) {
      expect(count(section, part), part).toBe(1);
    }
    expect(section).toMatch(/`kubectl |```/);
  });

  it.each(ALERTS)('are found by the annotation of $alert', ({ alert }) => {
    const rules = readFileSync(`${PROMETHEUS}${RULE_FILES.alerts}`, 'utf8');
    expect(runbookUrl(alert)).toBe(`${RUNBOOKS}#${alert.toLowerCase()}`);
    expect(count(rules, `runbook_url: ${runbookUrl(alert)}\n`)).toBe(1);
  });
});

/** Queries that promtool evaluates, in Prometheus' own reckoning: a cluster of the size, or the hours, would take too long. */
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'traffic-promtool-'));
  const kubeconfig = '{clusters: [{name: c, cluster: {server: "https://c"}}], users: [], contexts: []}';
  await writeFile(join(directory, 'kubeconfig'), kubeconfig);
});
afterAll(() => rm(directory, { recursive: true }));

/** Runs unit tests of promtool, which names the query and its answer where they fail. */
async function evaluate(name: string, tests: readonly object[]): Promise<void> {
  const file = join(directory, `${name}.yml`);
  // JSON is valid YAML.
  await writeFile(file, JSON.stringify({ evaluation_interval: '1m', tests }));
  await promtool('test', 'rules', file);
}

function queryOf(args: readonly string[]): UsageQuery {
  const flags = readFlags(managerFlags(CONTROLLERS), [`--kubeconfig=${directory}/kubeconfig`, ...args], {});
  return managerOptions(flags, {}, pino({ level: 'silent' })).query;
}

it('the window holds four scrapes with any --scrape-interval alone', async () => {
  const tests = [1, 5, 15, 30, 60, 120].map((seconds) => {
    const expr = `${samplesPerWindowQuery(queryOf([`--scrape-interval=${seconds}s`]))} >= bool 4`;
    // Right at a scrape, right before one and in between, since passes and scrapes do not run in step.
    const moments = [0, 1, seconds - 1].map((second) => `${600 * seconds + second}s`);
    return {
      interval: `${seconds}s`,
      input_series: [{ series: 'node_network_transmit_bytes_total{node="a",device="eth0"}', values: '0+1x700' }],
      promql_expr_test: moments.map((eval_time) => ({ expr, eval_time, exp_samples: [{ labels: '{}', value: 1 }] })),
    };
  });
  await evaluate('window', tests);
});

it('a matcher may have the name of a label that must be quoted', async () => {
  const series = (cluster: string) =>
    `node_network_transmit_bytes_total{"k8s.cluster.name"="${cluster}",node="a",device="eth0"}`;
  const query = queryOf([
    '--prometheus-url=http://p',
    '--prometheus-matcher="k8s.cluster.name"=~"x|z"',
    '--window=20s',
  ]);
  const exp_samples = [{ labels: '{"k8s.cluster.name"="x",node="a",device="eth0"}', value: 2 }];
  const tests = [
    {
      interval: '5s',
      input_series: ['x', 'y'].map((cluster) => ({ series: series(cluster), values: '0+10x100' })),
      promql_expr_test: [{ expr: ratesQuery(query), eval_time: '60s', exp_samples }],
    },
  ];
  await evaluate('matcher', tests);
});

/** For ten minutes one node is unfit, then one more than have a series, then one again. */
const MINUTES = { few: 5, turning: 10, many: 15, turnedBack: 20, fewAgain: 25 };
const OPERATOR = 'job="traffic-operator",instance="a"';
const WATCH = `${OPERATOR},namespace="default",trafficwatch="web"`;
const ALL = MAX_NODES_SHOWN + 1;
const SERIES = {
  [`traffic_operator_leader{${OPERATOR}}`]: '1x30',
  [`traffic_operator_trafficwatch_nodes{${WATCH},verdict="Fit"}`]: '1000x30',
  [`traffic_operator_trafficwatch_nodes{${WATCH},verdict="Unfit"}`]: `1x9 ${ALL}x9 1x10`,
  [`traffic_operator_trafficwatch_nodes{${WATCH},verdict="Unknown"}`]: '0x30',
  [`traffic_operator_node_unfit{${WATCH},node="n1"}`]: '1x30',
  [`traffic_operator_node_unfit{${WATCH},node="n2"}`]: '_x10 1x9 stale',
};
const QUERIES = panelQueries({
  ...{ job: 'traffic-operator', namespace: 'default', trafficwatch: 'web', stack: '', node: '.*' },
  ...{ __rate_interval: '1m', __interval: '1m', __range: '5m' },
});

type Shown = Readonly<Record<keyof typeof MINUTES, number | undefined>>;
const ONLY_FEW: Shown = { few: 1, turning: undefined, many: undefined, turnedBack: 1, fewAgain: 1 };
const NO_CHANGE: Shown = { few: 0, turning: undefined, many: undefined, turnedBack: undefined, fewAgain: 0 };
const PANELS: Readonly<Record<string, Shown>> = {
  'traffic-operator-nodes / Unfit / A': ONLY_FEW,
  'traffic-operator-nodes / Unknown / A': { ...ONLY_FEW, few: 0, turnedBack: 0, fewAgain: 0 },
  'traffic-operator-trafficwatch / Unfit / A': { few: 1, turning: ALL, many: ALL, turnedBack: 1, fewAgain: 1 },
  'traffic-operator-trafficwatch / Transitions / A': NO_CHANGE,
  'traffic-operator-trafficwatch / Transitions / B': NO_CHANGE,
};

it('panels count, or say nothing, while more nodes are unfit than have a series', async () => {
  const tests = Object.entries(PANELS).flatMap(([where, shown]) => {
    const { expr } = QUERIES.find((query) => query.where === where)!;
    return Object.entries(MINUTES).map(([when, minute]) => {
      const value = shown[when as keyof Shown];
      return { expr, eval_time: `${minute}m`, exp_samples: value === undefined ? [] : [{ labels: '{}', value }] };
    });
  });
  expect(tests).toHaveLength(Object.keys(PANELS).length * Object.keys(MINUTES).length);
  const input_series = Object.entries(SERIES).map(([series, values]) => ({ series, values }));
  await evaluate('panels', [{ interval: '1m', input_series, promql_expr_test: tests }]);
});
