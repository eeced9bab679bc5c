import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FINALIZER } from '../../src/controllers/trafficwatch/names.ts';
import { start } from '../harness/process.ts';
import { binary } from '../lab/binaries.ts';
import { CHART, type Cluster, startCluster } from './cluster.ts';
import type { Answer, Send } from './sender.ts';

/** Tests the writes that users can make the operator do with its own rights, on a real API server with the policies of the chart. */
const KIND = 'stacks.objectKinds[0]';
const VALUES = [
  'weights.enabled=true',
  ...[`${KIND}.apiVersion=networking.k8s.io/v1`, `${KIND}.kind=Ingress`, `${KIND}.resource=ingresses`],
].join();
const RELEASE = ['traffic-operator', CHART, '-n', 'network', '--set', VALUES];
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
  await grant('asks', 'shop', 'create,get,patch,delete', 'trafficwatches');
  await grant('asks', undefined, 'create,get,patch,delete,deletecollection', 'trafficstacks,trafficweights');
  expect(await admin('POST', `${API}/trafficstacks`, stackOf('first', 'shop'))).toEqual(CREATED);
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
    expect(await tenant('DELETE', `${API}/trafficstacks/first?dryRun=All`)).toMatchObject({ status: 403 });
  }, WAIT);
});
afterAll(() => cluster.stop());

const TEN = Array.from({ length: 10 }, (_, n) => `ns${n}`);

/** @param namespace undefined: in all of them */
async function grant(
  name: string,
  namespace: string | undefined,
  verbs: string,
  resources: string,
  account = 'tenant',
): Promise<void> {
  const role = namespace === undefined ? 'clusterrole' : 'role';
  const where = namespace === undefined ? [] : ['-n', namespace];
  const what = resources.split(',').map((each) => (each.startsWith('traffic') ? `${each}.traffic.example.com` : each));
  const rights = [`--verb=${verbs}`, `--resource=${what.join(',')}`];
  expect(await kubectl(['create', role, name, ...rights, ...where])).toMatchObject({ ok: true });
  const subject = [`--${role}=${name}`, `--serviceaccount=shop:${account}`, ...where];
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
const ingressIn = (namespace: string, name = 'web'): object => ({
  ...{ name: 'edge', type: 'Objects' },
  objects: {
    namespace,
    manifests: [{ object: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name } } }],
  },
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

/** The garbage collector deletes what only this owns, since no object has its uid. */
const LOST = { ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: 'shop', uid: '00000000-0000' }] };

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
    expect(await tenant('DELETE', `${WATCHES}/foreign`)).toEqual(DONE);
    const change = (metadata: object) => (): Promise<Answer> => tenant('PATCH', `${WATCHES}/given`, { metadata });
    const removals = [change(LOST), change({ finalizers: [] }), () => tenant('DELETE', `${WATCHES}/given`)];
    for (const remove of removals) {
      expect(await remove()).toEqual(refusal(USER, 'may not delete Deployments in the namespace shop'));
    }
    await grant('deletes', 'shop', 'delete', 'deployments.apps');
    for (const remove of removals) await soon(DONE, remove);
    await revoke('deletes', 'shop');
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

  it('also needs the right to create the kinds of its Objects', async () => {
    const stack = stackWith('objects', [ingressIn('shop')]);
    expect(await dry(stack)).toEqual(refusal(USER, 'may not create ingresses in every namespace'));
    await grant('ingresses', undefined, 'create', 'ingresses.networking.k8s.io');
    await soon(CREATED, () => dry(stack));
    await revoke('ingresses', undefined);
  });
});

/** Since the tests above, the tenant may create Deployments in all namespaces. */
describe('what a TrafficStack of another user has', () => {
  const STACKS = `${API}/trafficstacks`;
  const removal = (what: string, where: string): Answer => refusal(USER, `may not delete ${what} in ${where},`);
  /** Takes away everything but the objects that `kept` names, or the whole TrafficStack. */
  const remove = (name: string, kept?: object[]): Promise<Answer> =>
    kept === undefined
      ? tenant('DELETE', `${STACKS}/${name}?dryRun=All`)
      : tenant('PATCH', `${STACKS}/${name}?dryRun=All`, { spec: { components: kept } });
  const create = async (name: string, components: object[]): Promise<void> => {
    expect(await admin('POST', STACKS, stackWith(name, components))).toEqual(CREATED);
  };
  const workload = (kind: string, name: string, over: object = {}): object => ({
    ...{ name, type: 'Workload', ...over },
    workload: { kind, namespace: 'shop', podTemplate: { spec: TEMPLATE.spec } },
  });
  const [web, db] = [workload('Deployment', 'web'), workload('StatefulSet', 'db')];

  it('needs the right to delete its kind to be removed, and keeps the rest', async () => {
    await create('pair', [web, db]);
    await soon(removal('statefulsets', 'the namespace shop'), () => remove('pair', [web]));
    const moved = { ...web, workload: { kind: 'Deployment', namespace: 'ns0', podTemplate: { spec: TEMPLATE.spec } } };
    const ways = [[db], [{ ...web, mode: 'Disabled' }, db], [workload('DaemonSet', 'web'), db], [moved, db]];
    for (const kept of [...ways, [], undefined]) {
      expect(await remove('pair', kept)).toEqual(removal('deployments', 'the namespace shop'));
    }
    await grant('deletes', 'shop', 'delete', 'deployments.apps');
    for (const kept of ways) await soon(DONE, () => remove('pair', kept));
    for (const kept of [[], undefined]) {
      expect(await remove('pair', kept)).toEqual(removal('statefulsets', 'the namespace shop'));
    }
    await revoke('deletes', 'shop');
    expect(await remove('pair', [web, db, workload('Deployment', 'more')])).toEqual(DONE);
    const all = await tenant('DELETE', `${STACKS}?dryRun=All`);
    expect(all).toEqual(refusal(USER, 'may not delete'));
  });

  it('needs the right to delete the kinds of Objects that are removed or changed', async () => {
    const edge = ingressIn('shop');
    await create('objects', [web, edge]);
    await grant('makes', undefined, 'create', 'ingresses.networking.k8s.io');
    const changed = ingressIn('shop', 'other');
    for (const kept of [[web], [web, changed], [web, { ...edge, mode: 'Disabled' }]]) {
      await soon(removal('ingresses', 'every namespace'), () => remove('objects', kept));
    }
    expect(await remove('objects', [web, edge, workload('Deployment', 'more')])).toEqual(DONE);
    await grant('ingresses', undefined, 'delete', 'ingresses.networking.k8s.io');
    await soon(DONE, () => remove('objects', [web, changed]));
    for (const each of ['ingresses', 'makes']) await revoke(each, undefined);
  });

  it('needs the same right for a change of the owner references or finalizers', async () => {
    const path = `${STACKS}/pair`;
    expect(await tenant('PATCH', path, { metadata: { labels: { a: 'b' } } })).toEqual(DONE);
    const refused = removal('deployments', 'the namespace shop');
    expect(await tenant('PATCH', path, { metadata: LOST })).toEqual(refused);
    expect(await tenant('PATCH', path, { metadata: { finalizers: ['example.com/a'] } })).toEqual(refused);
    expect(await operator('PATCH', path, { metadata: { finalizers: ['example.com/a'] } })).toEqual(DONE);
    expect(await tenant('PATCH', path, { metadata: { finalizers: null } })).toEqual(refused);
    await grant('deletes', 'shop', 'delete', 'deployments.apps,statefulsets.apps');
    await soon(DONE, () => tenant('PATCH', path, { metadata: { finalizers: null } }));
    await revoke('deletes', 'shop');
  });

  it('is left alone by the clean-up, the operator and the controllers of Kubernetes', async () => {
    await create('default', [db]);
    for (const name of ['namespace-controller', 'generic-garbage-collector']) {
      await kubectl(['create', 'serviceaccount', name, '-n', 'kube-system']);
      const send = await cluster.account('kube-system', name);
      await soon(DONE, () => send('DELETE', `${STACKS}/pair?dryRun=All`));
    }
    const collector = await cluster.account('kube-system', 'generic-garbage-collector');
    expect(await collector('PATCH', `${STACKS}/pair?dryRun=All`, { metadata: LOST })).toEqual(DONE);
    expect(await operator('DELETE', `${STACKS}/default?dryRun=All`)).toEqual(DONE);
    await kubectl(['create', 'serviceaccount', 'traffic-operator-cleanup', '-n', 'network']);
    const role = ['--clusterrole=asks', '--serviceaccount=network:traffic-operator-cleanup'];
    await kubectl(['create', 'clusterrolebinding', 'cleans', ...role]);
    const cleanup = await cluster.account('network', 'traffic-operator-cleanup');
    await soon(DONE, () => cleanup('DELETE', `${STACKS}/default?dryRun=All`));
    const finalizers = { metadata: { finalizers: ['example.com/a'] } };
    expect(await cleanup('PATCH', `${STACKS}/default?dryRun=All`, finalizers)).toEqual(DONE);
  });

  it.each([
    ['NodeExporter', 'daemonsets', 'the namespace network-node-exporter', {}],
    ['ConnectivityAgents', 'daemonsets', 'the namespace network-connectivity', {}],
    ['Prometheus', 'deployments', 'the namespace network', {}],
    ['ConnectivityServer', 'deployments', 'the namespace network', {}],
    ['Dashboards', 'configmaps', 'the namespace ns1', { dashboards: { namespace: 'ns1' } }],
    ['Rules', 'prometheusrules', 'the namespace network', {}],
    ['Weights', 'dnsendpoints', 'every namespace', { weights: (weightOf('a') as { spec: object }).spec }],
  ])('of the type %s needs the right to delete %s in %s', async (type, kind, where, settings) => {
    const name = type.toLowerCase();
    await create(name, [{ name: 'a', type, ...settings }]);
    expect(await remove(name)).toEqual(removal(kind, where));
  });

  it('is checked for twenty pairs of kind and namespace; beyond, it needs the right in all namespaces', async () => {
    const kinds = ['Deployment', 'StatefulSet', 'DaemonSet'];
    const pairs = ['shop', ...TEN].flatMap((namespace) =>
      kinds.map((kind, n) => ({
        ...{ name: `${kind.toLowerCase()}-${namespace}`, type: 'Workload' },
        workload: { kind, namespace, name: `w${n}`, podTemplate: { spec: TEMPLATE.spec } },
      })),
    );
    await create('twenty', pairs.slice(0, 20));
    await create('more', pairs.slice(0, 21));
    // Many objects of one pair need one check.
    await create(
      'long',
      Array.from({ length: 150 }, (_, n) => workload('Deployment', `w${n}`)),
    );
    for (const namespace of ['shop', ...TEN]) {
      await grant('deletes', namespace, 'delete', 'deployments.apps,statefulsets.apps,daemonsets.apps');
    }
    for (const name of ['twenty', 'long']) await soon(DONE, () => remove(name));
    for (const kind of ['deployments', 'statefulsets', 'daemonsets']) {
      await soon(removal(kind, 'every namespace'), () => remove('more'));
      await grant(`deletes-${kind}`, undefined, 'delete', `${kind}.apps`);
    }
    await soon(DONE, () => remove('more'));
  });
});

describe('a TrafficWeight', () => {
  const allow = async (...verbs: string[]): Promise<void> => {
    const rule = { apiGroups: ['externaldns.k8s.io'], resources: ['dnsendpoints'], verbs };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'publishes' } };
    await kubectl(['apply', '-f-'], { ...role, rules: [rule] });
  };
  const refused = (verb: string): Answer => refusal(USER, `may not ${verb} DNSEndpoints in every namespace`);

  it('needs the rights to DNSEndpoints in all namespaces, and so does a component that is one', async () => {
    const WEIGHTS = `${API}/trafficweights`;
    const weights = { name: 'dns', type: 'Weights', weights: (weightOf('a') as { spec: object }).spec };
    const sends = [
      () => tenant('POST', `${WEIGHTS}?dryRun=All`, weightOf('main')),
      () => tenant('POST', `${API}/trafficstacks?dryRun=All`, stackWith('dns', [weights])),
    ];
    for (const send of sends) await soon(refused('create'), send);
    const subject = ['--clusterrole=publishes', '--serviceaccount=shop:tenant'];
    await kubectl(['create', 'clusterrolebinding', 'publishes', ...subject]);
    await allow('create');
    for (const send of sends) await soon(refused('patch'), send);
    await allow('create', 'patch');
    for (const send of sends) await soon(CREATED, send);
    expect(await tenant('POST', WEIGHTS, weightOf('main'))).toEqual(CREATED);
    expect(await tenant('PATCH', `${WEIGHTS}/main`, { metadata: { labels: { a: 'b' } } })).toEqual(DONE);
    const change = { spec: { bindingDomain: 'example.com' } };
    expect(await tenant('PATCH', `${WEIGHTS}/main`, change)).toEqual(refused('delete'));
    expect(await tenant('PATCH', `${WEIGHTS}/main`, { metadata: LOST })).toEqual(refused('delete'));
    expect(await tenant('DELETE', `${WEIGHTS}/main`)).toEqual(refused('delete'));
    await allow('create', 'patch', 'delete');
    await soon(DONE, () => tenant('PATCH', `${WEIGHTS}/main`, change));
    expect(await tenant('DELETE', `${WEIGHTS}/main`)).toEqual(DONE);
  });
});

it('the right to patch an object is not enough for its owner references and finalizers', async () => {
  await kubectl(['create', 'serviceaccount', 'editor', '-n', 'shop']);
  const kinds = 'trafficwatches,trafficstacks';
  await grant('edits', undefined, 'get,patch', kinds, 'editor');
  const editor = await cluster.account('shop', 'editor');
  const plain = watchOf('plain', { podSelector: { matchLabels: { app: 'web' } } });
  const cases = [
    { kind: 'TrafficWatch', path: WATCHES, object: plain },
    { kind: 'TrafficStack', path: `${API}/trafficstacks`, object: stackWith('plain', []) },
  ];
  for (const { path, object } of cases) expect(await admin('POST', path, object)).toEqual(CREATED);
  const patch = (path: string, metadata: object): Promise<Answer> =>
    editor('PATCH', `${path}/plain?dryRun=All`, { metadata });
  for (const { kind, path } of cases) {
    await soon(DONE, () => patch(path, { labels: { a: 'b' } }));
    for (const metadata of [LOST, { finalizers: ['example.com/a'] }]) {
      expect(await patch(path, metadata)).toEqual(refusal('shop:editor', `may not delete the ${kind} plain`));
    }
  }
  await grant('removes', undefined, 'delete', kinds, 'editor');
  for (const { path } of cases) await soon(DONE, () => patch(path, LOST));
});

it('kubectl deletes in the foreground, and without the objects of an owner', async () => {
  const flags = [
    '--controllers=garbage-collector-controller',
    '--use-service-account-credentials',
    '--leader-elect=false',
  ];
  const program = await binary('kube-controller-manager');
  const args = [`--kubeconfig=${cluster.kubeconfig}`, '--secure-port=0', ...flags];
  const collector = start(program, args, `${cluster.directory}/collector.log`);
  for (const way of ['foreground', 'orphan']) {
    expect(await admin('POST', WATCHES, withDeployment(way))).toEqual(CREATED);
    const removal = ['delete', 'trafficwatch', way, '-n', 'shop', `--cascade=${way}`, '--timeout=60s'];
    expect(await kubectl(removal)).toMatchObject({ ok: true });
  }
  await collector.stop();
});
