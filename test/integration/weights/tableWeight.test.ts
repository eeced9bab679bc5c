import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS, type TrafficWeight } from '../../../src/api/trafficweight/trafficWeight.ts';
import { EVENTS } from '../../../src/runtime/client/resources.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { writesOf } from '../../harness/audit.ts';
import { syncRecords } from '../../harness/externalDns.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { sleep } from '../../harness/measured.ts';
import { createWeightTable, weights, type WeightTable } from '../../harness/weightTable.ts';
import { startAwsProxy, type AwsProxy } from './awsProxy.ts';
import { stubCredentials } from './credentials.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { conditionOf, startScene, WAIT, weightNamed, type WeightScene } from './scene.ts';
import { startZone, type Zone } from './zone.ts';

/**
 * A TrafficWeight whose weight is in the table of k8s-traffic-controller; in the end, DynamoDB and Route 53 throttle and refuse every call,
 * with answers that repeat the credentials. backendFeed.test.ts has an outage of an hour.
 */
const DOMAIN = 'example.org';
const USER = 'table-operator';
/** The annotation by which two TrafficWeights divide the Ingresses. */
const PART = 'example.org/part';
/** Longer than a read, which follows the one before after 20 s. With OUTAGE_SECONDS=3600, an hour. */
const OUTAGE_MS = Number(process.env.OUTAGE_SECONDS ?? 25) * 1_000;
/** By default, an API server deletes an event after an hour, and the event of the beginning is counted at the end. */
const EVENTS_STAY = process.env.OUTAGE_SECONDS === undefined ? {} : { apiServerFlags: ['--event-ttl=48h'] };
const SECRETS = {
  AWS_ACCESS_KEY_ID: 'AKIASECRETKEY0000001',
  AWS_SECRET_ACCESS_KEY: 'SECRET/of+the+key/0001',
  AWS_SESSION_TOKEN: 'SECRET-token-of-a-session',
};
let scene: WeightScene;
let f: Fixture;
let zone: Zone;
let table: WeightTable;
let proxy: AwsProxy;
let ingresses: Ingresses;

beforeAll(async () => {
  zone = await startZone(DOMAIN);
  table = await createWeightTable(zone.aws);
  proxy = await startAwsProxy(zone.aws.url);
  const args = [`--dynamodb-endpoint-url=${proxy.url}`, `--route53-endpoint-url=${proxy.url}`, '--log-level=debug'];
  scene = await startScene(USER, { args, ...EVENTS_STAY });
  f = scene.f;
  ingresses = new Ingresses(f.client);
  stubCredentials(zone.aws);
  for (const [name, value] of Object.entries(SECRETS)) vi.stubEnv(name, value);
  await scene.startOperator();
  await ingresses.deploy('web');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  table.close();
  await f.stop();
  proxy.stop();
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
  // In force at once, and the other part when external-dns has read it.
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

describe('an outage of AWS', () => {
  /** As AWS answers, which repeats what it was sent. */
  const failWith = (name: string): void =>
    proxy.fail({
      name,
      message: ({ headers }) => `${name} ${headers.authorization} ${Object.values(SECRETS).join(' ')}`,
    });
  const writes = (resource: string, since = 0): number =>
    writesOf(f.controlPlane, USER).filter((write) => write.resource === resource && write.at >= since).length;

  /** Resolves once the status names an error of the table and one of the zone. */
  async function says(name: string): Promise<void> {
    await vi.waitFor(async () => {
      expect(await condition('BackendRead')).toMatchObject({
        ...{ status: 'False', reason: 'BackendUnavailable' },
        message: `DynamoDB (table traffic-controller, region eu-west-1) answered ${name}; the last weight stays`,
      });
      expect((await condition('ZonesRead'))?.message).toContain(`answered ${name}`);
    }, WAIT);
  }

  beforeAll(async () => {
    // One TrafficWeight is left, in whose zones the operator looks.
    await f.client.delete(TRAFFIC_WEIGHTS, { name: 'second' });
    await ingresses.delete('shop');
    await f.client.mergePatch(TRAFFIC_WEIGHTS, { name: 'main' }, { spec: { hostedZoneIDs: [zone.id] } }, PERSON);
    await vi.waitFor(async () => {
      expect(await condition('ZonesRead')).toMatchObject({ status: 'True' });
      expect(await condition('Ready')).toMatchObject({ status: 'True', reason: 'InForce' });
    }, WAIT);
  });

  it(
    'keeps the last weight while every call is throttled: no write of a record, one condition, one event, no restart',
    async () => {
      const { pid } = f.operator();
      const before = writes(DNS_ENDPOINTS.plural);
      failWith('ProvisionedThroughputExceededException');
      await says('ProvisionedThroughputExceededException');
      // A read that came before the outage does not find it.
      await table.desire('cluster-a', 10);
      const [told, since, refused] = [await condition('BackendRead'), Date.now(), proxy.asked.length];
      await sleep(OUTAGE_MS);
      // Of the table and of the zone, which are tried again.
      await vi.waitFor(() => expect(proxy.asked.length).toBeGreaterThan(refused + 4), WAIT);
      expect([await condition('BackendRead'), writes('trafficweights/status', since)]).toEqual([told, 0]);
      expect(writes(DNS_ENDPOINTS.plural)).toBe(before);
      expect(await weightOfWeb()).toBe('80');
      expect((await main()).status).toMatchObject({ desiredWeight: 80, currentWeight: 80 });
      const events = (await f.events('main')).filter(({ reason }) => reason === 'BackendUnavailable');
      expect(events.map(({ series }) => series?.count ?? 1)).toEqual([1]);
      process.kill(pid, 0);
    },
    300_000 + OUTAGE_MS,
  );

  it('tells nobody the credentials that an answer repeats, not in the status, events, records, metrics or the log', async () => {
    failWith('UnrecognizedClientException');
    await says('UnrecognizedClientException');
    const objects = [
      await f.client.list(TRAFFIC_WEIGHTS),
      await f.client.list(EVENTS, { namespace: 'default' }),
      await f.client.list(DNS_ENDPOINTS),
    ];
    const metrics = await (await fetch(f.operator().metricsUrl)).text();
    const all = [JSON.stringify(objects), metrics, f.operator().log()].join('\n');
    expect(all).toContain('UnrecognizedClientException');
    expect(Object.values(SECRETS).filter((secret) => all.includes(secret))).toEqual([]);
    expect(all).not.toMatch(/SECRET/);
  });

  it('is over with the next read', async () => {
    proxy.fail(undefined);
    await vi.waitFor(async () => expect(await weightOfWeb()).toBe('10'), WAIT);
    // In force, with hosted zones, once the zone has it.
    await sync();
    await vi.waitFor(async () => {
      expect(await condition('BackendRead')).toMatchObject({ status: 'True' });
      expect(await table.row('cluster-a')).toEqual({ desired: 10, current: 10 });
    }, WAIT);
  });
});
