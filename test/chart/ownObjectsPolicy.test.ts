import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { helmTemplate } from '../../scripts/chart/helm.ts';
import { APPLIED_HASH_ANNOTATION } from '../../src/runtime/apply/difference.ts';
import { prometheusSelector } from '../../src/controllers/measurement/components/prometheus.ts';
import { STACK_LABEL } from '../../src/controllers/trafficstack/names.ts';
import { established, prometheusRuleCrd } from '../harness/customResource.ts';
import { dnsEndpointCrd } from '../harness/externalDns.ts';
import { CHART, type Cluster, startCluster } from './cluster.ts';
import { collectionOf, EXAMPLES, objectOf, pathOf } from './ownObjects.ts';
import type { Answer, Send } from './sender.ts';

/** Tests the writes with a stolen token of the operator to objects that the operator did not make, on a real API server. */
const NAMESPACE = 'network';
/** The widest rights. */
const VALUES = 'weights.enabled=true,connectivity.enabled=true,stacks.enabled=true,stacks.namespaces={*}';
const RELEASE = ['traffic-operator', CHART, '-n', NAMESPACE, '--set', VALUES];
/** The API server compiles a policy soon after it was written. */
const WAIT = { timeout: 120_000, interval: 250 };
const DONE: Answer = { status: 200, message: '' };
const CREATED: Answer = { status: 201, message: '' };

const MANAGED = { 'app.kubernetes.io/managed-by': 'traffic-operator' };
const STACK_OWNER = { apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', name: 'shop', uid: '1' };
const CHANGE = { metadata: { annotations: { x: 'y' } } };
const DRY = '?dryRun=All';

let cluster: Cluster;
let admin: Send;
let operator: Send;
let cleanup: Send;

const refusal = (told: string): Answer => ({
  status: 403,
  message: expect.stringMatching(new RegExp(`may change and delete only objects that it made: ${told}`)) as string,
});
const kubeSystem = (told: string): Answer => ({
  status: 403,
  message: expect.stringMatching(
    new RegExp(`may create nothing in the namespace kube-system: ${told}.*protectedNamespaces`),
  ) as string,
});

/** Asks which writes an account may do to an object, without doing them. */
async function tried(send: Send, path: string): Promise<Answer[]> {
  return [await send('PATCH', path + DRY, CHANGE), await send('DELETE', path + DRY)];
}

async function setMetadata(kind: string, metadata: object): Promise<void> {
  expect(await admin('PATCH', pathOf(EXAMPLES[kind]!), { metadata })).toEqual(DONE);
}

const nothing = { labels: null, annotations: null, ownerReferences: null };
const podIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
const pod = (name: string, labels = {}): object => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels } },
  spec: { serviceAccountName: 'runs', automountServiceAccountToken: false, containers: [{ name: 'a', image: 'a' }] },
});

/** The answers for each object before the policy existed. */
const before = new Map<string, Answer[]>();

beforeAll(async () => {
  cluster = await startCluster();
  const { kubectl } = cluster;
  const without = ['--create-namespace', '--set', 'ownObjectsPolicy.enabled=false'];
  expect(await cluster.helm('helm', 'install', ...RELEASE, ...without)).toMatchObject({ ok: true });
  for (const crd of [await dnsEndpointCrd(), prometheusRuleCrd()]) await kubectl(['create', '-f-'], crd);
  await established(kubectl, ['crd', '--all']);

  admin = await cluster.admin();
  await kubectl(['create', 'namespace', 'shop']);
  const accounts = ['runs', 'traffic-operator-cleanup'];
  for (const name of accounts) await kubectl(['create', 'serviceaccount', name, '-n', NAMESPACE]);
  await kubectl(['create', 'serviceaccount', 'runs', '-n', 'shop']);
  // The roles of the clean-up exist only while helm runs it. With all rights, the policy alone refuses.
  const binding = ['--clusterrole=cluster-admin', '--serviceaccount=network:traffic-operator-cleanup'];
  await kubectl(['create', 'clusterrolebinding', 'cleanup', ...binding]);
  const manager = await cluster.account(NAMESPACE, 'traffic-operator');
  const weights = await cluster.account(NAMESPACE, 'traffic-operator-weights');
  // Only one of both has rights to DNSEndpoints.
  operator = (method, path, ...rest) => (path.includes('/dnsendpoints') ? weights : manager)(method, path, ...rest);
  cleanup = await cluster.account(NAMESPACE, 'traffic-operator-cleanup');

  for (const [kind, each] of Object.entries(EXAMPLES)) {
    expect(await admin('POST', collectionOf(each), objectOf(kind))).toEqual(CREATED);
    before.set(kind, await tried(operator, pathOf(each)));
  }
  for (const each of [pod('foreign'), pod('of-stack', { [STACK_LABEL]: 'shop' })])
    expect(await admin('POST', podIn('shop'), each)).toEqual(CREATED);
  for (const each of [pod('foreign'), pod('prometheus', prometheusSelector(NAMESPACE))])
    expect(await admin('POST', podIn(NAMESPACE), each)).toEqual(CREATED);

  expect(await cluster.helm('helm', 'upgrade', ...RELEASE)).toMatchObject({ ok: true });
  const foreign = pathOf(EXAMPLES.ConfigMap!);
  await vi.waitFor(async () => expect(await operator('DELETE', foreign + DRY)).toMatchObject({ status: 403 }), WAIT);
}, 240_000);
afterAll(() => cluster.stop());

describe.each(Object.entries(EXAMPLES))('a %s', (kind, each) => {
  const path = pathOf(each);
  const what = `${each.plural} (\\S+/)?${each.name}\\. This one has neither its label`;

  it('of another owner is out of reach, which without the policy it is not', async () => {
    expect(before.get(kind)).toEqual([DONE, DONE]);
    const refused = [refusal(`UPDATE of ${what}`), refusal(`DELETE of ${what}`)];
    expect(await tried(operator, path)).toEqual(refused);
    expect(await tried(cleanup, path)).toEqual(refused);
  });

  it('of another owner does not come into reach by a mark that the request adds', async () => {
    const refused = refusal(`UPDATE of ${what}`);
    expect(await operator('PATCH', path, { metadata: { labels: MANAGED } })).toEqual(refused);
    expect(await operator('PATCH', path, { metadata: { ownerReferences: [STACK_OWNER] } })).toEqual(refused);
    const applied = `${path}?fieldManager=thief&force=true`;
    expect(await operator('PATCH', applied, objectOf(kind, { labels: MANAGED }), 'apply-patch+yaml')).toEqual(refused);
  });

  it.each<[string, object]>([
    ['its label', { labels: MANAGED }],
    ['the hash of what it applied', { annotations: { [APPLIED_HASH_ANNOTATION]: 'a' } }],
    ['an owner of its kinds', { ownerReferences: [STACK_OWNER] }],
  ])('that the operator made, as %s says, can be changed and deleted', async (_what, mark) => {
    await setMetadata(kind, mark);
    expect(await tried(operator, path)).toEqual([DONE, DONE]);
    await setMetadata(kind, nothing);
  });
});

describe('a DNSEndpoint without a mark', () => {
  const path = pathOf(EXAMPLES.DNSEndpoint!);
  const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'web', uid: '1', controller: true };

  it.each<[string, object, number]>([
    ['of the Ingress of its name', {}, 200],
    ['of another Ingress', { name: 'other' }, 403],
    ['that the Ingress does not control', { controller: false }, 403],
    ['of another kind', { kind: 'Service' }, 403],
  ])('%s: %j', async (_what, change, status) => {
    await setMetadata('DNSEndpoint', { ownerReferences: [{ ...ingress, ...change }] });
    expect(await tried(operator, path)).toMatchObject([{ status }, { status }]);
    await setMetadata('DNSEndpoint', nothing);
  });

  it('of an HTTPRoute has the name of that with a suffix', async () => {
    const each = EXAMPLES.DNSEndpoint!;
    const ownerReferences = [{ ...ingress, apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute' }];
    const name = 'web.httproute';
    expect(await admin('POST', collectionOf(each), objectOf('DNSEndpoint', { name, ownerReferences }))).toEqual(
      CREATED,
    );
    expect(await tried(operator, pathOf(each, name))).toEqual([DONE, DONE]);
  });
});

describe('a pod', () => {
  it('is deleted only if it is of a stack', async () => {
    expect(await operator('DELETE', `${podIn('shop')}/foreign`)).toEqual(refusal('DELETE of pods shop/foreign'));
    expect(await operator('DELETE', `${podIn('shop')}/of-stack${DRY}`)).toEqual(DONE);
  });

  it("is annotated only if it is Prometheus'", async () => {
    const foreign = `${podIn(NAMESPACE)}/foreign`;
    expect(await operator('PATCH', foreign, CHANGE)).toEqual(refusal('UPDATE of pods network/foreign'));
    expect(await operator('PATCH', `${podIn(NAMESPACE)}/prometheus`, CHANGE)).toEqual(DONE);
  });
});

it('only the clean-up scales the operator, which helm made', async () => {
  const path = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/traffic-operator`;
  const change = { spec: { replicas: 0 } };
  expect(await operator('PATCH', path, change)).toEqual(refusal('UPDATE of deployments network/traffic-operator'));
  expect(await cleanup('PATCH', path + DRY, change)).toEqual(DONE);
});

describe('in kube-system', () => {
  const create = (send: Send, kind: string): Promise<Answer> => {
    const each = { ...EXAMPLES[kind]!, namespace: 'kube-system' };
    const object = objectOf(kind, { namespace: 'kube-system', labels: MANAGED });
    return send('PATCH', `${pathOf(each)}?fieldManager=x`, object, 'apply-patch+yaml');
  };

  it('the operator creates nothing, also with its label', async () => {
    expect(await create(operator, 'Deployment')).toEqual(kubeSystem('CREATE of deployments kube-system/web'));
  });

  it('it changes and deletes what it made there before, and nothing else', async () => {
    expect(await create(admin, 'ConfigMap')).toEqual(CREATED);
    const path = '/api/v1/namespaces/kube-system/configmaps/web';
    expect(await tried(operator, path)).toEqual([DONE, DONE]);
    expect(await admin('PATCH', path, { metadata: nothing })).toEqual(DONE);
    const what = 'configmaps kube-system/web';
    expect(await tried(operator, path)).toEqual([refusal(`UPDATE of ${what}`), refusal(`DELETE of ${what}`)]);
  });

  it('it writes the records of an Ingress that is there', async () => {
    expect(await create(operator, 'DNSEndpoint')).toEqual(CREATED);
  });

  it('a release that is there writes its objects', () => {
    expect(validationsOf('--namespace', 'kube-system')).toEqual([1]);
  });
});

it('an account that other programs may have is not limited', () => {
  const without = ['--set', 'serviceAccount.create=false'];
  expect([validationsOf(), validationsOf(...without)]).toEqual([[2], []]);
  expect(validationsOf(...without, '--set', 'serviceAccount.name=its-own')).toEqual([2]);
});

/** The number of validations of each such policy in the chart. */
function validationsOf(...args: string[]): number[] {
  const policies = helmTemplate(...args).filter(
    ({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && metadata.name.endsWith('-own-objects'),
  );
  return policies.map(({ spec }) => (spec as { validations: object[] }).validations.length);
}
