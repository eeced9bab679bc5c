import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { SERVICES } from '../../src/runtime/resources.ts';
import { startFixture, type Fixture } from './fixture.ts';

/** An operator with a Prometheus of its own, in a namespace where the name of that is taken. */
const WAIT = { timeout: 60_000, interval: 200 };
const SERVICE = { namespace: 'default', name: 'prometheus' };

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
});
afterAll(async () => {
  await f.stop();
});

async function reachable() {
  const { status } = await f.watch('web');
  return status?.conditions?.find(({ type }) => type === 'PrometheusReachable');
}

it("does not ask somebody else's Service, and says so in the TrafficWatch until it is gone", async () => {
  await f.client.create(SERVICES, { metadata: SERVICE, spec: { ports: [{ port: 9090 }] } });
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await f.startOperator(['--namespace=default', '--scrape-interval=1s'], { prometheusUrl: undefined });
  await vi.waitFor(async () => {
    expect(await reachable()).toMatchObject({ status: 'False', reason: 'PrometheusBadConfiguration' });
  }, WAIT);
  expect((await reachable())?.message).toMatch(
    /^Service default\/prometheus was not made by this operator, so it is not asked: .*--prometheus-url/,
  );
  expect(f.operator().log()).not.toContain('"reason":"Unreachable"');
  // Once it is ours, it is asked: that nobody here knows its name shows that it was.
  await f.client.delete(SERVICES, SERVICE);
  await vi.waitFor(async () => expect(await reachable()).toMatchObject({ reason: 'PrometheusUnreachable' }), WAIT);
  expect((await f.client.get(SERVICES, SERVICE)).metadata?.labels).toMatchObject({
    'app.kubernetes.io/managed-by': 'traffic-operator',
  });
});
