import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { helmTemplate, isHook } from '../../scripts/chart/helm.ts';
import { TRAFFIC_WEIGHTS, type TrafficWeight } from '../../src/api/trafficweight/trafficWeight.ts';
import { CONFIG_MAPS, ENDPOINT_SLICES, INGRESSES, LEASES } from '../../src/runtime/client/resources.ts';
import { findCondition } from '../../src/runtime/controller/conditions.ts';
import { DNS_ENDPOINTS } from '../../src/weights/records/endpoint.ts';
import { established, installCrd } from '../harness/customResource.ts';
import { dnsEndpointCrd } from '../harness/externalDns.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { kubeconfigOf, kubectl } from '../harness/kubectl.ts';
import { find, podOf } from './rendered.ts';

/** The chart with weights.enabled: a process with an account of its own gives records their weight; the manager may not. */
const NAMESPACE = 'traffic-operator-system';
const WAIT = { timeout: 120_000, interval: 200 };
let f: Fixture;

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1'], crd: 'none' });
  const objects = helmTemplate('--set', 'weights.enabled=true,stacks.enabled=true').filter((object) => !isHook(object));
  await kubectl(f.controlPlane, ['create', 'namespace', NAMESPACE]);
  await kubectl(
    f.controlPlane,
    ['apply', '--server-side', '-f', '-'],
    objects.map((each) => JSON.stringify(each)).join('\n---\n'),
  );
  await established((args) => kubectl(f.controlPlane, args), ['crd/trafficweights.traffic.example.com']);
  await installCrd(f.client, await dnsEndpointCrd(), DNS_ENDPOINTS);
  const pod = podOf(find(objects, 'Deployment', false, 'weights'));
  const args = pod.containers[0].args.filter((arg) => /^--(leader-elect|stacks|namespace)/.test(arg));
  expect(pod.containers[0].args[0]).toBe('trafficweights');
  const kubeconfig = await kubeconfigOf(f.controlPlane, String(pod.serviceAccountName), NAMESPACE);
  await f.startOperator(args, { kubeconfig, command: 'trafficweights' });
}, 180_000);
afterAll(() => f.stop());

const WEB = { namespace: 'default', name: 'web' };

/** An Ingress with a load balancer, and a Service that is ready. */
async function deploy(): Promise<void> {
  const labels = { 'kubernetes.io/service-name': 'web' };
  const endpoints = [{ addresses: ['192.0.2.1'], conditions: { ready: true } }];
  await f.client.create(ENDPOINT_SLICES, { metadata: { ...WEB, labels }, addressType: 'IPv4', endpoints });
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const rule = { host: 'web.example.org', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } };
  await f.client.create(INGRESSES, { metadata: WEB, spec: { rules: [rule] } });
  const status = { loadBalancer: { ingress: [{ hostname: 'lb.example.net' }] } };
  await f.client.mergePatch(INGRESSES, WEB, { status }, { fieldManager: 'person', subresource: 'status' });
}

it('gives the records of an Ingress the weight of a ConfigMap in its namespace, and is refused nothing', async () => {
  await f.client.create(CONFIG_MAPS, { metadata: { namespace: NAMESPACE, name: 'weights' }, data: { weight: '75' } });
  await deploy();
  const spec = { clusterName: 'cluster-a', acknowledge: 'Applied' as const };
  const backend = { configMap: { name: 'weights' } };
  await f.client.create(TRAFFIC_WEIGHTS, { metadata: { name: 'main' }, spec: { ...spec, backend } });
  await vi.waitFor(async () => {
    expect((await f.client.get(DNS_ENDPOINTS, WEB)).spec?.endpoints).toMatchObject([
      { dnsName: 'web.example.org', providerSpecific: [{ name: 'aws/weight', value: '75' }] },
    ]);
    const { status }: TrafficWeight = await f.client.get(TRAFFIC_WEIGHTS, { name: 'main' });
    expect(findCondition(status?.conditions, 'Ready')).toMatchObject({ status: 'True', reason: 'InForce' });
  }, WAIT);
  expect(
    f
      .operator()
      .log()
      .split('\n')
      .filter((line) => /forbidden|"status":403/i.test(line)),
  ).toEqual([]);
});

const ACCOUNT = `system:serviceaccount:${NAMESPACE}:traffic-operator`;

describe.each<[string, string, boolean, readonly string[]]>([
  [
    'the manager',
    ACCOUNT,
    false,
    [
      'list ingresses.networking.k8s.io',
      'list dnsendpoints.externaldns.k8s.io',
      'create dnsendpoints.externaldns.k8s.io',
    ],
  ],
  ['the manager', ACCOUNT, true, ['patch nodes', 'patch deployments.apps', 'list trafficweights.traffic.example.com']],
  [
    'the process for DNS weights',
    `${ACCOUNT}-weights`,
    false,
    [
      ...['patch nodes', 'list nodes', 'patch deployments.apps', 'create deployments.apps', 'list pods', 'get secrets'],
      ...['list trafficwatches.traffic.example.com', 'patch trafficwatches.traffic.example.com'],
      ...['patch trafficweights.traffic.example.com', 'patch trafficstacks.traffic.example.com'],
    ],
  ],
  ['the process for DNS weights', `${ACCOUNT}-weights`, true, ['create dnsendpoints.externaldns.k8s.io']],
])('%s', (_, user, isAllowed, rights) => {
  it.each(rights)(`${isAllowed ? 'may' : 'may not'} %s`, async (right) => {
    const [verb = '', resource = ''] = right.split(' ');
    // It fails where the answer is no.
    const answer = kubectl(f.controlPlane, ['auth', 'can-i', verb, resource, '-A', `--as=${user}`]);
    const said = await answer.catch((error: unknown) => (error as { stdout: string }).stdout);
    expect(said.trim()).toBe(isAllowed ? 'yes' : 'no');
  });
});

it('holds a Lease of its own', async () => {
  const { spec } = await f.client.get(LEASES, { namespace: NAMESPACE, name: 'traffic-operator-weights' });
  expect(spec?.holderIdentity).toBeTruthy();
});
