import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { EVENTS } from '../../../src/runtime/client/resources.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { writesOf } from '../../harness/audit.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { sleep } from '../../harness/measured.ts';
import { createWeightTable, weights, type WeightTable } from '../../harness/weightTable.ts';
import { startAwsProxy, type AwsProxy } from './awsProxy.ts';
import { stubCredentials } from './credentials.ts';
import { Ingresses } from './ingresses.ts';
import { conditionOf, startScene, WAIT, weightNamed } from './scene.ts';
import { startZone, type Zone } from './zone.ts';

/**
 * DynamoDB and Route 53 throttle and refuse every call, with answers that repeat the credentials. No record changes, and nothing that the
 * operator writes or logs has them. backendFeed.test.ts has an outage of an hour.
 */
const USER = 'throttled-operator';
/** Longer than two reads, which follow each other every 20 s. With OUTAGE_SECONDS=3600, an hour. */
const OUTAGE_MS = Number(process.env.OUTAGE_SECONDS ?? 50) * 1_000;
/** Of the reads of the table and of the zone: half of those that are due. */
const REFUSED_AT_LEAST = OUTAGE_MS / 20_000;
const SECRETS = {
  AWS_ACCESS_KEY_ID: 'AKIASECRETKEY0000001',
  AWS_SECRET_ACCESS_KEY: 'SECRET/of+the+key/0001',
  AWS_SESSION_TOKEN: 'SECRET-token-of-a-session',
};

let zone: Zone;
let table: WeightTable;
let proxy: AwsProxy;
let f: Fixture;
let ingresses: Ingresses;

/** As AWS answers, which repeats what it was sent. */
const failWith = (name: string): void =>
  proxy.fail({
    name,
    message: ({ headers }) => `${name} ${headers.authorization} ${Object.values(SECRETS).join(' ')}`,
  });

beforeAll(async () => {
  zone = await startZone('example.org');
  table = await createWeightTable(zone.aws);
  await table.put('cluster-a', weights(75, 75));
  proxy = await startAwsProxy(zone.aws.url);
  const args = [`--dynamodb-endpoint-url=${proxy.url}`, `--route53-endpoint-url=${proxy.url}`, '--log-level=debug'];
  // By default, an API server deletes an event after an hour, and that of the beginning is counted at the end.
  const scene = await startScene(USER, { args, apiServerFlags: ['--event-ttl=48h'] });
  f = scene.f;
  ingresses = new Ingresses(f.client);
  stubCredentials(zone.aws);
  for (const [name, value] of Object.entries(SECRETS)) vi.stubEnv(name, value);
  await scene.startOperator();
  await ingresses.deploy('web');
  const spec = { clusterName: 'cluster-a', acknowledge: 'Applied' as const, hostedZoneIDs: [zone.id] };
  await f.client.create(TRAFFIC_WEIGHTS, { metadata: { name: 'main' }, spec: { ...spec, backend: { dynamodb: {} } } });
  await vi.waitFor(async () => {
    expect(await ingresses.weights('web')).toEqual({ 'web.example.org': '75' });
    expect(await conditionOf(f, 'Ready')).toMatchObject({ status: 'True', reason: 'InForce' });
  }, WAIT);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await f.stop();
  proxy.stop();
  table.close();
  await zone.stop();
});

const read = () => conditionOf(f, 'BackendRead');
/** @param since of Date.now(): an earlier write may be logged later */
const writes = (resource: string, since = 0): number =>
  writesOf(f.controlPlane, USER).filter((write) => write.resource === resource && write.at >= since).length;

/** Resolves once the status names an error of the table and one of the zone. */
async function says(name: string): Promise<void> {
  await vi.waitFor(async () => {
    expect(await read()).toMatchObject({ status: 'False', reason: 'BackendUnavailable' });
    expect((await read())?.message).toBe(
      `DynamoDB (table traffic-controller, region eu-west-1) answered ${name}; the last weight stays`,
    );
    expect((await conditionOf(f, 'ZonesRead'))?.message).toContain(`answered ${name}`);
  }, WAIT);
}

it(
  'keeps the last weight while every call is throttled: no write of a record, one condition, one event, no restart',
  async () => {
    const { pid } = f.operator();
    const before = writes(DNS_ENDPOINTS.plural);
    failWith('ProvisionedThroughputExceededException');
    await says('ProvisionedThroughputExceededException');
    // A read that came before the outage does not find it.
    await table.desire('cluster-a', 10);
    const [told, since, refused] = [await read(), Date.now(), proxy.asked.length];
    await sleep(OUTAGE_MS);
    await vi.waitFor(() => expect(proxy.asked.length).toBeGreaterThan(refused + Math.max(4, REFUSED_AT_LEAST)), WAIT);
    expect([await read(), writes('trafficweights/status', since)]).toEqual([told, 0]);
    expect(writes(DNS_ENDPOINTS.plural)).toBe(before);
    expect(await ingresses.weights('web')).toEqual({ 'web.example.org': '75' });
    expect((await weightNamed(f)).status).toMatchObject({ desiredWeight: 75, currentWeight: 75 });
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

it('follows the table again with the next read', async () => {
  proxy.fail(undefined);
  await vi.waitFor(async () => {
    expect(await ingresses.weights('web')).toEqual({ 'web.example.org': '10' });
    expect(await read()).toMatchObject({ status: 'True' });
    expect(await table.row('cluster-a')).toEqual({ desired: 10, current: 10 });
  }, WAIT);
});
