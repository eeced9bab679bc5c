import type { V1DaemonSet, V1Deployment } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { CONNECTIVITY_CHECKS } from '../../src/api/connectivitycheck/connectivityCheck.ts';
import { defaultConnectivityOptions } from '../../src/connectivity/objects/names.ts';
import { allComponents } from '../../src/controllers/connectivity/components/components.ts';
import { isNotFound } from '../../src/runtime/client/errors.ts';
import { keyOf, refOfKey, type KubeObject, type ObjectRef, type Resource } from '../../src/runtime/client/resource.ts';
import { DAEMONSETS, DEPLOYMENTS, NAMESPACES, SERVICE_ACCOUNTS, SERVICES } from '../../src/runtime/client/resources.ts';
import { connectivityCheckCrd, installCrd } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';

/** The process of the operator deploys the connectivity check, keeps it as it should be, and removes it. */
const WAIT = { timeout: 120_000, interval: 100 };
const PERSON = { fieldManager: 'person', force: true };
const AGENTS = 'default-connectivity';
const COMPONENTS = allComponents(defaultConnectivityOptions('default'));
/** What exists without TLS. */
const PLAIN = COMPONENTS.filter(({ group }) => group !== 'serverCa');
const ON = [
  ...['--namespace=default', '--connectivity', '--connectivity-image=ours:1', '--connectivity-peer-port=9082'],
  ...['--connectivity-image-pull-policy=Always', '--connectivity-server-resources={"limits":{"memory":"1Gi"}}'],
  ...['--connectivity-server-tolerations=[{"key":"infra","operator":"Exists"}]', '--connectivity-agent-resources={}'],
];
const OFF = ['--namespace=default'];

const server: ObjectRef = { namespace: 'default', name: 'netchecker-server' };
const service: ObjectRef = { namespace: 'default', name: 'netchecker-service' };
const agents: ObjectRef = { namespace: AGENTS, name: 'netchecker-agent' };
const hostAgents: ObjectRef = { namespace: AGENTS, name: 'netchecker-agent-hostnet' };

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'] });
});
afterAll(() => f.stop());

async function find<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): Promise<T | undefined> {
  return f.client.get(resource, ref).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/** Every object that exists, by its kind and name; objects that are being deleted are none. */
async function present(): Promise<Record<string, KubeObject>> {
  const found: Record<string, KubeObject> = {};
  for (const { resource, object } of COMPONENTS) {
    const live = await find(resource, refOfKey(keyOf(object)));
    if (live !== undefined && live.metadata?.deletionTimestamp === undefined) {
      found[`${resource.kind} ${keyOf(object)}`] = live;
    }
  }
  return found;
}

const deployed = (): Promise<void> =>
  vi.waitFor(async () => expect(Object.keys(await present())).toHaveLength(PLAIN.length), WAIT);

const checks = async (): Promise<(string | undefined)[]> =>
  (await f.client.list(CONNECTIVITY_CHECKS)).map(({ metadata }) => metadata?.name);

const podOf = (object: V1DaemonSet | V1Deployment | undefined) => object?.spec?.template.spec;

it('deploys the server and the agents without a ConnectivityCheck while its CRD is missing', async () => {
  await f.startOperator(ON);
  await deployed();
  expect((await find(DEPLOYMENTS, server))?.metadata?.annotations).not.toHaveProperty([
    'traffic.example.com/first-connectivity-check',
  ]);
  // It is tried after the objects are there.
  await vi.waitFor(() => expect(f.operator().log()).toContain('ConnectivityCheck default'), WAIT);
  await installCrd(f.client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
  await vi.waitFor(async () => expect(await checks()).toEqual(['default']), WAIT);
});

it('gives the pods their names, the port, a token for the server and nothing of the host but its network', async () => {
  const own = podOf(await find(DAEMONSETS, agents));
  const host = podOf(await find(DAEMONSETS, hostAgents));
  expect([own?.hostNetwork, host?.hostNetwork]).toEqual([undefined, true]);
  for (const [pod, plane] of [
    [own, 'Pod'],
    [host, 'Host'],
  ] as const) {
    const [container] = pod?.containers ?? [];
    expect(container?.image).toBe('ours:1');
    expect(container?.args).toEqual(
      expect.arrayContaining([
        '-serverendpoint=netchecker-service.default:8081',
        '--peer-port=9082',
        `--plane=${plane}`,
        '--token-file=/var/run/secrets/traffic-operator/token',
      ]),
    );
    expect(container?.env?.map(({ name }) => name)).toEqual(['MY_POD_NAME', 'MY_NODE_NAME', 'NODE_OPTIONS']);
    expect(container?.ports?.map(({ containerPort, protocol }) => `${containerPort} ${protocol}`)).toEqual([
      '9082 TCP',
      '9082 UDP',
    ]);
    expect(pod?.volumes?.[0]?.projected?.sources).toMatchObject([
      { serviceAccountToken: { audience: 'traffic-operator-connectivity', expirationSeconds: 3600, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt' } },
    ]);
    expect([pod?.automountServiceAccountToken, container?.securityContext]).toEqual([
      false,
      { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
    ]);
  }
  expect((await find(SERVICES, service))?.spec?.type).toBe('ClusterIP');
  expect((await find(NAMESPACES, { name: AGENTS }))?.metadata?.labels).toMatchObject({
    'pod-security.kubernetes.io/enforce': 'privileged',
  });
});

it('sizes and places the pods by the flags, and pulls their image as that of the operator', async () => {
  const own = podOf(await find(DEPLOYMENTS, server));
  expect(own?.tolerations).toEqual([{ key: 'infra', operator: 'Exists' }]);
  expect(own?.containers[0]).toMatchObject({ imagePullPolicy: 'Always', resources: { limits: { memory: '1Gi' } } });
  expect(podOf(await find(DAEMONSETS, agents))?.containers[0]).toMatchObject({
    imagePullPolicy: 'Always',
    resources: {},
  });
});

it('corrects a changed field and a deleted object', async () => {
  await f.client.mergePatch(DEPLOYMENTS, server, { spec: { replicas: 0 } }, PERSON);
  await f.client.mergePatch(SERVICES, service, { spec: { selector: { app: 'other' } } }, PERSON);
  await f.client.delete(DAEMONSETS, hostAgents);
  await f.client.delete(SERVICE_ACCOUNTS, agents);
  await vi.waitFor(async () => {
    expect((await find(DEPLOYMENTS, server))?.spec?.replicas).toBe(1);
    expect((await find(SERVICES, service))?.spec?.selector).toEqual({ app: 'netchecker-server' });
    expect(Object.keys(await present())).toHaveLength(PLAIN.length);
  }, WAIT);
});

it('writes nothing after a restart, and creates no second ConnectivityCheck after the user deleted the first', async () => {
  await f.client.delete(CONNECTIVITY_CHECKS, { name: 'default' });
  const versions = async () =>
    Object.entries(await present()).map(([id, { metadata }]) => [id, metadata?.resourceVersion]);
  const before = await versions();
  await f.stopOperator();
  await f.startOperator(ON);
  // A change that it corrects shows that it has made a pass.
  await f.client.mergePatch(SERVICES, service, { metadata: { labels: { app: 'other' } } }, PERSON);
  await vi.waitFor(async () => {
    expect((await find(SERVICES, service))?.metadata?.labels?.app).toBe('netchecker-server');
  }, WAIT);
  const changed = (entries: typeof before) => entries.filter(([id]) => id !== 'Service default/netchecker-service');
  expect(changed(await versions())).toEqual(changed(before));
  expect(await checks()).toEqual([]);
});

it('removes everything that it deployed, and leaves foreign objects and ConnectivityChecks', async () => {
  await f.client.create(CONNECTIVITY_CHECKS, { metadata: { name: 'mine' }, spec: {} });
  await f.client.create(SERVICE_ACCOUNTS, { metadata: { namespace: 'default', name: 'foreign' } });
  await f.stopOperator();
  await f.client.delete(SERVICES, service);
  await f.client.create(SERVICES, { metadata: service, spec: { ports: [{ port: 8081 }] } });
  await f.startOperator(OFF);
  await vi.waitFor(async () => {
    expect(Object.keys(await present())).toEqual(['Service default/netchecker-service']);
  }, WAIT);
  expect(await find(SERVICE_ACCOUNTS, { namespace: 'default', name: 'foreign' })).toBeDefined();
  expect(await checks()).toEqual(['mine']);
});

it('creates no ConnectivityCheck where there is one', async () => {
  await f.client.delete(SERVICES, service);
  await f.stopOperator();
  await f.startOperator(ON);
  await vi.waitFor(async () => {
    expect((await find(DEPLOYMENTS, server))?.metadata?.annotations).toMatchObject({
      'traffic.example.com/first-connectivity-check': 'true',
    });
  }, WAIT);
  expect(await checks()).toEqual(['mine']);
});
