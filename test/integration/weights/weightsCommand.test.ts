import { readFileSync } from 'node:fs';
import type { V1Lease, V1PolicyRule } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import type { Client } from '../../../src/runtime/client/client.ts';
import { EVENTS, INGRESSES, LEASES } from '../../../src/runtime/client/resources.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { AUDIT_OF_USERS, audited, writesOf } from '../../harness/audit.ts';
import { startControlPlane, type ControlPlane } from '../../harness/controlPlane.ts';
import { installCrd } from '../../harness/customResource.ts';
import { dnsEndpointCrd, syncRecords } from '../../harness/externalDns.ts';
import { sleep } from '../../harness/measured.ts';
import { freePorts, whenReady } from '../../harness/process.ts';
import { startProgram, type Program } from '../../harness/program.ts';
import { connect, type Connected } from '../../harness/runtimeScene.ts';
import { createWeightTable, weights, type WeightTable } from '../../harness/weightTable.ts';
import { userWithOnly } from '../rights.ts';
import { Ingresses, PERSON } from './ingresses.ts';
import { WAIT } from './scene.ts';
import { startZone, type Zone } from './zone.ts';

/** `weights` instead of k8s-traffic-controller: with its flags, its table, and no CRD of this operator. */
const DOMAIN = 'example.org';
const USER = 'traffic-controller';
const OTHER_USER = 'traffic-controller-before';
/** The annotation by which two Deployments divide the Ingresses. */
const FILTER = 'example.org/dns';
const LEADING = ['--enable-leader-election'];
const ORIGINAL_LEASE = { namespace: 'default', name: 'a5568bf5.dns.adevinta.com' };
/** The rules that docs/weights.md adds to the rights of the original's chart: its YAML block. */
const ADDED_RIGHTS = addedRights();
/** The rights that the original's chart grants. */
const ORIGINAL_RIGHTS: V1PolicyRule[] = [
  {
    apiGroups: ['externaldns.k8s.io'],
    resources: ['dnsendpoints'],
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  },
  { apiGroups: ['networking.k8s.io'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'list', 'watch', 'create', 'update'] },
];

function addedRights(): V1PolicyRule[] {
  const page = readFileSync(new URL('../../../docs/weights.md', import.meta.url), 'utf8');
  const [, block = ''] = /^```yaml\n(- apiGroups:.*?)^```/ms.exec(page) ?? [];
  return parse(block) as V1PolicyRule[];
}

let plane: ControlPlane;
let connected: Connected;
let client: Client;
let zone: Zone;
let table: WeightTable;
let ingresses: Ingresses;
let started: Started;
let kubeconfig: string;

interface Started {
  readonly program: Program;
  readonly metricsUrl: string;
}

/** With the arguments that the original's chart gives. @param filter value of the annotation of its Ingresses */
async function startCommand(filter = 'public', args: readonly string[] = LEADING, probe = 'readyz'): Promise<Started> {
  const [metrics, health] = (await freePorts(2)) as [number, number];
  const original = [
    ...[`--metrics-addr=127.0.0.1:${metrics}`, '--cluster-name=cluster-a', '--aws-region=eu-west-1'],
    ...[`--binding-domain=.${DOMAIN}`, '--backend-type=dynamoDB', '--annotation-prefix=dns.adevinta.com'],
    ...[`--table-name=${table.name}`, '--initial-weight=5', `--annotation-filter=${FILTER}=${filter}`],
  ];
  const own = [`--dynamodb-endpoint-url=${zone.aws.url}`, `--health-probe-bind-address=127.0.0.1:${health}`];
  const all = ['weights', ...original, ...args, ...own, `--kubeconfig=${kubeconfig}`];
  const { running, ...started } = await startProgram(all, { ...zone.aws.environment, AWS_ENDPOINT_URL: '' });
  await whenReady('weights', running, async () => (await fetch(`http://127.0.0.1:${health}/${probe}`)).ok);
  return { program: started, metricsUrl: `http://127.0.0.1:${metrics}/metrics` };
}

beforeAll(async () => {
  [plane, zone] = await Promise.all([startControlPlane({ auditPolicy: AUDIT_OF_USERS }), startZone(DOMAIN)]);
  connected = connect(plane);
  client = connected.client;
  table = await createWeightTable(zone.aws);
  ingresses = new Ingresses(client);
  await installCrd(client, await dnsEndpointCrd(), DNS_ENDPOINTS);
  kubeconfig = await userWithOnly({ client, controlPlane: plane }, USER, [...ORIGINAL_RIGHTS, ...ADDED_RIGHTS]);
  await ingresses.deploy('web', { annotations: { [FILTER]: 'public' } });
  await createOriginalEndpoint('web');
  await client.create(LEASES, { metadata: ORIGINAL_LEASE, spec: heldByOriginal() });
  started = await startCommand();
});
afterAll(async () => {
  await started.program.terminate();
  table.close();
  await connected.transport.close();
  await plane.stop();
  await zone.stop();
});

/** As the elector of client-go writes it. */
function heldByOriginal(): V1Lease['spec'] {
  const now = new Date().toISOString().replace('Z', '000Z') as unknown as NonNullable<V1Lease['spec']>['renewTime'];
  const times = { acquireTime: now!, renewTime: now! };
  // It is not renewed here, and must not expire before the test has looked.
  return { holderIdentity: 'original', leaseDurationSeconds: 3_600, leaseTransitions: 0, ...times };
}

/** As the original writes it. */
async function createOriginalEndpoint(name: string): Promise<void> {
  const { metadata } = await client.get(INGRESSES, { namespace: 'default', name });
  const owner = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name, uid: metadata?.uid ?? '' };
  const record = {
    ...{ dnsName: `${name}.${DOMAIN}`, targets: ['lb.example.net'], recordType: 'CNAME', setIdentifier: 'cluster-a' },
    providerSpecific: [{ name: 'aws/weight', value: '10' }],
  };
  await client.create(DNS_ENDPOINTS, {
    metadata: {
      namespace: 'default',
      name,
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: { endpoints: [record] },
  });
}

const weightOfWeb = async (): Promise<string | undefined> => (await ingresses.weights('web'))?.[`web.${DOMAIN}`];
const sync = (): Promise<void> =>
  syncRecords({ kubeconfig: plane.kubeconfig, owner: 'cluster-a', domain: DOMAIN, aws: zone.aws });

/** The weights of the original's metrics. */
async function gauges(): Promise<{ desired: number; current: number }> {
  const text = await (await fetch(started.metricsUrl)).text();
  const value = (name: string): number =>
    Number(new RegExp(`^cluster_traffic_controller_ingress_weight_${name}{.*} (\\S+)$`, 'm').exec(text)?.[1]);
  return { desired: value('desired'), current: value('current') };
}

it('writes nothing while the original holds its Lease, and leads when that was given up', async () => {
  // In which it would write.
  await sleep(3_000);
  expect(await weightOfWeb()).toBe('10');
  expect(writesOf(plane, USER)).toEqual([]);
  // A leader creates the row with its first read.
  expect(await table.row('cluster-a')).toBeUndefined();
  await client.mergePatch(LEASES, ORIGINAL_LEASE, { spec: { holderIdentity: '', leaseDurationSeconds: 1 } }, PERSON);
  await vi.waitFor(() => expect(started.program.log()).toContain('started leading'), WAIT);
});

it('adopts what the original has written, and creates the row of the cluster', async () => {
  const { metadata } = (await ingresses.endpoint('web')) ?? {};
  await vi.waitFor(async () => expect(await weightOfWeb()).toBe('5'), WAIT);
  expect((await ingresses.endpoint('web'))?.metadata?.uid).toBe(metadata?.uid);
  expect(await table.row('cluster-a')).toEqual({ desired: 5 });
  await vi.waitFor(async () => expect(await gauges()).toEqual({ desired: 5, current: NaN }), WAIT);
});

it('follows the table, and acknowledges a weight there once external-dns has read it', async () => {
  await table.put('cluster-a', weights(75, 5));
  await vi.waitFor(async () => {
    expect(await weightOfWeb()).toBe('75');
    expect(await gauges()).toEqual({ desired: 75, current: 5 });
    expect(started.program.log()).toContain('"condition":"Observed","status":"False","reason":"NotObservedYet"');
  }, WAIT);
  await sync();
  await vi.waitFor(async () => {
    expect(await table.row('cluster-a')).toEqual({ desired: 75, current: 75 });
    expect(await gauges()).toEqual({ desired: 75, current: 75 });
  }, WAIT);
  expect(await zone.weightsOf('cluster-a')).toEqual({ [`web.${DOMAIN}.`]: 75 });
});

it('tells on the Ingress that its annotation is invalid, and logs that it is not ready', async () => {
  await ingresses.annotate('web', 'NaN');
  await vi.waitFor(async () => {
    const events = await client.list(EVENTS, { namespace: 'default' });
    expect(events.filter(({ reason }) => reason === 'InvalidAnnotation')).toHaveLength(1);
    expect(started.program.log()).toContain('"reason":"InvalidAnnotation"');
  }, WAIT);
  expect(await weightOfWeb()).toBe('75');
});

it('is killed and started again without a write to a record', async () => {
  await ingresses.annotate('web', '50');
  await vi.waitFor(async () => expect(await weightOfWeb()).toBe('38'), WAIT);
  await sync();
  await started.program.kill();
  const before = writesOf(plane, USER).length;
  started = await startCommand();
  await vi.waitFor(async () => expect(await gauges()).toEqual({ desired: 75, current: 75 }), WAIT);
  const after = writesOf(plane, USER).slice(before);
  expect(after.filter(({ resource }) => resource !== 'leases')).toEqual([]);
});

it('divides the Ingresses with another Deployment by the annotation, and neither touches what the other has', async () => {
  await ingresses.deploy('shop', { annotations: { [FILTER]: 'internal' } });
  const flags = ['--lease-name=internal', '--dev-mode', '--aws-health-check-id=abc'];
  const other = await startCommand('internal', [...LEADING, ...flags]);
  try {
    await vi.waitFor(async () => expect((await ingresses.weights('shop'))?.[`shop.${DOMAIN}`]).toBe('75'), WAIT);
    expect((await ingresses.endpoint('shop'))?.spec?.endpoints).toMatchObject([
      { targets: ['devmode'], providerSpecific: [{}, { name: 'aws/health-check-id', value: 'abc' }] },
    ]);
    const { metadata } = (await ingresses.endpoint('web')) ?? {};
    // Each looks at all of them again within this time.
    await ingresses.annotate('shop', '10');
    await vi.waitFor(async () => expect((await ingresses.weights('shop'))?.[`shop.${DOMAIN}`]).toBe('8'), WAIT);
    await sleep(2_000);
    expect((await ingresses.endpoint('web'))?.metadata).toEqual(metadata);
    expect(writesOf(plane, USER).filter(({ verb }) => verb === 'delete')).toEqual([]);
  } finally {
    await other.program.terminate();
  }
});

it('uses no right that it does not have', () => {
  const refused = audited(plane).filter(({ user, isForbidden }) => user === USER && isForbidden);
  expect(refused).toEqual([]);
});

it('says which right is missing, and writes no record, with the role of the original alone', async () => {
  await started.program.terminate();
  const before = writesOf(plane, OTHER_USER).length;
  kubeconfig = await userWithOnly({ client, controlPlane: plane }, OTHER_USER, ORIGINAL_RIGHTS);
  await table.put('cluster-a', weights(10, 75));
  started = await startCommand('public', LEADING, 'healthz');
  await vi.waitFor(() => expect(started.program.log()).toMatch(/"reason":"NotRead","msg":".*endpointslices/), WAIT);
  expect(await weightOfWeb()).toBe('38');
  expect(
    writesOf(plane, OTHER_USER)
      .slice(before)
      .map(({ resource }) => resource),
  ).not.toContain('dnsendpoints');
});
