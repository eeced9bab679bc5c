import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { uidOf } from '../../../dashboards/dashboard.ts';
import { panelQueries, variableQueries } from '../../../dashboards/queries.ts';
import { TRAFFIC_STACKS } from '../../../src/api/trafficstack/trafficStack.ts';
import { allAlerts } from '../../../src/controllers/measurement/components/rules/alerts.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { DEPLOYMENTS } from '../../../src/runtime/client/resources.ts';
import { alertsHolding, numbersOf, startObserver, valuesByLabels, type Observer } from '../observer.ts';
import { component, startScene, USER, WAIT, type StackScene } from './scene.ts';
import { ALL, DB, WEB } from './shop.ts';

/** Every query of the dashboard Stacks, and every alert about stacks, sent to a real Prometheus that scrapes a real operator. */
const VARIABLES = {
  ...{ job: 'traffic-operator', namespace: '', trafficwatch: '', node: '', stack: 'main' },
  ...{ __rate_interval: '5s', __interval: '5s', __range: '5m' },
};
const UID = uidOf('stacks');
const QUERIES = panelQueries(VARIABLES).filter(({ where }) => where.startsWith(`${UID} /`));
/** A stack is late at once. */
const ALERTS = allAlerts()
  .filter(({ alert }) => alert.startsWith('TrafficStack'))
  .map(({ alert, expr }) => ({ alert, expr: expr.replace('> 900', '> 0') }));
const FAULT = { reason: 'ImagePullBackOff', message: 'Back-off pulling image' };

let s: StackScene;
let observer: Observer;

beforeAll(async () => {
  s = await startScene(USER);
  await s.startOperator();
  observer = await startObserver(new URL(s.f.operator().metricsUrl).host, s.f.exporter.target);
});
afterAll(async () => {
  await observer.stop();
  await s.stop();
});

/** The newest values of a panel's query, by the values of their labels. */
async function shown(where: string): Promise<Record<string, number>> {
  const { expr } = QUERIES.find((each) => each.where.endsWith(` / ${where}`))!;
  return valuesByLabels(await observer.answerTo(expr, true));
}

const holding = () => alertsHolding(observer, ALERTS);

it('every query finds numbers while components wait for one that does not get ready', async () => {
  s.kubelet.faults.set('db', FAULT);
  await s.create('main', ALL);
  expect(QUERIES.length).toBeGreaterThan(15);
  for (const { where, expr, instant } of QUERIES) {
    const found = async (): Promise<number> => numbersOf(await observer.answerTo(expr, instant)).length;
    await vi.waitFor(async () => expect(await found(), where).toBeGreaterThan(0), WAIT);
  }
});

it('a stack can be chosen', async () => {
  const { series, label } = variableQueries(VARIABLES).find(({ where }) => where === `${UID} $stack`)!;
  // A scrape that takes longer than a second ends the series, until the next one.
  await vi.waitFor(async () => {
    expect(await observer.answerTo(`group by (${label}) (${series})`, true)).toMatchObject([
      { metric: { stack: 'main' } },
    ]);
  }, WAIT);
});

it('the panels say who waits for whom, and the alert names the root', async () => {
  await vi.waitFor(async () => {
    expect(await shown('Ready / A')).toEqual({ InProgress: 0 });
    expect(await shown('Components by state and time / A')).toEqual({
      ...{ 'db Progressing': 1, 'api Waiting': 1, 'web Waiting': 1, 'agent Ready': 1 },
    });
    expect(await shown('Components by state and time / C')).toEqual({ agent: 1, db: 0 });
    expect(await shown('Components by state and time / D')).toEqual({ agent: 1, db: 2 });
    expect(await shown('Components by state and time / E')).toEqual({ 'api db': 1, 'web db': 1 });
    expect(await shown('What others wait for / A')).toEqual({ db: 2 });
    expect(await shown('Missing pods by component / A')).toEqual({ agent: 0, db: 2 });
    expect(await holding()).toEqual({ TrafficStackNotReady: [{ stack: 'main', component: 'db' }] });
  }, WAIT);
  await vi.waitFor(async () => {
    const since = (await s.component('db'))!.since;
    const age = (await shown('Components by state and time / B')).db!;
    expect(Math.abs(age - (Date.now() - Date.parse(since)) / 1_000)).toBeLessThan(10);
  }, WAIT);
});

it('no alert holds when the stack is ready, and nobody waits', async () => {
  s.kubelet.faults.delete('db');
  await s.ready();
  await vi.waitFor(async () => {
    expect(await shown('Ready / A')).toEqual({ AllReady: 1 });
    expect(await shown('Components not ready / A')).toEqual({ '': 0 });
    expect(await shown('What others wait for / A')).toEqual({});
    expect(await shown('Pods / A')).toEqual(await shown('Pods / B'));
    expect(await holding()).toEqual({});
  }, WAIT);
});

it('a component that is degraded, and one that has failed, is an alert, and the stack is no other one', async () => {
  s.kubelet.faults.set('api', FAULT).set('slow', FAULT);
  await s.change('main', [...ALL, component('slow', { deadline: '3s' }), component('after', { dependsOn: ['slow'] })]);
  await vi.waitFor(async () => {
    expect(await holding()).toEqual({
      TrafficStackComponentDegraded: [{ stack: 'main', component: 'api' }],
      TrafficStackComponentFailed: [{ stack: 'main', component: 'slow' }],
    });
    expect(await shown('Components degraded or failed / A')).toEqual({ '': 2 });
  }, WAIT);
  s.kubelet.faults.clear();
  await s.change('main', ALL);
  await s.ready();
});

it('an object of another owner is the alert of its component alone', async () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'x', image: 'x:1' }] } };
  const metadata = { namespace: 'default', name: 'theirs' };
  await s.f.client.create(DEPLOYMENTS, {
    metadata,
    spec: { replicas: 0, selector: { matchLabels: { a: 'b' } }, template },
  });
  await s.change('main', [...ALL, component('theirs')]);
  await vi.waitFor(async () => {
    expect(await shown('Stacks stalled / A')).toEqual({ '': 1 });
    expect(await holding()).toEqual({ TrafficStackComponentFailed: [{ stack: 'main', component: 'theirs' }] });
  }, WAIT);
  await s.f.client.delete(DEPLOYMENTS, metadata);
});

it('nothing looks healthy while the dependencies are invalid', async () => {
  await s.change('main', [WEB, DB]);
  await vi.waitFor(async () => {
    expect(await shown('Ready / A')).toEqual({ InvalidDependencies: 0 });
    const states = await shown('Components by state and time / A');
    expect(Object.keys(states)).toEqual(expect.arrayContaining(['db Unknown', 'web Unknown']));
    expect(Object.keys(states).filter((each) => !each.endsWith(' Unknown'))).toEqual([]);
    expect(await shown('Pods / B')).toEqual({});
    expect(await holding()).toEqual({ TrafficStackStalled: [{ stack: 'main', reason: 'InvalidDependencies' }] });
  }, WAIT);
});

it('the series of a stack end with it', async () => {
  await s.change('main', ALL);
  await s.ready();
  await s.f.client.delete(TRAFFIC_STACKS, { name: 'main' });
  await vi.waitFor(() => expect(s.stack()).rejects.toSatisfy(isNotFound), WAIT);
  await vi.waitFor(async () => {
    const metrics = await (await fetch(s.f.operator().metricsUrl)).text();
    expect(metrics).not.toMatch(/^traffic_operator_stack_.*\{/m);
    expect(await observer.answerTo('{__name__=~"traffic_operator_stack_.+"}', true)).toEqual([]);
  }, WAIT);
});
