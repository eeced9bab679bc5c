import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { NODES } from '../../src/runtime/client/resources.ts';
import { startFreezableProxy, type FreezableProxy } from '../../src/runtime/testing/freezableProxy.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import type { Operator } from '../harness/operator.ts';
import { createUser } from '../harness/pki.ts';
import { compact } from './etcd.ts';
import { measured, seconds, sleep, until } from '../harness/measured.ts';
import { metricsOf, type Metrics } from '../harness/metricsOf.ts';
import { startApiProxy, type ApiProxy, type Fault, type ProxiedRequest } from '../harness/proxy.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** Versions that are too old to go on from: etcd was compacted, or every watch gets 410 at once. */
const KEY = unfitKey('web');
const WAIT = { timeout: 90_000, interval: 200 };
const LABELS = { n1: 'false', n2: 'true', n3: 'false' };
const RESOURCES = ['nodes', 'trafficwatches.traffic.example.com', 'deployments.apps'];

type Versions = Awaited<ReturnType<Fixture['nodeVersions']>>;

let f: Fixture;
let tcp: FreezableProxy;
let proxy: ApiProxy;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2', 'n3'] });
  f.exporter.setPercent('n2', 60);
  tcp = await startFreezableProxy(Number(new URL(f.controlPlane.url).port));
  proxy = await startApiProxy(f.controlPlane);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
});
afterEach(async () => {
  await f.stopOperator();
  proxy.fault = undefined;
});
afterAll(async () => {
  await f.stop();
  await proxy.stop();
  await tcp.close();
});

async function settled(): Promise<void> {
  await vi.waitFor(async () => {
    expect(await f.labels(KEY)).toEqual(LABELS);
    expect((await f.watch('web')).status).toMatchObject({ ready: true, unknownNodes: 0 });
  }, WAIT);
}

const lists = (metrics: Metrics): number[] =>
  RESOURCES.map((resource) => metrics.sum('reflector_lists_total', { resource }));
const nodeWrites = (metrics: Metrics): number => metrics.sum('writes_total', { kind: 'Node' });

/** An operator through the proxy whose nodes are labelled, with what it and the nodes were like then. */
async function started(): Promise<{ operator: Operator; before: Metrics; versions: Versions }> {
  const operator = await f.startOperator([], { kubeconfig: proxy.kubeconfig });
  await settled();
  return { operator, before: await metricsOf(operator), versions: await f.nodeVersions() };
}

/** Tells each watch once, at its next line, that its version is gone. */
function onceEach(which: (request: ProxiedRequest) => boolean): (request: ProxiedRequest) => Fault | undefined {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 410, reason: 'Expired' };
  const told = new Set<string>();
  return (request) => {
    if (!request.isWatch || told.has(request.target) || !which(request)) return undefined;
    told.add(request.target);
    return {
      kind: 'rewrite',
      line: () => ({ text: `${JSON.stringify({ type: 'ERROR', object: status })}\n`, end: true }),
    };
  };
}

function endWatches(): void {
  for (const request of proxy.requests.filter((r) => r.isWatch && r.endedAt === undefined)) request.end();
}

/** Something happens to what is watched, for ten seconds. */
async function changeAll(): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    const annotations = { 'example.com/n': `${n} ${performance.now()}` };
    await Promise.all([f.annotateNode('n3', annotations), f.patchWatch('web', { metadata: { annotations } })]);
    await sleep(500);
  }
}

/** Until so many kinds, nodes first, are listed once more than before: on a busy machine that may come after the changes. */
async function listedAgain(operator: Operator, before: Metrics, kinds = 1): Promise<void> {
  const listed = async (): Promise<boolean> => {
    const now = lists(await metricsOf(operator));
    return now.slice(0, kinds).every((count, n) => count > lists(before)[n]!);
  };
  await until('they are listed again', listed);
}

/** From one watch of nodes to the next, ms. */
function gaps(from: number): number[] {
  const begun = proxy.requests
    .filter((r) => r.at > from && r.isWatch && r.path === '/api/v1/nodes')
    .map(({ at }) => at);
  return begun.slice(1).map((at, n) => at - begun[n]!);
}

async function expectUntouched(after: Metrics, before: Metrics, versions: Versions): Promise<void> {
  expect(nodeWrites(after)).toBe(nodeWrites(before));
  const now = await f.nodeVersions();
  expect([now.n1, now.n2]).toEqual([versions.n1, versions.n2]);
  expect(await f.labels(KEY)).toEqual(LABELS);
}

describe('versions that are gone', () => {
  it('by compaction lead to one list an informer, and to no deletion or label that was not to be', async () => {
    const kubeconfig = await createUser(f.controlPlane.directory, `https://127.0.0.1:${tcp.port}`, 'slept', [
      'system:masters',
    ]);
    const operator = await f.startOperator([], { kubeconfig });
    await settled();
    const [before, versions] = [await metricsOf(operator), await f.nodeVersions()];
    tcp.freeze();
    await f.annotateNode('n1', { 'example.com/changed': 'yes' });
    await f.removeNode('n3');
    const last = await f.client.create(NODES, { metadata: { name: 'n4', labels: { 'kubernetes.io/hostname': 'n4' } } });
    await compact(f.controlPlane, Number(last.metadata?.resourceVersion));
    // The API server's own cache would still know the old versions.
    await f.controlPlane.stopApiServer();
    await f.controlPlane.startApiServer();
    tcp.cut();
    tcp.thaw();
    const back = performance.now();
    const listed = async (): Promise<number[]> =>
      lists(await metricsOf(operator)).map((count, n) => count - lists(before)[n]!);
    const took = await until('nodes are listed again', async () => (await listed())[0]! > 0, { since: back });
    measured(`nodes listed again ${seconds(took)} after a compaction that the watch slept through`);
    await sleep(10_000);
    const again = await listed();
    measured(
      `lists after the compaction: ${RESOURCES.map((resource, n) => `${resource} ${again[n]} of ${lists(before)[n]} informers`).join(', ')}`,
    );
    // Each counts as many as there are informers of the resource.
    again.forEach((count, n) => expect(count).toBeLessThanOrEqual(lists(before)[n]!));
    const after = await metricsOf(operator);
    expect(after.sum('reflector_objects', { resource: 'nodes' })).toBe(3);
    expect(after.sum('reflector_watch_ends_total', { resource: 'nodes', reason: 'gone' })).toBe(1);
    expect(nodeWrites(after)).toBe(nodeWrites(before));
    expect((await f.nodeVersions()).n2).toBe(versions.n2);
    await f.removeNode('n4');
    await f.addNode('n3');
    // Else the next operator labels it, and that is a write that the next test counts.
    await settled();
  });

  it('by 410 to every watch lead to one list each', async () => {
    const { operator, before, versions } = await started();
    const from = performance.now();
    // Once each: the first watch that continues from a version gets 410.
    proxy.fault = onceEach(() => true);
    endWatches();
    await changeAll();
    await listedAgain(operator, before, 2);
    const after = await metricsOf(operator);
    const again = lists(after).map((count, n) => count - lists(before)[n]!);
    measured(
      `lists after 410: ${RESOURCES.map((resource, n) => `${resource} ${again[n]}`).join(', ')}; watches of nodes ${gaps(from).map(seconds).join(', ')} apart`,
    );
    expect(again.slice(0, 2)).toEqual([1, 1]);
    expect(after.sum('reflector_watch_ends_total', { resource: 'nodes', reason: 'gone' })).toBe(1);
    await expectUntouched(after, before, versions);
  });

  it('three times in a row, the list refused, too, lead to longer and longer pauses, and to one list', async () => {
    const { operator, before, versions } = await started();
    const lateness = monitorEventLoopDelay();
    lateness.enable();
    const from = performance.now();
    const refused = new Map<string, number>();
    proxy.fault = ({ isWatch, target }) => {
      const count = refused.get(target) ?? 0;
      if (!isWatch || count === 3) return undefined;
      refused.set(target, count + 1);
      return { kind: 'answer', status: 410 };
    };
    endWatches();
    await listedAgain(operator, before);
    const [first = 0, second = 0, third = 0] = gaps(from);
    measured(`410 three times: nodes asked for again after ${[first, second, third].map(seconds).join(', ')}`);
    lateness.disable();
    // The first list comes at once, at the pace of watches; then between half and the whole of 2 s, and of 4 s. A request that this process came
    // to late is noted closer to the next one.
    const late = lateness.max / 1e6;
    expect(second).toBeGreaterThanOrEqual(990 - late);
    expect(third).toBeGreaterThanOrEqual(1_990 - late);
    await changeAll();
    const after = await metricsOf(operator);
    expect(lists(after)[0]! - lists(before)[0]!).toBe(1);
    expect(after.sum('reflector_watch_ends_total', { resource: 'nodes', reason: 'gone' })).toBe(3);
    await expectUntouched(after, before, versions);
  });

  it('where a server knows no watch-list lead to one list in pages, and to no deletion', async () => {
    const noWatchList = ({ isWatchList }: ProxiedRequest): Fault | undefined =>
      isWatchList ? { kind: 'answer', status: 422 } : undefined;
    proxy.fault = noWatchList;
    const from = performance.now();
    const { operator, before, versions } = await started();
    const pages = (metrics: Metrics): number =>
      metrics.sum('reflector_lists_total', { resource: 'nodes', how: 'pages' });
    expect(pages(before)).toBe(1);
    const gone = onceEach(({ isWatchList }) => !isWatchList);
    proxy.fault = (request) => noWatchList(request) ?? gone(request);
    endWatches();
    await changeAll();
    await listedAgain(operator, before);
    const after = await metricsOf(operator);
    expect(lists(after)[0]! - lists(before)[0]!).toBe(1);
    expect(pages(after)).toBe(2);
    expect(after.sum('reflector_watch_ends_total', { resource: 'nodes', reason: 'gone' })).toBe(1);
    expect(after.sum('reflector_objects', { resource: 'nodes' })).toBe(3);
    // Refused once, an informer does not ask for a watch-list again. Some begin only after the nodes are labelled.
    const watchLists = proxy.requests.filter((r) => r.at > from && r.isWatchList).map(({ target }) => target);
    expect(watchLists).toContain('/api/v1/nodes');
    expect(watchLists).toEqual([...new Set(watchLists)]);
    await expectUntouched(after, before, versions);
  });
});
