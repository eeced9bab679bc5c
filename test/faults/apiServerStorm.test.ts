import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONNECTIVITY_CHECKS } from '../../src/api/connectivitycheck/connectivityCheck.ts';
import { TRAFFIC_STACKS } from '../../src/api/trafficstack/trafficStack.ts';
import { LEASES, NAMESPACES } from '../../src/runtime/client/resources.ts';
import { connectivityCheckCrd, installCrd, trafficStackCrd } from '../harness/customResource.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import type { Operator } from '../harness/operator.ts';
import { measured, seconds, sleep, until } from '../harness/measured.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { startApiProxy, type ApiProxy } from '../harness/proxy.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/**
 * A proxy before the API server that answers 500 to everything, resets connections, or ends each watch after an event;
 * each meets an operator of its own, side by side. All but the first stand by, so that they only watch.
 */
const KEY = unfitKey('web');
const LONGEST_PAUSE_MS = 30_000;
/** A process of a busy machine may stand still for so long, and its next try is late by that. */
const STANDS_STILL_MS = 10_000;
const STANDBY = 'traffic-operator-standby';

interface Scene {
  readonly proxy: ApiProxy;
  readonly operator: Operator;
}

let f: Fixture;
let storm: Scene;
let resets: Scene;
let closes: Scene;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2', 'n3'] });
  // As an installation has it: whoever looks for a CRD that is missing begins the storm with the longest pause.
  await installCrd(f.client, connectivityCheckCrd(), CONNECTIVITY_CHECKS);
  await installCrd(f.client, trafficStackCrd(), TRAFFIC_STACKS);
  f.exporter.setPercent('n2', 60);
  await f.client.create(NAMESPACES, { metadata: { name: STANDBY } });
  const spec = { holderIdentity: 'somebody', leaseDurationSeconds: 3_600 };
  await f.client.create(LEASES, { metadata: { namespace: STANDBY, name: 'traffic-operator' }, spec });
  storm = await startScene();
  resets = await startScene('--leader-elect', `--namespace=${STANDBY}`);
  closes = await startScene('--leader-elect', `--namespace=${STANDBY}`);
  await f.createWatch('web', { maxBandwidthPercent: '10' });
  await until('nodes are labelled', async () => (await f.labels(KEY)).n2 === 'true');
  // The next pass starts it: in a storm it would begin in the middle, and have fewer tries.
  await until('pods that wait for a node are watched', () =>
    storm.proxy.requests.some(({ isWatch, target }) => isWatch && target.includes('status.phase=Pending')),
  );
});
afterAll(async () => {
  for (const { operator } of [storm, resets, closes]) await operator.kill();
  await f.stop();
  for (const { proxy } of [storm, resets, closes]) await proxy.stop();
});

async function startScene(...args: string[]): Promise<Scene> {
  const proxy = await startApiProxy(f.controlPlane);
  return { proxy, operator: await f.startOperator(args, { kubeconfig: proxy.kubeconfig }) };
}

/** The times from one try to watch, or to list before one, to the next, by informer, ms. */
function pauses({ proxy }: Scene, from: number): Map<string, number[]> {
  const tries = new Map<string, number[]>();
  for (const { at, path, target, isWatch, method } of proxy.requests) {
    const isList = method === 'GET' && /\/(nodes|deployments|trafficwatches|leases)$/.test(path);
    if (at >= from && (isWatch || isList)) tries.set(target, [...(tries.get(target) ?? []), at]);
  }
  return new Map([...tries].map(([target, times]) => [target, times.slice(1).map((at, n) => at - times[n]!)]));
}

/** The promise is one a second: six in five seconds, since a window may begin with one. */
const WINDOW_MS = 5_000;
const MOST_IN_A_WINDOW = 6;

/** The most tries of one informer within five seconds, wherever these begin. */
function mostInAWindow(all: Map<string, number[]>): number {
  const ofOne = (times: readonly number[]): number => {
    const at = times.reduce<number[]>((moments, pause) => [...moments, moments.at(-1)! + pause], [0]);
    return Math.max(...at.map((begin) => at.filter((each) => each >= begin && each < begin + WINDOW_MS).length));
  };
  return Math.max(...[...all.values()].map(ofOne));
}

/** A pause of 4 s at most, and a pass of a machine that is busy. */
const SEEN_AGAIN_MS = 10_000 + STANDS_STILL_MS;
const shortest = (all: Map<string, number[]>): number => Math.min(...[...all.values()].flat());
const startOf = async ({ operator }: Scene): Promise<number> => {
  const text = await (await fetch(operator.metricsUrl)).text();
  return Number(/^process_start_time_seconds (.*)$/m.exec(text)?.[1]);
};

/** Adds a node and waits until the operator's cache has it. */
async function sees(scene: Scene, node: string): Promise<number> {
  const nodes = async (): Promise<number> =>
    (await metricsOf(scene.operator)).sum('reflector_objects', { resource: 'nodes' });
  const before = await nodes();
  await f.addNode(node);
  return until(`the cache has ${node}`, async () => (await nodes()) > before);
}

describe.concurrent('a proxy that', () => {
  it('answers 500 to everything is asked more and more seldom, up to every 30 s', async () => {
    const begin = await startOf(storm);
    const versions = await f.nodeVersions();
    const lateness = monitorEventLoopDelay();
    lateness.enable();
    const from = performance.now();
    storm.proxy.fault = () => ({ kind: 'answer', status: 500 });
    for (const request of storm.proxy.requests.filter((r) => r.isWatch && r.endedAt === undefined)) request.end();
    await sleep(100_000);
    const all = pauses(storm, from);
    for (const [path, times] of all)
      measured(`500 to every request: ${path} tried after ${times.map(seconds).join(', ')}`);
    const asked = storm.proxy.requests.filter(({ at }) => at >= from).length;
    measured(`${asked} requests in ${seconds(performance.now() - from)} of 500`);
    storm.proxy.fault = undefined;
    const last = Math.max(...[...all.values()].flat());
    expect(all.size).toBeGreaterThanOrEqual(3);
    for (const times of all.values()) {
      expect(times.length).toBeGreaterThan(3);
      expect(times.length).toBeLessThan(12);
      expect(Math.max(...times)).toBeGreaterThan(LONGEST_PAUSE_MS / 2 - 500);
      expect(Math.max(...times)).toBeLessThan(LONGEST_PAUSE_MS + 2_000 + STANDS_STILL_MS);
    }
    lateness.disable();
    // A request that this process came to late is noted closer to the next one.
    expect(shortest(all)).toBeGreaterThan(490 - lateness.max / 1e6);
    expect(last).toBeGreaterThan(0);
    expect(await startOf(storm)).toBe(begin);
    const now = await f.nodeVersions();
    expect([now.n1, now.n2]).toEqual([versions.n1, versions.n2]);
    measured(`a node made after the storm is in the cache after ${seconds(await sees(storm, 'after-storm'))}`);
  });

  it('resets the connection of every watch is dialled at most once a second a watch', async () => {
    const from = performance.now();
    resets.proxy.fault = ({ isWatch }) => (isWatch ? { kind: 'reset' } : undefined);
    for (const request of resets.proxy.requests.filter((r) => r.isWatch && r.endedAt === undefined)) request.end();
    const most = (): number => Math.max(...[...pauses(resets, from).values()].map((times) => times.length));
    await sleep(40_000);
    // All watches share a connection: the first to arrive has it reset, and the others do not get as far as the proxy.
    await until('a watch is tried often', () => most() > 5);
    const all = pauses(resets, from);
    for (const [path, times] of all)
      measured(
        `reset at every watch: ${path} tried ${times.length + 1} times, ${seconds(Math.min(...times))} apart at least`,
      );
    expect(all.size).toBeGreaterThanOrEqual(3);
    measured(`reset at every watch: ${mostInAWindow(all)} tries of one in 5 s at most`);
    expect(mostInAWindow(all)).toBeLessThanOrEqual(MOST_IN_A_WINDOW);
    resets.proxy.fault = undefined;
    const seen = await sees(resets, 'after-resets');
    measured(`a node made after the resets is in the cache after ${seconds(seen)}`);
    expect(seen).toBeLessThan(SEEN_AGAIN_MS);
  });

  it('ends a watch after each event is asked for a new one at most once a second', async () => {
    const from = performance.now();
    closes.proxy.fault = ({ isWatch }) =>
      isWatch ? { kind: 'rewrite', line: (text) => ({ text: `${text}\n`, end: true }) } : undefined;
    for (const request of closes.proxy.requests.filter((r) => r.isWatch && r.endedAt === undefined)) request.end();
    const begun = (): number => pauses(closes, from).get('/api/v1/nodes')?.length ?? 0;
    // Once a second, but by an operator that may be held up meanwhile.
    for (let change = 0; change < 30 || begun() <= 10; change += 1) {
      await f.annotateNode('n3', { 'example.com/changed': String(change) });
      await sleep(700);
    }
    const all = pauses(closes, from);
    const times = all.get('/api/v1/nodes') ?? [];
    measured(
      `watch of nodes ended after each event: begun ${times.length + 1} times, ${seconds(Math.min(...times))} apart at least`,
    );
    expect(times.length).toBeGreaterThan(10);
    measured(`watches that end after each event: ${mostInAWindow(all)} of one in 5 s at most`);
    expect(mostInAWindow(all)).toBeLessThanOrEqual(MOST_IN_A_WINDOW);
    // One event a watch, a watch a second: those that wait come first.
    expect(await sees(closes, 'while-closing')).toBeLessThan(3 * SEEN_AGAIN_MS);
  });
});
