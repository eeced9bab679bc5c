import type { ResourceRecordSet } from '@aws-sdk/client-route-53';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { syncRecords } from '../../harness/externalDns.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { stubCredentials } from './credentials.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { conditionOf, startScene, WAIT, weightNamed, type WeightScene } from './scene.ts';
import { startZone, type Zone } from './zone.ts';

/** Tests that records that Route 53 would refuse are named, and not written. */
const DOMAIN = 'example.org';
/** A period of the reads is 40 s, and one may fail on a busy machine. */
const READ = { timeout: 240_000, interval: 500 };
let zone: Zone;
let scene: WeightScene;
let f: Fixture;
let ingresses: Ingresses;

const set = (name: string, over: Partial<ResourceRecordSet> = {}): ResourceRecordSet => {
  const values = [{ Value: 'other.example.net' }];
  return { Name: `${name}.${DOMAIN}`, Type: 'CNAME', TTL: 300, ResourceRecords: values, ...over };
};
const weighted = (name: string, SetIdentifier = 'cluster-b'): ResourceRecordSet =>
  set(name, { SetIdentifier, Weight: 10 });
const many = (name: string): ResourceRecordSet[] =>
  Array.from({ length: 100 }, (_, n) => weighted(name, `cluster-${n}`));

beforeAll(async () => {
  zone = await startZone(DOMAIN);
  // More than a page, which has 300.
  for (const name of ['many', 'many-more', 'many-others']) await zone.change('UPSERT', ...many(name));
  await zone.change('UPSERT', set('taken'), weighted('lagging'), weighted('fine'), set('*'));
  scene = await startScene('zone-operator', { args: [`--route53-endpoint-url=${zone.aws.url}`] });
  f = scene.f;
  ingresses = new Ingresses(f.client);
  stubCredentials(zone.aws);
  await scene.startOperator();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await f.stop();
  await zone.stop();
});

const isApexRecord = ({ Name, Type }: ResourceRecordSet): boolean => Name === `${DOMAIN}.` && Type === 'A';
const accepted = () => conditionOf(f, 'IngressesAccepted');
const sync = (...flags: string[]): Promise<void> =>
  syncRecords({ kubeconfig: f.controlPlane.kubeconfig, owner: 'cluster-a', domain: DOMAIN, aws: zone.aws, flags });
const change = (spec: object): Promise<unknown> =>
  f.client.mergePatch(TRAFFIC_WEIGHTS, { name: 'main' }, { spec }, PERSON);
const ttlOf = async (name: string) => (await ingresses.endpoint(name))?.spec?.endpoints?.map((one) => one.recordTTL);
const explained = async (host: string) => (await weightNamed(f)).status?.explain?.find((one) => one.host === host);

it('records that Route 53 would refuse are named and not written, and all others are', async () => {
  for (const name of ['taken', 'many-others', 'fine']) await ingresses.deploy(name);
  await ingresses.deploy('wildcard', { host: `*.${DOMAIN}` });
  const spec = { clusterName: 'cluster-a', bindingDomain: DOMAIN, hostedZoneIDs: [zone.id] };
  await f.client.create(TRAFFIC_WEIGHTS, {
    metadata: { name: 'main' },
    spec: { ...spec, backend: { static: { weight: 75 } } },
  });
  const full = `the zone ${zone.id} has 100 weighted CNAME records of many-others.example.org: Route 53 takes 100 at most`;
  await vi.waitFor(async () => {
    expect(await conditionOf(f, 'ZonesRead')).toMatchObject({ status: 'True', reason: 'AllZonesRead' });
    expect(await ingresses.weights('fine')).toEqual({ 'fine.example.org': '75' });
    // An earlier status may be of fewer Ingresses.
    expect(await accepted()).toMatchObject({
      ...{ status: 'False', reason: 'TooManyRecords' },
      message: `3 of 4 Ingresses and HTTPRoutes are not accepted, the first default/many-others: ${full}`,
    });
  }, WAIT);
  expect(await explained('*.example.org')).toMatchObject({
    reason: 'RecordInTheWay',
    message:
      `the zone ${zone.id} has the CNAME record *.example.org without a weight, and Route 53 allows no weighted record next to it: remove it, ` +
      'or give it a set identifier and a weight',
  });
  for (const name of ['taken', 'many-others', 'wildcard']) expect(await ingresses.endpoint(name)).toBeUndefined();
  await vi.waitFor(async () => {
    const [event] = (await f.events('taken')).filter(({ reason }) => reason === 'RecordInTheWay');
    expect(event).toMatchObject({ type: 'Warning', regarding: { kind: 'Ingress', name: 'taken' } });
  }, WAIT);
});

it('records of another TTL get the TTL of the other clusters, so that weights still arrive', async () => {
  await change({ recordTTL: 60 });
  await ingresses.deploy('lagging');
  await vi.waitFor(async () => {
    expect([await ttlOf('lagging'), await ttlOf('fine')]).toEqual([[300], [300]]);
    expect(await explained('lagging.example.org')).toMatchObject({
      ...{ weight: 75, reason: 'DifferentTTL' },
      message: expect.stringContaining('uses 300 s instead of 60 s') as string,
    });
  }, WAIT);
  await sync();
  expect(await zone.weightsOf('cluster-a')).toEqual({ 'fine.example.org.': 75, 'lagging.example.org.': 75 });
  await change({ recordTTL: 300 });
  await vi.waitFor(
    async () => expect(await explained('lagging.example.org')).toMatchObject({ reason: 'ClusterWeight' }),
    WAIT,
  );
});

it('records are written once nothing is in the way, without a change in the cluster', async () => {
  await zone.change('DELETE', set('taken'), ...many('many-others').slice(0, 1));
  await vi.waitFor(async () => {
    expect(await ingresses.weights('taken')).toEqual({ 'taken.example.org': '75' });
    expect(await ingresses.weights('many-others')).toEqual({ 'many-others.example.org': '75' });
  }, READ);
});

it('a weight is in force only if the zone has it: external-dns changes no record without its mark', async () => {
  const weigh = async (weight: number): Promise<void> => {
    await change({ backend: { static: { weight } } });
    await vi.waitFor(async () => expect(await ingresses.weights('apex')).toEqual({ [DOMAIN]: String(weight) }), WAIT);
  };
  await zone.change('UPSERT', weighted('drifted', 'cluster-a'));
  for (const name of ['drifted', 'apex']) await ingresses.deploy(name, name === 'apex' ? { host: DOMAIN } : {});
  await ingresses.setAddresses('apex', [{ ip: '192.0.2.1' }]);
  await weigh(75);
  await sync();
  await weigh(0);
  await sync();
  expect(await zone.weightsOf('cluster-a')).toMatchObject({
    ...{ [`${DOMAIN}.`]: 75, 'drifted.example.org.': 10, 'fine.example.org.': 0 },
  });
  await vi.waitFor(async () => {
    const { status, message } = (await conditionOf(f, 'Published')) ?? {};
    const drifted = `drifted.example.org: the zone ${zone.id} has the weight 10 instead of 0`;
    const apex = `example.org: the zone ${zone.id} has the weight 75 instead of 0; external-dns cannot mark it`;
    expect([status, message]).toEqual(['False', expect.stringContaining(`${drifted}, ${apex}`)]);
  }, READ);
  expect((await weightNamed(f)).status).toMatchObject({ desiredWeight: 0, appliedWeight: 0 });
  expect((await weightNamed(f)).status?.currentWeight).not.toBe(0);

  // The flag of docs/weights.md.
  const flag = '--txt-prefix=%{record_type}-mark.';
  await zone.change('DELETE', weighted('drifted', 'cluster-a'), ...(await zone.records()).filter(isApexRecord));
  await sync(flag);
  await vi.waitFor(async () => {
    expect(await conditionOf(f, 'Published')).toMatchObject({ status: 'True', reason: 'AllPublished' });
    expect((await weightNamed(f)).status?.currentWeight).toBe(0);
  }, READ);
  await weigh(75);
  await sync(flag);
  expect((await zone.weightsOf('cluster-a'))[`${DOMAIN}.`]).toBe(75);
});

it('new records are written without a look at a zone that cannot be read, and the status says so', async () => {
  await change({ hostedZoneIDs: ['Z0NOTTHERE'] });
  await vi.waitFor(async () => {
    expect(await conditionOf(f, 'ZonesRead')).toMatchObject({
      ...{ status: 'False', reason: 'ZoneUnavailable' },
      message:
        '1 of 1 hosted zones cannot be read, the first: Route 53 (hosted zone Z0NOTTHERE) answered NoSuchHostedZone; ' +
        'new records are written unchecked',
    });
    expect(await ingresses.weights('wildcard')).toEqual({ '*.example.org': '75' });
    expect(await accepted()).toMatchObject({ status: 'True' });
  }, WAIT);
  await change({ hostedZoneIDs: null });
  await vi.waitFor(async () => expect(await conditionOf(f, 'ZonesRead')).toBeUndefined(), WAIT);
});
