import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FINALIZER } from '../../src/controllers/trafficwatch/names.ts';
import { CHART, type Cluster, startCluster } from './cluster.ts';
import type { Answer, Send } from './sender.ts';

/** What users can make the operator write with its own rights, on a real API server with the policies of the chart. */
const RELEASE = ['traffic-operator', CHART, '-n', 'network', '--set', 'weights.enabled=true'];
const API = '/apis/traffic.example.com/v1alpha1';
const WATCHES = `${API}/namespaces/shop/trafficwatches`;
/** The API server compiles a policy soon after it was written. */
const WAIT = { timeout: 60_000, interval: 250 };
const CREATED: Answer = { status: 201, message: '' };
const DONE: Answer = { status: 200, message: '' };
const USER = 'user system:serviceaccount:shop:tenant';

let cluster: Cluster;
let kubectl: Cluster['kubectl'];
let admin: Send;
/** May write the objects that ask, and nothing else until a test grants it. */
let tenant: Send;
let operator: Send;

const refusal = (...told: string[]): Answer => ({
  status: 403,
  message: expect.stringMatching(new RegExp(told.join('.*'))) as string,
});

beforeAll(async () => {
  cluster = await startCluster();
  kubectl = cluster.kubectl;
  expect(await cluster.helm('helm', 'install', ...RELEASE, '--create-namespace')).toMatchObject({ ok: true });
  admin = await cluster.admin();
  for (const namespace of ['shop', ...TEN]) await kubectl(['create', 'namespace', namespace]);
  await kubectl(['create', 'serviceaccount', 'tenant', '-n', 'shop']);
  await grant('asks', 'shop', 'create,get,patch', 'trafficwatches');
  await grant('asks', undefined, 'create,get,patch', 'trafficstacks,trafficweights');
  tenant = await cluster.account('shop', 'tenant');
  operator = await cluster.account('network', 'traffic-operator');
  await vi.waitFor(async () => {
    for (const [path, object] of [
      [WATCHES, withDeployment('early')],
      [`${API}/trafficstacks`, stackOf('early', 'shop')],
      [`${API}/trafficweights`, weightOf('early')],
    ] as const) {
      expect(await tenant('POST', `${path}?dryRun=All`, object)).toMatchObject({ status: 403 });
    }
  }, WAIT);
});
afterAll(() => cluster.stop());

const TEN = Array.from({ length: 10 }, (_, n) => `ns${n}`);

/** @param namespace undefined: in all of them */
async function grant(name: string, namespace: string | undefined, verbs: string, resources: string): Promise<void> {
  const role = namespace === undefined ? 'clusterrole' : 'role';
  const where = namespace === undefined ? [] : ['-n', namespace];
  const what = resources.split(',').map((each) => (each.startsWith('traffic') ? `${each}.traffic.example.com` : each));
  const rights = [`--verb=${verbs}`, `--resource=${what.join(',')}`];
  expect(await kubectl(['create', role, name, ...rights, ...where])).toMatchObject({ ok: true });
  const subject = [`--${role}=${name}`, '--serviceaccount=shop:tenant', ...where];
  expect(await kubectl(['create', `${role}binding`, name, ...subject])).toMatchObject({ ok: true });
}

async function revoke(name: string, namespace: string | undefined): Promise<void> {
  const kind = namespace === undefined ? 'clusterrole' : 'role';
  const where = namespace === undefined ? [] : ['-n', namespace];
  for (const each of [`${kind}binding`, kind]) await kubectl(['delete', each, name, ...where]);
}

const TEMPLATE = {
  metadata: { labels: { app: 'web' } },
  spec: {
    serviceAccountName: 'somebody-elses',
    volumes: [{ name: 'root', hostPath: { path: '/' } }],
    containers: [{ name: 'web', image: 'web' }],
  },
};
const watchOf = (name: string, rest: object): object => ({
  ...{ apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficWatch', metadata: { name } },
  spec: { maxBandwidthPercent: '60', ...rest },
});
const withDeployment = (name: string): object =>
  watchOf(name, { deployment: { selector: { matchLabels: { app: 'web' } }, template: TEMPLATE } });

const workloadIn = (namespace: string, n = 0): object => ({
  ...{ name: `in-${namespace}-${n}`, type: 'Workload' },
  workload: { kind: 'Deployment', namespace, podTemplate: { spec: TEMPLATE.spec } },
});
const stackOf = (name: string, ...namespaces: string[]): object => stackWith(name, namespaces.map(workloadIn));
const stackWith = (name: string, components: object[]): object => ({
  ...{ apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', metadata: { name } },
  spec: { components },
});
const weightOf = (name: string): object => ({
  ...{ apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficWeight', metadata: { name } },
  spec: { clusterName: 'one', bindingDomain: 'example.org', backend: { static: { weight: 75 } } },
});

/** The API server answers by the rights that its caches have: they follow a grant soon. */
async function soon(expected: Answer, send: () => Promise<Answer>): Promise<void> {
  await vi.waitFor(async () => expect(await send()).toEqual(expected), WAIT);
}

describe('a TrafficWatch of a user without rights to Deployments', () => {
  it('is refused with spec.deployment, and the message says what to do', async () => {
    const told = ['may not create Deployments in the namespace shop', 'use spec.targetRef or spec.podSelector'];
    expect(await tenant('POST', WATCHES, withDeployment('web'))).toEqual(refusal(USER, ...told));
  });

  it('is accepted without; none gets one later', async () => {
    const foreign = watchOf('foreign', { podSelector: { matchLabels: { app: 'web' } } });
    expect(await tenant('POST', WATCHES, foreign)).toEqual(CREATED);
    const { spec } = withDeployment('foreign') as { spec: object };
    const change = { spec: { ...spec, podSelector: null } };
    expect(await tenant('PATCH', `${WATCHES}/foreign`, change)).toMatchObject({
      ...{ status: 422, message: expect.stringContaining('deployment cannot be added') as string },
    });
  });

  it('that an administrator made may be changed, but not its Deployment; the operator adds its finalizer', async () => {
    expect(await admin('POST', WATCHES, withDeployment('given'))).toEqual(CREATED);
    expect(await tenant('PATCH', `${WATCHES}/given`, { spec: { maxBandwidthPercent: '70' } })).toEqual(DONE);
    const replicas = { spec: { deployment: { replicas: 9 } } };
    expect(await tenant('PATCH', `${WATCHES}/given`, replicas)).toEqual(refusal(USER, 'may not create Deployments'));
    const finalizers = [FINALIZER];
    expect(await operator('PATCH', `${WATCHES}/given`, { metadata: { finalizers } })).toEqual(DONE);
    expect(await tenant('PATCH', `${WATCHES}/given`, { metadata: { finalizers: [] } })).toEqual(DONE);
  });

  it('needs the right to create and the right to patch them', async () => {
    await grant('creates', 'shop', 'create', 'deployments.apps');
    const send = (): Promise<Answer> => tenant('POST', `${WATCHES}?dryRun=All`, withDeployment('web'));
    await soon(refusal(USER, 'may not patch Deployments in the namespace shop'), send);
    await grant('patches', 'shop', 'patch', 'deployments.apps');
    await soon(CREATED, send);
    await revoke('creates', 'shop');
    await soon(refusal(USER, 'may not create Deployments'), send);
    await revoke('patches', 'shop');
  });
});

describe('a TrafficStack', () => {
  const STACKS = `${API}/trafficstacks`;
  const dry = (stack: object): Promise<Answer> => tenant('POST', `${STACKS}?dryRun=All`, stack);

  it('needs the right to create Deployments in each namespace of its workloads', async () => {
    const stack = stackOf('shop', 'shop', 'shop', 'ns0');
    expect(await dry(stack)).toEqual(refusal(USER, 'may not create Deployments in the namespace shop'));
    await grant('creates', 'shop', 'create', 'deployments.apps');
    await soon(refusal(USER, 'may not create Deployments in the namespace ns0'), () => dry(stack));
    await grant('creates', 'ns0', 'create', 'deployments.apps');
    await soon(CREATED, () => dry(stack));
    const { spec } = stackOf('given', 'shop', 'ns1') as { spec: object };
    expect(await tenant('POST', STACKS, stackOf('given', 'shop'))).toEqual(CREATED);
    expect(await tenant('PATCH', `${STACKS}/given`, { spec })).toEqual(refusal(USER, 'in the namespace ns1'));
  });

  it('may have workloads in ten namespaces; beyond, and for other components, it needs the right in all', async () => {
    for (const namespace of TEN.slice(1)) await grant('creates', namespace, 'create', 'deployments.apps');
    await soon(CREATED, () => dry(stackOf('wide', ...TEN)));
    const everywhere = refusal(USER, 'may not create Deployments in every namespace');
    expect(await dry(stackOf('wider', ...TEN, 'shop'))).toEqual(everywhere);
    const dashboards = { name: 'dashboards', type: 'Dashboards' };
    expect(await dry(stackWith('mixed', [workloadIn('shop'), dashboards]))).toEqual(everywhere);
    await grant('creates', undefined, 'create', 'deployments.apps');
    await soon(CREATED, () => dry(stackWith('mixed', [workloadIn('shop'), dashboards])));
  });
});

describe('a TrafficWeight', () => {
  it('needs the right to create DNSEndpoints in all namespaces', async () => {
    const send = (): Promise<Answer> => tenant('POST', `${API}/trafficweights?dryRun=All`, weightOf('main'));
    expect(await send()).toEqual(refusal(USER, 'may not create DNSEndpoints in every namespace'));
    const rule = { apiGroups: ['externaldns.k8s.io'], resources: ['dnsendpoints'], verbs: ['create'] };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'publishes' } };
    await kubectl(['apply', '-f-'], { ...role, rules: [rule] });
    await kubectl([
      'create',
      'clusterrolebinding',
      'publishes',
      '--clusterrole=publishes',
      '--serviceaccount=shop:tenant',
    ]);
    await soon(CREATED, send);
  });
});
