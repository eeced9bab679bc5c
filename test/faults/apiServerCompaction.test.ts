import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NODES } from '../../src/runtime/resources.ts';
import { startFreezableProxy, type FreezableProxy } from '../../src/runtime/testing/freezableProxy.ts';
import { startFixture, type Fixture } from '../integration/fixture.ts';
import { createUser } from '../integration/pki.ts';
import { compact } from './etcd.ts';
import { measured, seconds, sleep, until } from './measured.ts';
import { metricsOf, type Metrics } from './metricsOf.ts';
import { startApiProxy, type ApiProxy } from './proxy.ts';

/** Versions that are too old to go on from: etcd was compacted, or every watch is told 410 at once. */
const KEY = 'web.traffic.example.com/unfit';
const WAIT = { timeout: 40_000, interval: 200 };
const LABELS = { n1: 'false', n2: 'true', n3: 'false' };
const RESOURCES = ['nodes', 'trafficwatches.traffic.example.com', 'deployments.apps'];

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

describe('versions that are gone', { timeout: 180_000 }, () => {
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
    await f.stopOperator();
    await f.removeNode('n4');
    await f.addNode('n3');
  });

  it('by 410 to every watch lead to one list each, and lists that are refused again to pauses', async () => {
    const operator = await f.startOperator([], { kubeconfig: proxy.kubeconfig });
    await settled();
    const [before, versions] = [await metricsOf(operator), await f.nodeVersions()];
    const gone = {
      type: 'ERROR',
      object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 410, reason: 'Expired' },
    };
    const from = performance.now();
    // Once each: the first watch that goes on from a version is told that it is gone.
    const told = new Set<string>();
    proxy.fault = ({ isWatch, target }) => {
      if (!isWatch || told.has(target)) return undefined;
      told.add(target);
      return { kind: 'rewrite', line: () => ({ text: `${JSON.stringify(gone)}\n`, end: true }) };
    };
    for (const request of proxy.requests.filter((r) => r.isWatch && r.endedAt === undefined)) request.end();
    for (let n = 0; n < 20; n += 1) {
      await Promise.all([
        f.annotateNode('n3', { 'example.com/n': String(n) }),
        f.patchWatch('web', { metadata: { annotations: { 'example.com/n': String(n) } } }),
      ]);
      await sleep(500);
    }
    const after = await metricsOf(operator);
    const again = lists(after).map((count, n) => count - lists(before)[n]!);
    const begun = proxy.requests
      .filter(({ at, isWatch, path }) => at > from && isWatch && path === '/api/v1/nodes')
      .map(({ at }) => at);
    measured(
      `lists after 410: ${RESOURCES.map((resource, n) => `${resource} ${again[n]}`).join(', ')}; watches of nodes ${begun
        .slice(1)
        .map((at, n) => seconds(at - begun[n]!))
        .join(', ')} apart`,
    );
    expect(again.slice(0, 2)).toEqual([1, 1]);
    expect(after.sum('reflector_watch_ends_total', { resource: 'nodes', reason: 'gone' })).toBe(1);
    expect(nodeWrites(after)).toBe(nodeWrites(before));
    const now = await f.nodeVersions();
    expect([now.n1, now.n2]).toEqual([versions.n1, versions.n2]);
    expect(await f.labels(KEY)).toEqual(LABELS);
  });
});
