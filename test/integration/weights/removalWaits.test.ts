import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { NAMESPACES } from '../../../src/runtime/client/resources.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { startAws, type Aws } from '../../harness/moto.ts';
import { createWeightTable, weights, type WeightTable } from '../../harness/weightTable.ts';
import { stubCredentials } from './credentials.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { conditionOf, startScene, WAIT, weightNamed, type WeightScene } from './scene.ts';

/** A tenant with most hosts of the cluster unselects its own: the weight of the other namespaces is still acknowledged in the table. */
const CLASS = 'example.org/zone';
const PUBLIC = { annotations: { [CLASS]: 'public' } };
const TENANTS = Array.from({ length: 6 }, (_, n) => `tenant-${n}`);
let aws: Aws;
let table: WeightTable;
let scene: WeightScene;
let f: Fixture;
let own: Ingresses;
let tenant: Ingresses;

beforeAll(async () => {
  aws = await startAws();
  table = await createWeightTable(aws);
  await table.put('cluster-a', weights(75, 5));
  scene = await startScene('removal-waits', { args: [`--dynamodb-endpoint-url=${aws.url}`] });
  f = scene.f;
  [own, tenant] = [new Ingresses(f.client), new Ingresses(f.client, 'tenant')];
  await f.client.create(NAMESPACES, { metadata: { name: 'tenant' } });
  await own.deploy('web', PUBLIC);
  for (const name of TENANTS) await tenant.deploy(name, PUBLIC);
  stubCredentials(aws);
  await scene.startOperator();
  const spec = { clusterName: 'cluster-a', bindingDomain: 'example.org', annotationFilter: `${CLASS}=public` };
  await f.client.create(TRAFFIC_WEIGHTS, {
    metadata: { name: 'main' },
    spec: { ...spec, acknowledge: 'Applied', backend: { dynamodb: {} } },
  });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  table.close();
  await f.stop();
  await aws.stop();
});

const acknowledged = async (): Promise<number | undefined> => (await table.row('cluster-a'))?.current;
const weightOf = async (ingresses: Ingresses, name: string): Promise<string | undefined> =>
  (await ingresses.weights(name))?.[`${name}.example.org`];
const desire = async (weight: number): Promise<void> => {
  await table.desire('cluster-a', weight);
  await vi.waitFor(async () => expect((await weightNamed(f)).status?.desiredWeight).toBe(weight), WAIT);
};

it('the removal of one namespace waits, and holds no weight of the others', async () => {
  await vi.waitFor(async () => expect(await acknowledged()).toBe(75), WAIT);
  for (const name of TENANTS) await tenant.annotate(name, 'private', CLASS);
  await vi.waitFor(async () => {
    const { status, reason, message } = (await conditionOf(f, 'RemovalsConfirmed')) ?? {};
    expect([status, reason]).toEqual(['False', 'RemovalNotConfirmed']);
    expect(message).toContain('6 of 7 hosts would lose their records');
  }, WAIT);
  await desire(60);
  await vi.waitFor(async () => expect(await acknowledged()).toBe(60), WAIT);
  expect([await weightOf(own, 'web'), await weightOf(tenant, 'tenant-0')]).toEqual(['60', '60']);
  const applied = await conditionOf(f, 'Applied');
  expect(applied?.status).toBe('True');
  expect(applied?.message).toContain('Not counted: 6 hosts of the namespace tenant');
  await vi.waitFor(async () => {
    const message = 'The weight 60 is in force. Single namespaces have problems: see RemovalsConfirmed.';
    expect(await conditionOf(f, 'Ready')).toMatchObject({ status: 'True', reason: 'InForce', message });
  }, WAIT);
  const notes = (await f.events('main')).flatMap(({ reason, note }) => (reason === 'RemovalNotConfirmed' ? note : []));
  expect(notes).toEqual([expect.stringContaining('6 hosts of the namespace tenant would lose their records')]);
});

it('after a restart it still waits; a higher weight is acknowledged, and the tenant keeps its lower one', async () => {
  await f.stopOperator();
  await scene.startOperator();
  await desire(90);
  await vi.waitFor(async () => expect(await acknowledged()).toBe(90), WAIT);
  expect([await weightOf(own, 'web'), await weightOf(tenant, 'tenant-0')]).toEqual(['90', '60']);
});

it('no weight is acknowledged while the removal of all namespaces waits', async () => {
  // A single host needs no confirmation, unless it is lost together with others.
  for (const name of ['blog', 'shop']) await own.deploy(name, PUBLIC);
  await vi.waitFor(async () => expect(await weightOf(own, 'shop')).toBe('90'), WAIT);
  await f.client.mergePatch(
    TRAFFIC_WEIGHTS,
    { name: 'main' },
    { spec: { annotationFilter: `${CLASS}=pubilc` } },
    PERSON,
  );
  await vi.waitFor(async () => {
    expect(await conditionOf(f, 'Applied')).toMatchObject({ status: 'False', reason: 'RemovalNotConfirmed' });
  }, WAIT);
  await desire(50);
  await vi.waitFor(async () => expect(await weightOf(own, 'web')).toBe('50'), WAIT);
  await vi.waitFor(async () => {
    expect(await conditionOf(f, 'Acknowledged')).toMatchObject({ status: 'False', reason: 'NoRecords' });
  }, WAIT);
  expect(await acknowledged()).toBe(90);
});
