import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject, Resource } from '../../src/runtime/resource.ts';
import { LEASES, NAMESPACES, SERVICE_ACCOUNTS } from '../../src/runtime/resources.ts';
import { startFixture, type Fixture } from '../integration/fixture.ts';
import { connect } from '../integration/runtimeScene.ts';
import { measured, seconds, sleep, until } from './measured.ts';
import { metricsOf } from './metricsOf.ts';
import { startApiProxy, type ApiProxy, type ProxiedRequest } from './proxy.ts';
import { grantOperator } from './rbac.ts';

/**
 * API priority and fairness turns the operator away (429, Retry-After), as a ServiceAccount: a priority level without a
 * single seat that rejects takes all its requests but those for leases, which clusters put into another level, too.
 */
const NAMESPACE = 'traffic-operator-system';
const ACCOUNT = { namespace: NAMESPACE, name: 'operator' };
const KEY = 'web.traffic.example.com/unfit';
const NODES = Array.from({ length: 60 }, (_, n) => `n${n}`);
/** The promise. */
const MAX_IN_FLIGHT = 16;

interface FlowControl extends KubeObject {
  spec: unknown;
}
const FLOW_CONTROL = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', namespaced: false };
const LEVELS: Resource<FlowControl> = {
  ...FLOW_CONTROL,
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
};
const SCHEMAS: Resource<FlowControl> = { ...FLOW_CONTROL, kind: 'FlowSchema', plural: 'flowschemas' };

let f: Fixture;
let proxy: ApiProxy;
beforeAll(async () => {
  f = await startFixture({ nodes: NODES });
  await f.client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  await f.client.create(SERVICE_ACCOUNTS, { metadata: ACCOUNT });
  await grantOperator(f.client, { kind: 'ServiceAccount', ...ACCOUNT });
  proxy = await startApiProxy(f.controlPlane, { asCaller: true });
});
afterAll(async () => {
  await f.stop();
  await proxy.stop();
});

/** A kubeconfig with a token of the account, for the proxy's address. */
async function accountKubeconfig(): Promise<string> {
  const { transport } = connect(f.controlPlane);
  const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${ACCOUNT.name}/token`;
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const { status } = await transport.request<{ status: { token: string } }>({ method: 'POST', path, body });
  await transport.close();
  const cluster = { server: proxy.url, 'certificate-authority': join(f.controlPlane.directory, 'ca.crt') };
  const config = {
    'current-context': 'account',
    clusters: [{ name: 'plane', cluster }],
    users: [{ name: 'account', user: { token: status.token } }],
    contexts: [{ name: 'account', context: { cluster: 'plane', user: 'account' } }],
  };
  const file = join(f.controlPlane.directory, 'account.conf');
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }));
  return file;
}

async function starve(): Promise<void> {
  const limited = {
    nominalConcurrencyShares: 0,
    lendablePercent: 0,
    borrowingLimitPercent: 0,
    limitResponse: { type: 'Reject' },
  };
  await f.client.create(LEVELS, { metadata: { name: 'starved' }, spec: { type: 'Limited', limited } });
  const all = { verbs: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true };
  const apiGroups = ['', 'apps', 'discovery.k8s.io', 'events.k8s.io', 'traffic.example.com'];
  const subjects = [{ kind: 'ServiceAccount', serviceAccount: ACCOUNT }];
  const rules = [{ subjects, resourceRules: [{ ...all, apiGroups }] }];
  const spec = { priorityLevelConfiguration: { name: 'starved' }, matchingPrecedence: 100, rules };
  await f.client.create(SCHEMAS, { metadata: { name: 'starved' }, spec });
}

const isLease = ({ path }: ProxiedRequest): boolean => path.includes('/leases');
const isCall = (request: ProxiedRequest): boolean => !request.isWatch && !isLease(request);

/** How many calls were under way at once, at most. */
function mostAtOnce(calls: readonly ProxiedRequest[]): number {
  const moments = calls.flatMap(({ at, endedAt = Infinity }) => [
    { at, change: 1 },
    { at: endedAt, change: -1 },
  ]);
  let now = 0;
  return Math.max(...moments.sort((a, b) => a.at - b.at || a.change - b.change).map(({ change }) => (now += change)));
}

/** For each request that was turned away and sent again: for how long it stayed away, and what it was told, ms. */
function waits(requests: readonly ProxiedRequest[]): { waited: number; told: number }[] {
  return requests.flatMap((request, index) => {
    if (request.status !== 429 || request.endedAt === undefined) return [];
    const again = requests.slice(index + 1).find((r) => r.method === request.method && r.path === request.path);
    return again === undefined ? [] : [{ waited: again.at - request.endedAt, told: request.retryAfterMs ?? 0 }];
  });
}

it('waits as long as it is told, with 16 calls at most, and goes on leading', { timeout: 180_000 }, async () => {
  await f.startOperator(['--leader-elect'], { kubeconfig: await accountKubeconfig() });
  const leads = async (): Promise<boolean> => (await metricsOf(f.operator())).sum('leader') === 1;
  await until('it leads', leads);
  // Slow answers, so that many calls would be under way at once if nothing held them back.
  proxy.fault = (request) => (isCall(request) ? { kind: 'delay', ms: 300 } : undefined);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await until('calls are under way', () => proxy.requests.filter(({ path }) => path.includes('/nodes/')).length >= 10);
  await starve();
  const from = performance.now();
  await until('it is turned away', () => proxy.requests.some(({ status }) => status === 429));
  const busy = NODES.slice(0, 30);
  for (const node of busy) f.exporter.setPercent(node, 60);
  await sleep(40_000);

  expect(await leads()).toBe(true);
  const during = proxy.requests.filter(({ at }) => at > from);
  const renewals = during.filter((request) => isLease(request) && request.method === 'PUT' && request.status === 200);
  const gaps = renewals.slice(1).map(({ at }, index) => at - renewals[index]!.at);
  measured(
    `lease renewed ${renewals.length} times in ${seconds(performance.now() - from)} of 429, every ${seconds(Math.max(...gaps))} at least`,
  );
  expect(Math.max(...gaps)).toBeLessThan(10_000);
  expect(
    String((await f.client.get(LEASES, { namespace: NAMESPACE, name: 'traffic-operator' })).spec?.leaseTransitions),
  ).toBe('0');

  const told = waits(during);
  measured(
    `${told.length} requests sent again after 429; the least wait beyond Retry-After ${Math.round(Math.min(...told.map((w) => w.waited - w.told)))} ms; Retry-After up to ${seconds(Math.max(...told.map((w) => w.told)))}`,
  );
  measured(`${mostAtOnce(proxy.requests.filter(isCall))} calls at once at most`);
  expect(told.length).toBeGreaterThan(20);
  for (const wait of told) {
    expect(wait.told).toBeGreaterThan(0);
    expect(wait.waited).toBeGreaterThanOrEqual(wait.told - 20);
  }
  expect(mostAtOnce(proxy.requests.filter(isCall))).toBe(MAX_IN_FLIGHT);

  await f.client.delete(SCHEMAS, { name: 'starved' });
  const back = await until('the busy nodes are labelled', async () => {
    const labels = await f.labels(KEY);
    return busy.every((node) => labels[node] === 'true');
  });
  measured(`30 nodes that became busy meanwhile are labelled ${seconds(back)} after the end of 429`);
});
