import type { V1PolicyRule } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { uidOf } from '../../dashboards/dashboard.ts';
import { panelQueries, variableQueries, type PanelQuery } from '../../dashboards/queries.ts';
import { exchange } from '../../src/runtime/testing/rawHttp.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { numbersOf, startObserver, type Observer } from './observer.ts';
import { SPEED_BYTES } from '../harness/syntheticExporter.ts';
import { CLUSTER_ROLES, userWith } from './rights.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * Every query of every dashboard but Connectivity (connectivity/dashboard.test.ts), DNS weights
 * (weights/trafficWeight.test.ts) and Stacks (stacks/dashboard.test.ts), and without the placement webhook (placementWebhook.test.ts), sent to a real Prometheus that scrapes a real operator and an exporter. The operator uses another Prometheus, so that a test can stop that one.
 */
const WAIT = { timeout: 90_000, interval: 1_000 };
const VARIABLES = {
  job: 'traffic-operator',
  namespace: 'default',
  trafficwatch: 'web',
  stack: '',
  node: '.*',
  __rate_interval: '10s',
  __interval: '5s',
  __range: '5m',
};
/** Queries without a result: they show bugs of the operator, and the test cannot cause these. */
const NEVER_SEEN = [
  ...['A', 'B', 'C'].map(
    (query) => `traffic-operator-operator / Bad watch lines, failed subscribers and dropped bodies / ${query}`,
  ),
  'traffic-operator-operator / Series left out / A',
];

const ROLE = { name: 'measured' };
const EVERYTHING: V1PolicyRule[] = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
/** Rights without those to write node labels and events. */
const STATUS_ONLY: V1PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['traffic.example.com'], resources: ['*'], verbs: ['*'] },
];

let f: Fixture;
let observer: Observer;

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2', 'n3'] });
  f.exporter.setPercent('n1', 50);
  f.exporter.remove('n3');
  await f.startOperator([], { kubeconfig: await userWith(f, ROLE.name, EVERYTHING) });
  observer = await startObserver(new URL(f.operator().metricsUrl).host, f.exporter.target);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
});
afterAll(async () => {
  await observer.stop();
  await f.stop();
});

/** The queries of this file. */
function queriesHere(): PanelQuery[] {
  const others = ['connectivity', 'weights', 'stacks'].map((name) => `${uidOf(name)} /`);
  return panelQueries(VARIABLES)
    .filter(({ where }) => !others.some((other) => where.startsWith(other)))
    .filter(({ expr }) => !expr.includes('traffic_operator_placement_webhook_'));
}

/** The places of those queries that found no number, with what is to be asked by `asked`. */
async function without(queries: readonly PanelQuery[], asked: 'expr' | 'withoutZero'): Promise<string[]> {
  const missing: string[] = [];
  for (const query of queries) {
    if (numbersOf(await observer.answerTo(query[asked], query.instant)).length === 0) missing.push(query.where);
  }
  return missing;
}

/** The values of each variable, by its place. */
async function valuesOfVariables(): Promise<Record<string, string[]>> {
  const values: Record<string, string[]> = {};
  for (const { where, series, label } of variableQueries(VARIABLES)) {
    const found = await observer.answerTo(`group by (${label}) (${series})`, true);
    values[where] = found.map(({ metric }) => metric[label]!).sort();
  }
  return values;
}

/** The number in an instant panel: the value of its only series. */
async function shown(where: string, variables = VARIABLES): Promise<number> {
  const query = panelQueries(variables).find((each) => each.where === where);
  const series = await observer.answerTo(query!.expr, true);
  expect(series, where).toHaveLength(1);
  return Number(series[0]!.value![1]);
}

const TRAFFICWATCH = 'traffic-operator-trafficwatch';

describe('while one node is unfit and one unknown', () => {
  it('every query finds numbers', async () => {
    const queries = queriesHere();
    await vi.waitFor(async () => expect(await without(queries, 'expr')).toEqual([]), WAIT);
  });

  it('every variable has the values that are there', async () => {
    const expected = {
      'traffic-operator-nodes $job': ['traffic-operator'],
      'traffic-operator-nodes $node': ['n1', 'n2'],
      'traffic-operator-trafficwatch $job': ['traffic-operator'],
      'traffic-operator-trafficwatch $namespace': ['default'],
      'traffic-operator-trafficwatch $trafficwatch': ['web'],
      'traffic-operator-operator $job': ['traffic-operator'],
      'traffic-operator-connectivity $job': ['traffic-operator'],
      'traffic-operator-weights $job': ['traffic-operator'],
      'traffic-operator-stacks $job': ['traffic-operator'],
      'traffic-operator-stacks $stack': [],
    };
    // After a failed scrape, a job has none until the next scrape.
    await vi.waitFor(async () => expect(await valuesOfVariables()).toEqual(expected), WAIT);
  });

  it.each([
    ['traffic-operator-nodes / Nodes / A', 3],
    ['traffic-operator-nodes / Measured / A', 2],
    ['traffic-operator-nodes / Unfit / A', 1],
    ['traffic-operator-nodes / Unknown / A', 1],
    ['traffic-operator-nodes / Capacity / A', 3 * SPEED_BYTES],
    ['traffic-operator-trafficwatch / Ready / A', 1],
    ['traffic-operator-trafficwatch / Fit / A', 1],
    ['traffic-operator-trafficwatch / Unfit / A', 1],
    ['traffic-operator-trafficwatch / Unknown / A', 1],
    ['traffic-operator-trafficwatch / Held by the breaker / A', 0],
    ['traffic-operator-operator / Leaders / A', 1],
    ['traffic-operator-operator / Replicas / A', 1],
    ['traffic-operator-operator / Restarts / A', 0],
  ])('%s shows %d', async (where, expected) => {
    await vi.waitFor(async () => expect(await shown(where)).toBe(expected), WAIT);
  });

  it('the hottest node is half full, and passes are seconds ago', async () => {
    // Late scrapes make a rate jump for a while.
    await vi.waitFor(async () => {
      expect(await shown('traffic-operator-nodes / Highest use / A')).toBeCloseTo(0.5, 1);
      // One pass each second, visible up to 15 s later.
      expect(await shown('traffic-operator-operator / Age of the last pass / A')).toBeLessThan(30);
    }, WAIT);
  });

  it('mode, direction, measure and the source of the capacity are in a panel', async () => {
    const labelsOf = async (title: string) => {
      const query = panelQueries(VARIABLES).find(({ where }) => where === `${TRAFFICWATCH} / ${title} / A`);
      return (await observer.answerTo(query!.expr, true)).map(({ metric, value }) => ({
        ...metric,
        shows: value?.[1],
      }));
    };
    await vi.waitFor(async () => {
      expect(await labelsOf('What the spec asks for')).toEqual([
        { mode: 'Enforce', direction: 'Transmit', measure: 'Sum', shows: '1' },
      ]);
      expect(await labelsOf('Source of the capacity')).toContainEqual({ source: 'Series', shows: '2' });
    }, WAIT);
  });

  it('an exporter without the label node is known by its instance', async () => {
    const bare = { ...VARIABLES, node: '(bare)' };
    const [query] = panelQueries(bare).filter(({ where }) => where.includes('Transmit rate by node'));
    await vi.waitFor(async () => {
      expect(await shown('traffic-operator-nodes / Capacity / A', bare)).toBe(SPEED_BYTES);
      expect((await observer.answerTo(query!.expr, true)).map(({ metric }) => metric)).toEqual([{ node: 'bare' }]);
    }, WAIT);
  });
});

/** Every label value in the answer to the query at the end of `where`, the zero left out. */
async function labelsIn(where: string): Promise<string[]> {
  const query = panelQueries(VARIABLES).find((each) => each.where.endsWith(` / ${where}`));
  const series = await observer.answerTo(query!.withoutZero, false);
  return series.flatMap(({ metric }) => Object.values(metric));
}

describe('while the breaker is open', () => {
  it('the number of nodes that it holds is in a panel', async () => {
    f.exporter.setPercent('n2', 50);
    await f.patchWatch('web', { spec: { maxUnfit: 1 } });
    const held = () => shown(`${TRAFFICWATCH} / Held by the breaker / A`);
    await vi.waitFor(async () => expect(await held()).toBe(1), WAIT);
    f.exporter.setPercent('n2', 1);
    await f.patchWatch('web', { spec: { maxUnfit: null } });
    await vi.waitFor(async () => expect(await held()).toBe(0), WAIT);
  });
});

describe('after an outage of Prometheus and the API server, and missing rights', () => {
  const LABEL = unfitKey('web');

  it('failed reconciles and events are counted by reason', async () => {
    f.exporter.setPercent('n1', 1);
    await vi.waitFor(async () => {
      expect(await f.labels(LABEL)).toMatchObject({ n1: 'false' });
      // It is written after the label, and cannot be written without the right to.
      expect((await f.events('web')).map(({ reason }) => reason)).toContain('NodeFit');
    }, WAIT);
    await f.client.mergePatch(CLUSTER_ROLES, ROLE, { rules: STATUS_ONLY }, { fieldManager: 'person' });
    await f.setLabels('n1', { [LABEL]: 'true' });
    await vi.waitFor(async () => {
      expect(await labelsIn('Errors / A')).toContain('trafficwatch');
      expect(await labelsIn('Failed calls and retries / A')).toContain('403');
      expect(await labelsIn('Failed calls and retries / B')).toContain('trafficwatch');
      expect(await labelsIn('Writes / A')).toEqual(expect.arrayContaining(['Node', 'Deployment', 'TrafficWatch']));
      expect(await labelsIn('Events / A')).toEqual(expect.arrayContaining(['NodeUnfit', 'NodeFit']));
      expect(await labelsIn('Events / B')).toContain('failed');
    }, WAIT);
  });

  it('failed passes and queries are counted by reason', async () => {
    await f.stopPrometheus();
    await vi.waitFor(async () => {
      expect(await labelsIn('Passes / A')).toEqual(expect.arrayContaining(['ok', 'Unreachable']));
      expect(await labelsIn('Queries / A')).toEqual(expect.arrayContaining(['rates', 'ok', 'Unreachable']));
    }, WAIT);
  });

  it('every range query has found more than zeros', async () => {
    await f.controlPlane.stopApiServer();
    await f.controlPlane.startApiServer();
    const queries = queriesHere().filter(({ where, instant }) => !instant && !NEVER_SEEN.includes(where));
    await vi.waitFor(async () => {
      // A series that begins with its first failure has a rate only after the second one.
      await exchange(Number(new URL(f.operator().metricsUrl).port), 'no request\r\n\r\n');
      expect(await without(queries, 'withoutZero')).toEqual([]);
    }, WAIT);
  });
});

describe('when the operator is gone', () => {
  it('counts are missing, rather than zero', async () => {
    await f.operator().kill();
    const counts = panelQueries(VARIABLES).filter(({ where }) => /(Measured|Unfit|Unknown|Fit) \/ A$/.test(where));
    expect(counts).toHaveLength(6);
    await vi.waitFor(async () => {
      const answers = await Promise.all(counts.map(({ expr }) => observer.answerTo(expr, true)));
      expect(answers.flat()).toEqual([]);
    }, WAIT);
  });
});
