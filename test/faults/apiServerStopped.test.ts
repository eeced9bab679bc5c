import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NAMESPACES, NODES } from '../../src/runtime/client/resources.ts';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { connect } from '../harness/runtimeScene.ts';
import { measured, seconds, sleep, until } from '../harness/measured.ts';
import { metricsOf } from '../harness/metricsOf.ts';
import { SLACK } from '../harness/slack.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** An API server that stops answering, or is gone for a while, as the operator's process meets it. */
const WAIT = { timeout: 90_000, interval: 200 };
/** The promise: how long an attempt may take. */
const ATTEMPT_MS = 10_000;
/** Every watch is to tell of changes 5 s after the server's return, and how long it took is printed. A backoff may be 30 s. */
const LIVE_AGAIN_MS = Math.min(SLACK * 5_000, 15_000);
const KEY = unfitKey('web');
const SPEC = { maxBandwidthPercent: '10' };

let f: Fixture;
beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2', 'n3'] });
  f.exporter.setPercent('n2', 60);
  await f.client.create(NAMESPACES, { metadata: { name: 'traffic-operator-system' } });
  await f.startOperator(['--leader-elect', '--log-level=debug']);
  await f.createWatch('web', SPEC);
  await vi.waitFor(async () => {
    expect(await f.labels(KEY)).toEqual({ n1: 'false', n2: 'true', n3: 'false' });
    expect((await f.watch('web')).status).toMatchObject({ ready: true, unknownNodes: 0 });
  }, WAIT);
});
afterAll(async () => {
  await f.stop();
});

const objects = async (resource: string): Promise<number> =>
  (await metricsOf(f.operator())).sum('reflector_objects', { resource });

/** The state that must be the same after the outage: the process, and every node to the last write. */
async function untouched() {
  const labels = await f.labels(KEY);
  const versions = await f.nodeVersions();
  const started = await processStart();
  return { labels, versions: ['n1', 'n2', 'n3'].map((name) => versions[name]), started };
}

/** The start time of the process, which differs after a restart. */
async function processStart(): Promise<string | undefined> {
  const text = await (await fetch(f.operator().metricsUrl)).text();
  return /^process_start_time_seconds (.*)$/m.exec(text)?.[1];
}

/** The errors of the way to the API server that the operator logged after a moment of the wall clock. */
function failuresSince(from: number): { at: number }[] {
  return f
    .operator()
    .log()
    .split('\n')
    .filter((line) => line.includes('"type":"TransportError"') && line.endsWith('}'))
    .map((line) => ({ at: Date.parse((JSON.parse(line) as { time: string }).time) }))
    .filter(({ at }) => at >= from);
}

/**
 * Asks for a node over and over with a transport of its own, until told to stop: the seconds that the longest attempt
 * took, and by how many milliseconds a timer of this process was late at most.
 */
function attempting(): { stop(): Promise<{ longest: number; late: number }> } {
  const lateness = monitorEventLoopDelay();
  lateness.enable();
  const took: number[] = [];
  const attemptEnded = (_: unknown, duration: number): void => void took.push(duration);
  const quiet = { connectionOpened: () => undefined, connectionClosed: () => undefined };
  const { client, transport } = connect(f.controlPlane, { metrics: { ...quiet, attemptEnded } });
  const end = new AbortController();
  const asking = (async () => {
    while (!end.signal.aborted) {
      await Promise.all([client.get(NODES, { name: 'n1' }).catch(() => undefined), sleep(100)]);
    }
  })();
  return {
    stop: async () => {
      end.abort();
      await asking;
      await transport.close();
      lateness.disable();
      return { longest: Math.max(...took), late: lateness.max / 1e6 };
    },
  };
}

/** Changes an object of each kind and measures from `back` on how soon the operator's caches have it. */
async function caughtUp(round: string, back: number): Promise<void> {
  const name = `later-${round.split(' ')[0]!.toLowerCase()}`;
  const before = await Promise.all([objects('nodes'), objects('trafficwatches.traffic.example.com')]);
  // The TrafficWatch wants a label key that is taken: it leads to no write to a node.
  f.exporter.setPercent(name, 1);
  await Promise.all([f.addNode(name), f.createWatch(name, { ...SPEC, label: 'web' })]);
  const seen = await until(
    'the caches have both',
    async () =>
      (await objects('nodes')) > before[0] && (await objects('trafficwatches.traffic.example.com')) > before[1],
    { since: back },
  );
  measured(`watches live again ${seconds(seen)} after ${round}`);
  expect(seen).toBeLessThan(LIVE_AGAIN_MS);
  const written = await until('the new node is labelled', async () => (await f.labels(KEY))[name] === 'false', {
    since: back,
  });
  measured(`a node made after ${round} is labelled ${seconds(written)} after it`);
  await f.client.delete(TRAFFIC_WATCHES, { namespace: 'default', name });
  await f.client.delete(NODES, { name });
  // The TrafficWatch may wait for its finalizer: it must not go while the next round counts.
  await until(
    'both are forgotten',
    async () =>
      (await objects('nodes')) === before[0] && (await objects('trafficwatches.traffic.example.com')) === before[1],
  );
}

describe('an API server that', () => {
  it('is stopped for 75 s: attempts end in time, watches come back, nothing flips', async () => {
    const before = await untouched();
    const attempts = attempting();
    await sleep(1_000);
    const stopped = Date.now();
    process.kill(f.controlPlane.pids.apiServer, 'SIGSTOP');
    await sleep(75_000);
    expect((await fetch(`${f.operator().healthUrl}/healthz`)).status).toBe(200);
    process.kill(f.controlPlane.pids.apiServer, 'SIGCONT');
    const back = performance.now();
    await caughtUp('SIGCONT', back);
    const { longest: longestSeconds, late } = await attempts.stop();
    const longest = longestSeconds * 1000;

    const [first, ...more] = failuresSince(stopped);
    measured(`${more.length + 1} failures logged during SIGSTOP, the first after ${seconds(first!.at - stopped)}`);
    measured(`the longest attempt during SIGSTOP took ${seconds(longest)}`);
    expect(first!.at - stopped).toBeLessThan(ATTEMPT_MS);
    // Some attempt must have met the silence; the timer of one may be late by a little.
    expect(longest).toBeGreaterThan(ATTEMPT_MS - 1_000);
    expect(longest).toBeLessThan(ATTEMPT_MS + 1_000 + late);
    expect(await untouched()).toMatchObject(before);
  });

  // What failed while one start was waited for must not delay the next.
  it.each([
    ['once', 20_000],
    ['twice', 5_000],
    ['thrice', 5_000],
  ])('is killed and started again, %s: the same', async (round, away) => {
    const before = await untouched();
    await f.controlPlane.stopApiServer();
    await sleep(away);
    await f.controlPlane.startApiServer();
    await caughtUp(`${round} SIGKILL and restart`, performance.now());
    expect(await untouched()).toMatchObject(before);
  });
});
