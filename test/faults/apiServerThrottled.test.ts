import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { LEASES, NAMESPACES, SERVICE_ACCOUNTS } from '../../src/runtime/client/resources.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { connect } from '../harness/runtimeScene.ts';
import { putInto, SCHEMAS, takeOut, type FlowControl, type FlowSubject, type Level } from './flowControl.ts';
import { measured, seconds, sleep, until } from '../harness/measured.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { startApiProxy, type ApiProxy, type ProxiedRequest } from '../harness/proxy.ts';
import { grantOperator } from './rbac.ts';
import { SEAT_HOLDERS, startSeatHolders } from './seatHolders.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * API priority and fairness turns the operator away (429, Retry-After), as the ServiceAccount that it has in a cluster:
 * all its requests go to a priority level whose only place is taken by others, also the requests for its lease, unless the
 * FlowSchema of deploy/ takes these first. Or there are seats, and others also want them.
 */
const NAMESPACE = 'traffic-operator-system';
const ACCOUNT = { namespace: NAMESPACE, name: 'traffic-operator' };
const KEY = unfitKey('web');
const NODES = Array.from({ length: 60 }, (_, n) => `n${n}`);
/** The promises. */
const MAX_IN_FLIGHT = 16;
const PATCHES_IN_FLIGHT = 12;
const LONGEST_GAP_MS = 10_000;

/** With no share, a level still takes one request while there is none: another user has to take that place. */
const CLOSED: Level = { name: 'closed', shares: 0, limitResponse: { type: 'Reject' } };
/**
 * Queues as in workload-low, where other ServiceAccounts' requests are. That has twice as many seats as queues, so that a
 * request is served after about as long as one of the others takes; here are fewer seats than queues in use.
 */
const CONTENDED: Level = {
  name: 'contended',
  shares: 4,
  limitResponse: { type: 'Queue', queuing: { queues: 128, handSize: 6, queueLengthLimit: 50 } },
};
const TAKING_ALL = { users: 1, atOnce: 3, holdMs: 20_000 };
const OTHERS = { users: 4, atOnce: 12, holdMs: 1_000 };

const SUBJECTS: FlowSubject[] = [
  { kind: 'ServiceAccount', serviceAccount: ACCOUNT },
  { kind: 'Group', group: { name: SEAT_HOLDERS } },
];

let f: Fixture;
let proxy: ApiProxy;
beforeAll(async () => {
  f = await startFixture({ nodes: NODES });
  await f.client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
  await f.client.create(SERVICE_ACCOUNTS, { metadata: ACCOUNT });
  await grantOperator(f.client, { kind: 'ServiceAccount', ...ACCOUNT });
  await f.client.create(SCHEMAS, ownSchema());
  proxy = await startApiProxy(f.controlPlane, { asCaller: true });
  await f.startOperator(['--leader-elect'], { kubeconfig: await accountKubeconfig() });
  await until('it leads', leads);
});
afterAll(async () => {
  await f.stop();
  await proxy.stop();
});

const leads = async (): Promise<boolean> => (await metricsOf(f.operator())).sum('leader') === 1;

/** The FlowSchema that is installed with the operator. */
function ownSchema(): FlowControl {
  const text = readFileSync(new URL('../../deploy/operator.yaml', import.meta.url), 'utf8');
  const objects = parseAllDocuments(text).map((document) => document.toJS() as FlowControl | null);
  return objects.find((object) => object?.kind === 'FlowSchema')!;
}

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

/** A call whose Retry-After is beyond this time from its first attempt may have given up: its deadline is 30 s. */
const SURELY_TRIED_AGAIN_MS = 25_000;

/**
 * For each attempt that was turned away and that its call repeated: for how long it stayed away, and its Retry-After,
 * ms. The next reconcile, which does not wait for the Retry-After of an earlier call, begins another call.
 */
function waits(requests: readonly ProxiedRequest[]): { at: number; waited: number; told: number }[] {
  const attempts = Map.groupBy(requests, ({ method, target }) => `${method} ${target}`);
  return [...attempts.values()].flatMap((all) => {
    let begun = all[0]!.at;
    return all.flatMap(({ at, status, answeredAt = Infinity, retryAfterMs: told = 0 }, index) => {
      // What was sent before the answer is of another call.
      const again = all.slice(index + 1).find((next) => next.at > answeredAt);
      const isRepeated = status === 429 && answeredAt + told < begun + SURELY_TRIED_AGAIN_MS;
      if (!isRepeated) begun = again?.at ?? Infinity;
      return isRepeated && again !== undefined ? [{ at, waited: again.at - answeredAt, told }] : [];
    });
  });
}

/** Asserts that it led all the time; returns the longest time between two renewals, ms. */
async function longestGap(during: readonly ProxiedRequest[]): Promise<number> {
  expect(await leads(), 'it leads').toBe(true);
  const { spec } = await f.client.get(LEASES, { namespace: NAMESPACE, name: 'traffic-operator' });
  expect(String(spec?.leaseTransitions)).toBe('0');
  expect(f.operator().log()).not.toContain('stopped leading');
  const times = during.filter((r) => isLease(r) && r.method === 'PUT' && r.status === 200).map(({ at }) => at);
  expect(times, 'renewals').not.toEqual([]);
  return Math.max(...[...times, performance.now()].slice(1).map((at, index) => at - times[index]!));
}

describe('the operator', () => {
  it('waits for the Retry-After, with 16 calls at most, and continues to lead', async () => {
    // Slow answers, so that many calls would be under way at once if nothing held them back, however slowly they begin.
    proxy.fault = (request) => (isCall(request) ? { kind: 'delay', ms: 1_000 } : undefined);
    await f.createWatch('web', { maxBandwidthPercent: '10' });
    await until(
      'calls are under way',
      () => proxy.requests.filter(({ path }) => path.includes('/nodes/')).length >= 10,
    );
    await putInto(f.client, CLOSED, SUBJECTS, ['*']);
    const others = await startSeatHolders(f.controlPlane, f.client, TAKING_ALL);
    onTestFinished(async () => {
      await others.stop();
      await takeOut(f.client, CLOSED);
    });
    const from = performance.now();
    await until('it is turned away', () => proxy.requests.some(({ status }) => status === 429));
    const busy = NODES.slice(0, 30);
    for (const node of busy) f.exporter.setPercent(node, 60);
    await sleep(40_000);

    const during = proxy.requests.filter(({ at }) => at > from);
    const gap = await longestGap(during);
    measured(`lease renewed in ${seconds(performance.now() - from)} of 429, every ${seconds(gap)} at least`);
    expect(gap).toBeLessThan(LONGEST_GAP_MS);

    const told = waits(proxy.requests).filter(({ at }) => at > from);
    measured(
      `${told.length} requests sent again after 429; the least wait beyond Retry-After ${Math.round(Math.min(...told.map((w) => w.waited - w.told)))} ms; Retry-After up to ${seconds(Math.max(...told.map((w) => w.told)))}`,
    );
    const calls = proxy.requests.filter(isCall);
    const patches = calls.filter(({ method, path }) => method === 'PATCH' && path.startsWith('/api/v1/nodes/'));
    measured(`${mostAtOnce(patches)} patches of nodes at once at most, and ${mostAtOnce(calls)} calls`);
    expect(told.length).toBeGreaterThan(20);
    for (const wait of told) {
      expect(wait.told).toBeGreaterThan(0);
      expect(wait.waited).toBeGreaterThanOrEqual(wait.told);
    }
    expect(mostAtOnce(patches)).toBe(PATCHES_IN_FLIGHT);
    expect(mostAtOnce(calls)).toBeLessThanOrEqual(MAX_IN_FLIGHT);

    await others.stop();
    const since = performance.now();
    const labelled = async (): Promise<boolean> => {
      const labels = await f.labels(KEY);
      return busy.every((node) => labels[node] === 'true');
    };
    await takeOut(f.client, CLOSED);
    const back = await until('the busy nodes are labelled', labelled, { since });
    measured(`30 nodes that became busy meanwhile are labelled ${seconds(back)} after the end of 429`);
  });

  it('goes on leading where its lease has to wait for a seat among the calls of all others', async () => {
    proxy.fault = undefined;
    await f.client.delete(SCHEMAS, { name: ownSchema().metadata?.name ?? '' });
    const group = { name: SEAT_HOLDERS };
    const subjects = [
      { kind: 'ServiceAccount' as const, serviceAccount: ACCOUNT },
      { kind: 'Group' as const, group },
    ];
    await putInto(f.client, CONTENDED, subjects, ['*']);
    const others = await startSeatHolders(f.controlPlane, f.client, OTHERS);
    onTestFinished(() => others.stop());
    const slowest = (requests: readonly ProxiedRequest[]): number =>
      Math.max(...requests.map(({ at, endedAt = performance.now() }) => endedAt - at));
    const calls = (): ProxiedRequest[] => proxy.requests.filter((request) => isCall(request) && request.at > from);
    const from = performance.now();
    // It also has something to do: its own calls delay its lease as the calls of others do.
    for (let round = 0; round < 4; round += 1) {
      for (const node of NODES.slice(0, 30)) f.exporter.setPercent(node, round % 2 === 0 ? 1 : 60);
      await sleep(10_000);
    }
    await others.stop();

    const during = proxy.requests.filter(({ at }) => at > from);
    const gap = await longestGap(during);
    const renewals = during.filter((request) => isLease(request) && request.method === 'PUT');
    measured(
      `lease renewed among ${OTHERS.users * OTHERS.atOnce} calls of others, every ${seconds(gap)} at least; slowest renewal ${seconds(slowest(renewals))}, slowest of ${calls().length} calls ${seconds(slowest(calls()))}; others ${JSON.stringify(others.answers)}`,
    );
    expect(slowest(calls()), 'calls had to wait').toBeGreaterThan(OTHERS.holdMs);
    expect(gap).toBeLessThan(LONGEST_GAP_MS);
  });
});
