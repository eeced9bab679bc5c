import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { writesOf } from '../../harness/audit.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { conditionOf, startScene, WAIT, weightNamed } from './scene.ts';

/** A TrafficWeight whose weight is the free share of the links, which a real Prometheus measures. */
const USER = 'measuring-operator';
const SENT = 'node_network_transmit_bytes_total';
const FREE = `1 - sum(rate(${SENT}[10s]) and ${SENT} offset 10s) / sum(node_network_speed_bytes and ${SENT} offset 10s)`;
/** Its measurements on a busy machine are off by some points. */
const MIN_CHANGE = 12;
let f: Fixture;
let ingresses: Ingresses;

beforeAll(async () => {
  const scene = await startScene(USER);
  f = scene.f;
  ingresses = new Ingresses(f.client);
  f.exporter.setPercent('n1', 20);
  await scene.startOperator();
  await ingresses.deploy('web');
  const backend = { prometheus: { query: FREE, minChange: MIN_CHANGE } };
  await f.client.create(TRAFFIC_WEIGHTS, { metadata: { name: 'main' }, spec: { clusterName: 'cluster-a', backend } });
});
afterAll(() => f.stop());

const weightOfWeb = async (): Promise<number> => Number((await ingresses.weights('web'))?.['web.example.org']);
const recordWrites = (): number =>
  writesOf(f.controlPlane, USER).filter(({ resource }) => resource === DNS_ENDPOINTS.plural).length;
const desired = async (): Promise<number | undefined> => (await weightNamed(f)).status?.desiredWeight;

it('follows what is free', async () => {
  await vi.waitFor(async () => expect(Math.abs((await weightOfWeb()) - 80)).toBeLessThan(MIN_CHANGE), WAIT);
  await vi.waitFor(async () => {
    expect(await conditionOf(f, 'BackendRead')).toMatchObject({ status: 'True', reason: 'WeightRead' });
  }, WAIT);
  expect(await conditionOf(f, 'Acknowledged')).toBeUndefined();
  f.exporter.setPercent('n1', 70);
  await vi.waitFor(async () => {
    const weight = await weightOfWeb();
    expect(Math.abs(weight - 30)).toBeLessThan(MIN_CHANGE);
    expect(await desired()).toBe(weight);
  }, WAIT);
});

it('keeps the last weight while the query gives nothing, and says so', async () => {
  const before = [await desired(), recordWrites()];
  await f.client.mergePatch(
    TRAFFIC_WEIGHTS,
    { name: 'main' },
    { spec: { backend: { prometheus: { query: 'no_such_metric' } } } },
    PERSON,
  );
  const message = 'the query no_such_metric gives no series: must give one series with a number; the last weight stays';
  await vi.waitFor(async () => {
    expect(await conditionOf(f, 'BackendRead')).toMatchObject({ status: 'False', reason: 'InvalidWeight', message });
  }, WAIT);
  expect([await desired(), recordWrites()]).toEqual(before);
});

it('keeps the last weight while Prometheus is away, and follows again', async () => {
  const query = { spec: { backend: { prometheus: { query: FREE } } } };
  await f.client.mergePatch(TRAFFIC_WEIGHTS, { name: 'main' }, query, PERSON);
  await vi.waitFor(async () => {
    expect(await conditionOf(f, 'BackendRead')).toMatchObject({ status: 'True' });
  }, WAIT);
  const before = [await desired(), recordWrites()];
  await f.stopPrometheus();
  await vi.waitFor(async () => {
    expect(await conditionOf(f, 'BackendRead')).toMatchObject({ status: 'False', reason: 'BackendUnavailable' });
  }, WAIT);
  expect([await desired(), recordWrites()]).toEqual(before);
  f.exporter.setPercent('n1', 50);
  await f.startPrometheus();
  await vi.waitFor(async () => expect(Math.abs((await weightOfWeb()) - 50)).toBeLessThan(MIN_CHANGE), WAIT);
});
