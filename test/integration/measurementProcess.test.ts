import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_STACKS } from '../../src/api/trafficstack/trafficStack.ts';
import { DAEMONSETS, SERVICES } from '../../src/runtime/client/resources.ts';
import { installCrd, trafficStackCrd } from '../harness/customResource.ts';
import { withNodeOptions } from '../harness/nodeOptions.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { addExporterPod, CRASHING, reportReady } from './measurementPods.ts';

/** Tests the reports of the operator's process about its measurement in the TrafficWatch. */
const WAIT = { timeout: 90_000, interval: 200 };
const LATER = new URL('../harness/shiftClock.ts?seconds=120', import.meta.url).href;
const EXPORTER = { namespace: 'default-node-exporter', name: 'node-exporter' };
const SERVICE = { namespace: 'default', name: 'prometheus' };

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
  await installCrd(f.client, trafficStackCrd(), TRAFFIC_STACKS);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
});
afterAll(async () => {
  await f.stop();
});

async function conditionOf(wanted: string) {
  const { status } = await f.watch('web');
  return status?.conditions?.find(({ type }) => type === wanted);
}

it('does not query a foreign Service, and reports it in the TrafficWatch until it is gone', async () => {
  await f.client.create(SERVICES, { metadata: SERVICE, spec: { ports: [{ port: 9090 }] } });
  await f.startOperator(['--namespace=default', '--scrape-interval=1s'], { prometheusUrl: undefined });
  await vi.waitFor(async () => {
    expect(await conditionOf('PrometheusReachable')).toMatchObject({
      status: 'False',
      reason: 'PrometheusBadConfiguration',
    });
  }, WAIT);
  expect((await conditionOf('PrometheusReachable'))?.message).toMatch(
    /^Service default\/prometheus was not made by this operator, so it is not queried: .*--prometheus-url/,
  );
  expect(f.operator().log()).not.toContain('"reason":"Unreachable"');
  // Once it is gone, ours is created and queried. The failed lookup of its name shows that it was.
  await f.client.delete(SERVICES, SERVICE);
  await vi.waitFor(
    async () => expect(await conditionOf('PrometheusReachable')).toMatchObject({ reason: 'PrometheusUnreachable' }),
    WAIT,
  );
  const ours = await vi.waitFor(() => f.client.get(SERVICES, SERVICE), WAIT);
  expect(ours.metadata?.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'traffic-operator' });
});

it('names a node without figures whose exporter does not start, and the reason, until it starts', async () => {
  await f.stopOperator();
  await f.addNode('n2');
  // Two minutes ahead, so that the node is no longer new, and the exporter has had enough time to start.
  await withNodeOptions(`--import=${LATER}`, () => f.startOperator(['--namespace=default', '--node-exporter']));
  const daemonSet = await vi.waitFor(() => f.client.get(DAEMONSETS, EXPORTER), WAIT);
  await addExporterPod(f.client, daemonSet, 'n2', CRASHING);
  await reportReady(f.client, EXPORTER, 1, 2);
  await vi.waitFor(async () => {
    const available = await conditionOf('MetricsAvailable');
    expect(available).toMatchObject({ status: 'False', reason: 'PartialData' });
    expect(available?.message).toMatch(
      /^no data for n2 \(NoSeries\); no node-exporter is ready on n2 \(its container ends with code 1\): not measured; .* TCP port 9100, .*--node-exporter-port/,
    );
  }, WAIT);
  await reportReady(f.client, EXPORTER, 2, 2);
  f.exporter.setPercent('n2', 1);
  await vi.waitFor(async () => {
    expect(await conditionOf('MetricsAvailable')).toMatchObject({ status: 'True', reason: 'AllMeasured' });
  }, WAIT);
});
