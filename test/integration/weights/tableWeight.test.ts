import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS, type TrafficWeight } from '../../../src/api/trafficweight/trafficWeight.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { writesOf } from '../../harness/audit.ts';
import { syncRecords } from '../../harness/externalDns.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { sleep } from '../../harness/measured.ts';
import { createWeightTable, weights, type WeightTable } from '../../harness/weightTable.ts';
import { stubCredentials } from './credentials.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { conditionOf, startScene, WAIT, weightNamed, type WeightScene } from './scene.ts';
import { startZone, type Zone } from './zone.ts';

/** A TrafficWeight whose weight is in the table of k8s-traffic-controller. */
const DOMAIN = 'example.org';
const USER = 'table-operator';
/** The annotation by which two TrafficWeights divide the Ingresses. */
const PART = 'example.org/part';
let scene: WeightScene;
let f: Fixture;
let zone: Zone;
let table: WeightTable;
let ingresses: Ingresses;

beforeAll(async () => {
  zone = await startZone(DOMAIN);
  table = await createWeightTable(zone.aws);
  scene = await startScene(USER, { args: [`--dynamodb-endpoint-url=${zone.aws.url}`] });
  f = scene.f;
  ingresses = new Ingresses(f.client);
  stubCredentials(zone.aws);
  await scene.startOperator();
  await ingresses.deploy('web');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  table.close();
  await f.stop();
  await zone.stop();
});

const main = (): Promise<TrafficWeight> => weightNamed(f);
const condition = (type: string) => conditionOf(f, type);
const weightOfWeb = async (): Promise<string | undefined> => (await ingresses.weights('web'))?.['web.example.org'];
const sync = (): Promise<void> =>
  syncRecords({ kubeconfig: f.controlPlane.kubeconfig, owner: 'cluster-a', domain: DOMAIN, aws: zone.aws });

it('creates the row of the cluster with the initial weight', async () => {
  const spec = { clusterName: 'cluster-a', bindingDomain: DOMAIN, backend: { dynamodb: { initialWeight: 5 } } };
  await f.client.create(TRAFFIC_WEIGHTS, { metadata: { name: 'main' }, spec });
  await vi.waitFor(async () => expect(await weightOfWeb()).toBe('5'), WAIT);
  // No weight is in force before external-dns has read it.
  expect(await table.row('cluster-a')).toEqual({ desired: 5 });
  // The status is written after the records.
  await vi.waitFor(async () => {
    expect(await condition('BackendRead')).toMatchObject({ status: 'True', reason: 'WeightRead' });
  }, WAIT);
});

it('follows the table, and acknowledges a weight there once it is in force', async () => {
  await table.put('cluster-a', weights(75, 5));
  await vi.waitFor(async () => expect(await weightOfWeb()).toBe('75'), WAIT);
  expect(await table.row('cluster-a')).toEqual({ desired: 75, current: 5 });
  await sync();
  await vi.waitFor(async () => expect(await table.row('cluster-a')).toEqual({ desired: 75, current: 75 }), WAIT);
  expect(await zone.weightsOf('cluster-a')).toEqual({ 'web.example.org.': 75 });
  expect((await main()).status).toMatchObject({ desiredWeight: 75, currentWeight: 75 });
});

it('keeps the last weight while the table has none that is valid, also after a restart', async () => {
  await table.put('cluster-a', weights(300, 75));
  const message =
    'DesiredWeight of cluster-a in the table traffic-controller is 300: must be an integer from 0 to 255; the last weight stays';
  await vi.waitFor(async () => {
    expect(await condition('BackendRead')).toMatchObject({ status: 'False', reason: 'InvalidWeight', message });
    expect(await condition('Ready')).toMatchObject({ status: 'False', reason: 'InvalidWeight' });
  }, WAIT);
  await f.operator().terminate();
  const before = writesOf(f.controlPlane, USER).length;
  await scene.startOperator();
  // One read, and what would follow it.
  await sleep(5_000);
  const resources = writesOf(f.controlPlane, USER)
    .slice(before)
    .map(({ resource }) => resource);
  expect(resources.filter((resource) => resource === DNS_ENDPOINTS.plural)).toEqual([]);
  expect([await weightOfWeb(), (await main()).status?.desiredWeight]).toEqual(['75', 75]);
  await table.put('cluster-a', weights(60, 75));
  await vi.waitFor(async () => {
    expect(await weightOfWeb()).toBe('60');
    expect(await condition('BackendRead')).toMatchObject({ status: 'True' });
  }, WAIT);
});

it('creates a lost row with the weight that the records have, also after a restart', async () => {
  await f.operator().terminate();
  await table.delete('cluster-a');
  await scene.startOperator();
  await vi.waitFor(async () => expect(await table.row('cluster-a')).toMatchObject({ desired: 60 }), WAIT);
  expect(await weightOfWeb()).toBe('60');
});

it('acknowledges a weight only when all TrafficWeights of the cluster have it in force', async () => {
  await ingresses.annotate('web', 'one', PART);
  const { spec } = await main();
  // In force at once, and the other one when external-dns has read it.
  const first = { annotationFilter: `${PART}=one`, acknowledge: 'Applied' };
  await f.client.mergePatch(TRAFFIC_WEIGHTS, { name: 'main' }, { spec: first }, PERSON);
  const second = { ...spec, annotationFilter: `${PART}=two` };
  await f.client.create(TRAFFIC_WEIGHTS, { metadata: { name: 'second' }, spec: second });
  await ingresses.deploy('shop', { annotations: { [PART]: 'two' } });
  // Without a record, a weight of the second one is in force at once.
  await vi.waitFor(async () => expect((await ingresses.weights('shop'))?.['shop.example.org']).toBe('60'), WAIT);
  await table.put('cluster-a', weights(80, 60));
  await vi.waitFor(async () => {
    expect(await condition('Acknowledged')).toMatchObject({ status: 'False', reason: 'NotAcknowledgedYet' });
    expect((await main()).status).toMatchObject({ desiredWeight: 80, currentWeight: 80 });
    expect((await ingresses.weights('shop'))?.['shop.example.org']).toBe('80');
  }, WAIT);
  // In which it would be acknowledged.
  await sleep(2_000);
  expect(await table.row('cluster-a')).toEqual({ desired: 80, current: 60 });
  await sync();
  await vi.waitFor(async () => {
    expect(await table.row('cluster-a')).toEqual({ desired: 80, current: 80 });
    expect(await condition('Acknowledged')).toMatchObject({ status: 'True', reason: 'WeightAcknowledged' });
  }, WAIT);
});
