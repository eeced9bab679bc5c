import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { APPLIED_HASH_ANNOTATION } from '../../src/runtime/apply/difference.ts';
import { OWNER_LABEL } from '../../src/weights/plan/plan.ts';
import { KEPT_ANNOTATION } from '../../src/weights/records/endpoint.ts';
import { established } from '../harness/customResource.ts';
import { dnsEndpointCrd } from '../harness/externalDns.ts';
import { CHART, type Cluster, startCluster } from './cluster.ts';
import type { Answer, Send } from './sender.ts';

/** Tests which DNSEndpoints a user of one namespace can make look like the operator's, on a real API server with the policy of the chart. */
const RELEASE = ['traffic-operator', CHART, '-n', 'network', '--set', 'weights.enabled=true'];
const ENDPOINTS = '/apis/externaldns.k8s.io/v1alpha1/namespaces/shop/dnsendpoints';
const DRY = '?dryRun=All';
/** The API server compiles a policy soon after it was written. */
const WAIT = { timeout: 60_000, interval: 250 };
const DONE: Answer = { status: 200, message: '' };
const CREATED: Answer = { status: 201, message: '' };

let cluster: Cluster;
let admin: Send;
/** May do everything with the DNSEndpoints of the namespace `shop`. */
let tenant: Send;

const MARKS = {
  labels: { [OWNER_LABEL]: 'main' },
  annotations: { [APPLIED_HASH_ANNOTATION]: 'x', [KEPT_ANNOTATION]: '100%' },
};
const owner = (over: object = {}): object => ({
  ...{ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'web', uid: '1', controller: true, ...over },
});
const records = (dnsName: string): object => ({
  endpoints: [{ dnsName, recordType: 'CNAME', targets: ['lb.example.net'], setIdentifier: 'cluster-a' }],
});
const endpoint = (name: string, metadata: object = {}): object => ({
  ...{ apiVersion: 'externaldns.k8s.io/v1alpha1', kind: 'DNSEndpoint', metadata: { name, ...metadata } },
  spec: records(`${name}.example.org`),
});
const route = owner({ kind: 'HTTPRoute' });

/** The requests that the tenant may try, and the text of the refusal. `web` is a DNSEndpoint of the operator, `own` one of the tenant. */
const ATTACKS: readonly [what: string, (send: Send) => Promise<Answer>, told: string][] = [
  [
    'creates one with the label',
    (send) => send('POST', ENDPOINTS + DRY, endpoint('new', { labels: MARKS.labels })),
    OWNER_LABEL,
  ],
  [
    'creates one with the annotations',
    (send) => send('POST', ENDPOINTS + DRY, endpoint('new', { annotations: MARKS.annotations })),
    APPLIED_HASH_ANNOTATION,
  ],
  [
    'applies one with the marks',
    (send) => send('PATCH', `${ENDPOINTS}/new${DRY}&fieldManager=x`, endpoint('new', MARKS), 'apply-patch+yaml'),
    OWNER_LABEL,
  ],
  [
    'creates one that an Ingress of its name controls',
    (send) => send('POST', ENDPOINTS + DRY, endpoint('new', { ownerReferences: [owner({ name: 'new' })] })),
    'owner references',
  ],
  [
    'creates one that an HTTPRoute of its name controls',
    (send) => send('POST', ENDPOINTS + DRY, endpoint('web.httproute', { ownerReferences: [route] })),
    'owner references',
  ],
  [
    'creates one that an Ingress of its name controls by its uid, under another name and API group',
    (send) => {
      const ownerReferences = [owner({ apiVersion: 'none.example/v1', name: 'x', uid: '2' })];
      return send('POST', ENDPOINTS + DRY, endpoint('new', { ownerReferences }));
    },
    'owner references',
  ],
  ['marks an own one', (send) => send('PATCH', `${ENDPOINTS}/own${DRY}`, { metadata: MARKS }), OWNER_LABEL],
  [
    'gives an own one to an Ingress',
    (send) => send('PATCH', `${ENDPOINTS}/own${DRY}`, { metadata: { ownerReferences: [owner({ name: 'own' })] } }),
    'owner references',
  ],
  [
    'changes a mark',
    (send) => send('PATCH', `${ENDPOINTS}/web${DRY}`, { metadata: { labels: { [OWNER_LABEL]: 'other' } } }),
    OWNER_LABEL,
  ],
  [
    'removes a mark',
    (send) => send('PATCH', `${ENDPOINTS}/web${DRY}`, { metadata: { annotations: { [KEPT_ANNOTATION]: null } } }),
    KEPT_ANNOTATION,
  ],
  [
    'removes the owner of one, so that its records stay',
    (send) => send('PATCH', `${ENDPOINTS}/web${DRY}`, { metadata: { ownerReferences: null } }),
    'owner references',
  ],
  [
    "gives one another team's host",
    (send) => send('PATCH', `${ENDPOINTS}/web${DRY}`, { spec: records('bank.example.org') }),
    'write the spec',
  ],
];

/** The answers to the attacks before the policy existed. */
const before: Answer[] = [];

beforeAll(async () => {
  cluster = await startCluster();
  const { kubectl } = cluster;
  const without = ['--create-namespace', '--set', 'requesterPolicy.enabled=false'];
  expect(await cluster.helm('helm', 'install', ...RELEASE, ...without)).toMatchObject({ ok: true });
  await kubectl(['create', '-f-'], await dnsEndpointCrd());
  await established(kubectl, ['crd', '--all']);
  await kubectl(['create', 'namespace', 'shop']);
  const rights = ['--verb=*', '--resource=dnsendpoints.externaldns.k8s.io,dnsendpoints.externaldns.k8s.io/status'];
  await kubectl(['create', 'role', 'records', '-n', 'shop', ...rights]);
  await kubectl(['create', 'serviceaccount', 'tenant', '-n', 'shop']);
  const subject = ['--role=records', '--serviceaccount=shop:tenant'];
  await kubectl(['create', 'rolebinding', 'records', '-n', 'shop', ...subject]);
  admin = await cluster.admin();
  tenant = await cluster.account('shop', 'tenant');
  const metadata = { ...MARKS, ownerReferences: [owner()] };
  expect(await admin('POST', ENDPOINTS, endpoint('web', metadata))).toEqual(CREATED);
  expect(await tenant('POST', ENDPOINTS, endpoint('own'))).toEqual(CREATED);
  for (const [, attack] of ATTACKS) before.push(await attack(tenant));
  expect(await cluster.helm('helm', 'upgrade', ...RELEASE)).toMatchObject({ ok: true });
  // The last attack shows that the policy is in force, so that each of the others can fail by itself.
  const [, lastAttack] = ATTACKS.at(-1)!;
  await vi.waitFor(async () => expect(await lastAttack(tenant)).toMatchObject({ status: 403 }), WAIT);
}, 240_000);
afterAll(() => cluster.stop());

it.each(ATTACKS)('a user of one namespace no longer %s', async (what, attack, told) => {
  expect(before[ATTACKS.findIndex(([each]) => each === what)]?.message).toBe('');
  const message = `^.*user system:serviceaccount:shop:tenant may not patch DNSEndpoints in every namespace, and so not .*${told}`;
  expect(await attack(tenant)).toEqual({
    status: 403,
    message: expect.stringMatching(new RegExp(message, 's')) as string,
  });
});

describe('everything else is as before', () => {
  it('a user writes own DNSEndpoints, other metadata of all, and deletes all', async () => {
    const plain = endpoint('plain', { ownerReferences: [owner({ controller: false })], labels: { team: 'shop' } });
    expect(await tenant('POST', ENDPOINTS + DRY, plain)).toEqual(CREATED);
    expect(await tenant('PATCH', `${ENDPOINTS}/own${DRY}`, { spec: records('x.example.org') })).toEqual(DONE);
    const note = { metadata: { labels: { team: 'shop' }, annotations: { note: 'x' } } };
    expect(await tenant('PATCH', `${ENDPOINTS}/web${DRY}`, note)).toEqual(DONE);
    for (const name of ['web', 'own']) expect(await tenant('DELETE', `${ENDPOINTS}/${name}${DRY}`)).toEqual(DONE);
    expect(await tenant('DELETE', ENDPOINTS + DRY)).toEqual(DONE);
  });

  it('external-dns writes the status', async () => {
    const status = { status: { observedGeneration: 1 } };
    expect(await tenant('PATCH', `${ENDPOINTS}/web/status${DRY}`, status)).toEqual(DONE);
  });

  it('an administrator writes all of it, and the operator what is not the own one of a user', async () => {
    const operator = await cluster.account('network', 'traffic-operator-weights');
    for (const [what, attack] of ATTACKS) {
      expect((await attack(admin)).message).toBe('');
      if (!what.includes('an own one')) expect((await attack(operator)).message).toBe('');
    }
  });

  it('the garbage collector takes deleted owners away', async () => {
    await cluster.kubectl(['create', 'serviceaccount', 'generic-garbage-collector', '-n', 'kube-system']);
    const collector = await cluster.account('kube-system', 'generic-garbage-collector');
    expect(await collector('PATCH', `${ENDPOINTS}/web${DRY}`, { metadata: { ownerReferences: null } })).toEqual(DONE);
  });
});
