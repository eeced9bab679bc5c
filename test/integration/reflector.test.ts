import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { Controller } from '../../src/runtime/controller/controller.ts';
import { ApiError } from '../../src/runtime/client/errors.ts';
import { createLogger } from '../../src/runtime/process/logger.ts';
import { createMetrics, createRegistry } from '../../src/runtime/manager/metrics.ts';
import { keyOf } from '../../src/runtime/client/resource.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../src/runtime/client/resources.ts';
import { startFreezableProxy } from '../../src/runtime/testing/freezableProxy.ts';
import type { FreezableProxy } from '../../src/runtime/testing/freezableProxy.ts';
import type { Transport } from '../../src/runtime/client/transport.ts';
import { measured, seconds, sleep } from '../harness/measured.ts';
import { watchConnectionsTo } from './connections.ts';
import { startControlPlane } from '../harness/controlPlane.ts';
import type { ControlPlane } from '../harness/controlPlane.ts';
import { configMap, connect, observe } from '../harness/runtimeScene.ts';
import type { Connected, Observed } from '../harness/runtimeScene.ts';
import { SLACK } from '../harness/slack.ts';

/** The promise: everything is caught up 5 s after the API server can be reached again. */
const CAUGHT_UP_MS = SLACK * 5_000;

let plane: ControlPlane;
let admin: Connected;
let port: number;
let namespaces = 0;
const cleanUps: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  plane = await startControlPlane();
  port = Number(new URL(plane.url).port);
  admin = connect(plane);
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});
afterAll(async () => {
  await admin.transport.close();
  await plane.stop();
});

/** A namespace of its own for each test, with these config maps. */
async function namespaceWith(...names: string[]): Promise<string> {
  namespaces += 1;
  const namespace = `reflector-${namespaces}`;
  await admin.client.create(NAMESPACES, { metadata: { name: namespace } });
  await Promise.all(names.map((name) => admin.client.create(CONFIG_MAPS, configMap(namespace, name))));
  return namespace;
}

function connected(server?: string): Connected {
  const made = connect(plane, {}, server);
  cleanUps.push(() => made.transport.close());
  return made;
}

async function observed(
  transport: Transport,
  namespace: string,
  options: Parameters<typeof observe>[2] = {},
): Promise<Observed> {
  const made = observe(transport, namespace, options);
  cleanUps.push(() => made.stop());
  await made.informer.whenSynced();
  return made;
}

async function throughProxy(): Promise<Connected & { proxy: FreezableProxy }> {
  const proxy = await startFreezableProxy(port);
  cleanUps.push(() => proxy.close());
  return { ...connected(`https://127.0.0.1:${proxy.port}`), proxy };
}

it('lists by watch-list and follows every change, by one request', async () => {
  const namespace = await namespaceWith('a', 'b');
  const { transport, metrics } = connected();
  const { informer, told, lists } = await observed(transport, namespace);
  expect([...told].sort()).toEqual(['add a', 'add b']);

  await admin.client.apply(CONFIG_MAPS, configMap(namespace, 'a', 'new'), { fieldManager: 'me', force: true });
  await admin.client.delete(CONFIG_MAPS, { namespace, name: 'b' });
  await vi.waitFor(() => expect(told.slice(2)).toEqual(['update a', 'delete b']));

  expect(informer.lister.get(`${namespace}/a`)?.data).toEqual({ text: 'new' });
  expect(lists).toEqual(['watch-list']);
  expect(metrics.attempts).toEqual([{ verb: 'watch', resource: 'configmaps', code: '200' }]);
});

it('lists in pages of 500 where watch-lists are refused, and misses nothing after', async () => {
  const names = Array.from({ length: 1_200 }, (_, n) => `page-${n}`);
  const namespace = await namespaceWith(...names);
  const { transport, metrics } = connected();
  const refusing: Transport = {
    request: (request) => transport.request(request),
    whenReachable: (signal) => transport.whenReachable(signal),
    close: () => transport.close(),
    stream: (request) =>
      request.query?.sendInitialEvents === true
        ? Promise.reject(new ApiError({ status: 422, reason: 'Invalid', method: 'GET', path: request.path }))
        : transport.stream(request),
  };
  const { informer, told, lists } = await observed(refusing, namespace);
  await admin.client.create(CONFIG_MAPS, configMap(namespace, 'later'));
  await vi.waitFor(() => expect(told).toContain('add later'));

  expect(informer.lister.list()).toHaveLength(1_201);
  expect(lists).toEqual(['pages']);
  expect(metrics.attempts.map(({ verb }) => verb)).toEqual(['list', 'list', 'list', 'watch']);
});

it('asks for metadata only: the data never comes', async () => {
  const namespace = await namespaceWith();
  await admin.client.create(CONFIG_MAPS, configMap(namespace, 'big', 'x'.repeat(500_000)));
  const { transport } = connected();
  let bytes = 0;
  const counting: Transport = {
    request: (request) => transport.request(request),
    whenReachable: (signal) => transport.whenReachable(signal),
    close: () => transport.close(),
    async stream(request) {
      const stream = await transport.stream(request);
      return (async function* () {
        for await (const chunk of stream) {
          bytes += chunk.length;
          yield chunk;
        }
      })();
    },
  };
  const { informer } = await observed(counting, namespace, { metadataOnly: true });

  const kept = informer.lister.get(`${namespace}/big`);
  expect(Object.keys(kept ?? {}).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
  expect(kept).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'big' } });
  expect(bytes).toBeLessThan(10_000);
});

it('a subscriber that throws once is counted once, and gets that object again; the other subscribers get the events', async () => {
  const namespace = await namespaceWith('a');
  const { transport } = connected();
  const { registry, reflector } = createMetrics(createRegistry());
  const { informer, told } = await observed(transport, namespace, { metrics: reflector });
  /** The times of the events for the object `bad`. */
  const times: number[] = [];
  const taken: string[] = [];
  informer.subscribe(({ type, object }) => {
    const name = object.metadata?.name ?? '';
    if (name === 'bad' && times.push(performance.now()) === 1) throw new Error('not today');
    taken.push(`${type} ${name}`);
  });
  for (const name of ['bad', 'b', 'c']) await admin.client.create(CONFIG_MAPS, configMap(namespace, name));
  const all = ['add a', 'add b', 'add bad', 'add c'];
  await vi.waitFor(() => expect([...taken].sort()).toEqual(all), { timeout: 90_000 });

  measured(`a subscriber that throws is given the object again after ${seconds(times[1]! - times[0]!)}`);
  expect(times[1]! - times[0]!).toBeLessThan(CAUGHT_UP_MS);
  expect(told).toEqual(['add a', 'add bad', 'add b', 'add c']);
  const { values } = await registry.getSingleMetric('traffic_operator_reflector_listener_failures_total')!.get();
  expect(values.map(({ labels, value }) => [labels.resource, value])).toEqual([['configmaps', 1]]);
  const listed = await registry.getSingleMetric('traffic_operator_reflector_lists_total')!.get();
  expect(listed.values.map(({ value }) => value)).toEqual([1]);
});

it('a reconcile that throws once is counted once, and comes again; the other objects are reconciled', async () => {
  const namespace = await namespaceWith('a', 'bad', 'b');
  const { transport } = connected();
  const metrics = createMetrics(createRegistry());
  const done: string[] = [];
  let thrown = 0;
  const controller = new Controller({
    name: 'reflected',
    reconcile: (key) => {
      if (key.endsWith('/bad') && thrown++ === 0) throw new Error('not today');
      done.push(key.slice(namespace.length + 1));
      return Promise.resolve(undefined);
    },
    logger: createLogger('silent'),
    metrics: metrics.controller,
  });
  const end = new AbortController();
  const running = controller.run(end.signal);
  cleanUps.push(() => {
    end.abort();
    return running;
  });
  const { informer } = await observed(transport, namespace);
  informer.subscribe(({ object }) => controller.queue.add(keyOf(object)));
  await vi.waitFor(() => expect(done).toContain('bad'));

  expect([...done].sort()).toEqual(['a', 'b', 'bad']);
  const { values } = await metrics.registry.getSingleMetric('traffic_operator_errors_total')!.get();
  expect(values.map(({ labels, value }) => [labels.controller, value])).toEqual([['reflected', 1]]);
});

it('a compaction that it slept through leads to one list, without a deletion that did not happen', async () => {
  const namespace = await namespaceWith('stays', 'changes', 'goes');
  const { transport, proxy } = await throughProxy();
  const { told, lists, ends } = await observed(transport, namespace);
  proxy.freeze();
  told.length = 0;

  await admin.client.delete(CONFIG_MAPS, { namespace, name: 'goes' });
  await admin.client.apply(CONFIG_MAPS, configMap(namespace, 'changes', 'new'), { fieldManager: 'me', force: true });
  const last = await admin.client.create(CONFIG_MAPS, configMap(namespace, 'comes'));
  await compact(Number(last.metadata?.resourceVersion));
  // The API server's own cache would still know the old versions.
  await plane.stopApiServer();
  await plane.startApiServer();
  proxy.cut();
  proxy.thaw();
  await vi.waitFor(() => expect(told).toHaveLength(3));
  await sleep(3_000);

  expect([...told].sort()).toEqual(['add comes', 'delete goes', 'update changes']);
  expect(ends.filter((end) => end === 'gone')).toHaveLength(1);
  expect(lists).toEqual(['watch-list', 'watch-list']);
});

it('ten informers are caught up within 5 s of the start of a new API server after a SIGKILL, over three connections', async () => {
  const namespace = await namespaceWith('a');
  const { transport, metrics } = connected();
  const all = await Promise.all(Array.from({ length: 10 }, () => observed(transport, namespace)));
  const stopCounting = watchConnectionsTo(port);
  const gone = performance.now();
  await plane.stopApiServer();
  await sleep(10_000);
  await plane.startApiServer();
  const back = performance.now();
  await admin.client.create(CONFIG_MAPS, configMap(namespace, 'after'));

  const timeout = CAUGHT_UP_MS - (performance.now() - back);
  await vi.waitFor(() => all.forEach(({ told }) => expect(told).toContain('add after')), { interval: 20, timeout });
  measured(`ten informers are caught up ${seconds(performance.now() - back)} after the start of a new API server`);
  for (const { told } of all) expect(told).toEqual(['add a', 'add after']);
  expect(metrics.mostOpen).toBeLessThanOrEqual(3);
  // What the kernel saw of this process: also connections that TLS never came about on, and the test's own, which were
  // several once, as the server started slowly; but not one for each informer.
  expect(stopCounting()).toBeLessThan(10);
  // One prober for all: a probe every 3 s in 10 s and the seconds of the start, not ten.
  const probes = metrics.attempts.filter(({ resource }) => resource === '/version');
  expect(probes.length).toBeLessThanOrEqual(2 * ((performance.now() - gone) / 3_000));
});

/** Makes etcd forget everything before a revision; the etcd that the API server was started with. */
async function compact(revision: number): Promise<void> {
  const commandLine = readFileSync(`/proc/${plane.pids.apiServer}/cmdline`, 'utf8').split('\0');
  const etcd = commandLine.find((argument) => argument.startsWith('--etcd-servers='))?.slice('--etcd-servers='.length);
  const body = JSON.stringify({ revision: String(revision), physical: true });
  const answer = await fetch(`${etcd ?? ''}/v3/kv/compaction`, { method: 'POST', body });
  expect(answer.status).toBe(200);
}
