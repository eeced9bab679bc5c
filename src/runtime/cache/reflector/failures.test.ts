import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { errorLine } from '../../testing/collection.ts';
import { castWatching, refusing, until } from '../../testing/reflectorScene.ts';
import type { ReflectorCast } from '../../testing/reflectorScene.ts';
import { createScene } from '../../testing/scene.ts';
import type { Scene } from '../../testing/scene.ts';

let scene: Scene;
beforeAll(() => {
  scene = createScene();
});
afterEach(() => scene.close());

type Answer = ReturnType<typeof refusing>;

const watching = (): Promise<ReflectorCast> => castWatching(scene);

/**
 * Total sleep in milliseconds before each end of a watch, and since the last end. The elapsed time of the clock is not
 * usable: `until` also advances it while requests are in progress, by any number of steps.
 */
function sleptBetweenEnds({ clock, metrics }: ReflectorCast): number[] {
  const slept = [0];
  const sleep = clock.sleep.bind(clock);
  vi.spyOn(clock, 'sleep').mockImplementation(async (ms, signal) => {
    const from = clock.monotonic();
    await sleep(ms, signal);
    slept.push(slept.pop()! + clock.monotonic() - from);
  });
  metrics.watchEnded.mockImplementation(() => void slept.push(0));
  return slept;
}

/** True if a sleep that sleptBetweenEnds counts has not ended. */
function isPausing({ clock }: ReflectorCast): boolean {
  return vi.spyOn(clock, 'sleep').mock.settledResults.some(({ type }) => type === 'incomplete');
}

describe('an error response', () => {
  it('causes exponential backoff up to 30 s, which is reset only after a healthy period', async () => {
    const cast = await watching();
    const endings = (): number => cast.metrics.watchEnded.mock.calls.length;
    const slept = sleptBetweenEnds(cast);
    cast.nodes.behaviour.next = Array.from({ length: 9 }, () => refusing(500));
    cast.nodes.endAll();
    await until(cast, () => expect(endings()).toBe(10), 250);

    const nominal = [1, 2, 4, 8, 16, 30, 30, 30];
    nominal.forEach((seconds, n) => {
      expect(slept[n + 2]).toBeGreaterThanOrEqual(seconds * 500 - 1);
      expect(slept[n + 2]).toBeLessThanOrEqual(seconds * 1_000 + 1);
    });

    await until(cast, () => expect(cast.nodes.openWatches).toBe(1));
    cast.nodes.behaviour.next = [refusing(500)];
    cast.nodes.endAll();
    await until(cast, () => expect(endings()).toBe(12), 250);
    await until(cast, () => expect(cast.nodes.openWatches).toBe(1), 250);
    expect(slept[12]).toBeGreaterThanOrEqual(15_000);

    await cast.clock.advance(60_000);
    cast.nodes.behaviour.next = [refusing(500)];
    cast.nodes.endAll();
    await until(cast, () => expect(endings()).toBe(14), 250);
    await until(cast, () => expect(cast.nodes.openWatches).toBe(1), 250);
    expect(slept[14]).toBeLessThanOrEqual(1_001);
  });

  it('is followed by a pause of at least Retry-After', async () => {
    const cast = await watching();
    cast.nodes.behaviour.next = [refusing(429, { 'retry-after': '20' })];
    cast.nodes.endAll();
    await until(cast, () => expect(cast.metrics.watchEnded).toHaveBeenCalledTimes(2), 100);
    const refused = cast.clock.monotonic();
    await until(cast, () => expect(cast.nodes.openWatches).toBe(1), 500);

    expect(cast.clock.monotonic() - refused).toBeGreaterThanOrEqual(19_500);
  });

  it('503 of a starting server is not followed by its Retry-After, which is always 5 s', async () => {
    const cast = await watching();
    const slept = sleptBetweenEnds(cast);
    cast.nodes.behaviour.next = [refusing(503, { 'retry-after': '5' })];
    cast.nodes.endAll();
    await until(cast, () => expect(cast.metrics.watchEnded).toHaveBeenCalledTimes(2), 100);
    await until(cast, () => expect(cast.nodes.openWatches).toBe(1), 100);

    expect(slept[2]).toBeLessThan(2_000);
  });

  it('to resuming from a version causes a list the third time, because the version may be the cause', async () => {
    const cast = await watching();
    cast.nodes.behaviour.next = [refusing(504), refusing(504), refusing(504)];
    cast.nodes.endAll();
    await until(cast, () => expect(cast.nodes.openWatches).toBe(1));

    expect(cast.asked()).toEqual(['watch-list', 'watch from 12', 'watch from 12', 'watch from 12', 'watch-list']);
    expect(cast.told).toEqual(['add a', 'add b']);
  });

  it.each([
    [400, 'watch-list', 'the server rejects the version'],
    [403, 'watch from 12', 'a missing permission does not concern the version'],
    [429, 'watch from 12', 'a busy server does not concern the version'],
  ])('%i to resuming from a version is followed by a %s: %s', async (status, next) => {
    const cast = await watching();
    cast.nodes.behaviour.next = [refusing(status)];
    cast.nodes.endAll();
    await until(cast, () => expect(cast.nodes.openWatches).toBe(1));

    expect(cast.asked()).toEqual(['watch-list', 'watch from 12', next]);
  });

  it('during a watch is followed by a watch from the last version', async () => {
    const cast = await watching();
    cast.nodes.endAll(errorLine(500, 'InternalError'));
    cast.nodes.set('c');
    await until(cast, () => expect(cast.told).toContain('add c'));

    expect(cast.asked()).toEqual(['watch-list', 'watch from 12']);
  });
});

describe('a line that cannot be parsed', () => {
  it.each([
    ['is not JSON', '{"type":"ADDED","object":{"metadata"\n'],
    ['is not an event', '{"kind":"Status"}\n'],
    ['has an unknown type', '{"type":"RENAMED","object":{"metadata":{"name":"x","resourceVersion":"99"}}}\n'],
    ['is null', 'null\n'],
    ['has an object without a name', '{"type":"ADDED","object":{"metadata":{"resourceVersion":"99"}}}\n'],
  ])('that %s is counted, and its change is requested again', async (_, line) => {
    const cast = await watching();
    cast.nodes.writeToAll(line);
    await vi.waitFor(() => expect(cast.metrics.badLine).toHaveBeenCalledTimes(1));
    cast.nodes.set('c');
    await until(cast, () => expect(cast.told).toContain('add c'));

    expect(cast.asked()).toEqual(['watch-list', 'watch from 12']);
  });

  it('that is truncated at the end of a watch is counted, and its change is requested again', async () => {
    const cast = await watching();
    cast.nodes.endAll('{"type":"ADDED","obj');
    cast.nodes.set('c');
    await until(cast, () => expect(cast.told).toContain('add c'));

    expect(cast.metrics.badLine).toHaveBeenCalledTimes(1);
  });

  it('that is truncated by a lost connection is counted', async () => {
    const cast = await watching();
    const whole = { type: 'ADDED', object: { metadata: { name: 'whole', resourceVersion: '13' } } };
    cast.nodes.writeToAll(`${JSON.stringify(whole)}\n{"type":"ADDED","obj`);
    await vi.waitFor(() => expect(cast.told).toContain('add whole'));
    cast.server.cut();
    await vi.waitFor(() => expect(cast.metrics.badLine).toHaveBeenCalledTimes(1));
  });
});

it('a server that cannot be reached gets only probes, and one watch once it responds', async () => {
  const cast = await watching();
  await cast.server.close();
  await until(cast, () => expect(cast.metrics.watchEnded).toHaveBeenCalled());
  for (let second = 0; second < 60; second += 1) await cast.clock.advance(1_000);
  expect(cast.metrics.watchEnded.mock.calls).toEqual([['nodes', 'unreachable']]);

  cast.nodes.set('c');
  const again = await scene.serve(cast.nodes.handler, { port: Number(new URL(cast.server.url).port) });
  await until(cast, () => expect(cast.told).toContain('add c'));

  expect(again.requests.map(({ path, query }) => `${path} ${query.get('resourceVersion') ?? ''}`)).toEqual([
    '/version ',
    '/api/v1/nodes 12',
  ]);
});

describe('a server that is back after an outage', () => {
  /** The server returns `before`, is down for a minute, and returns `answers` before it serves normally. */
  async function backAfterOutage(before: Answer[], answers: Answer[]): Promise<number[]> {
    const cast = await castWatching(scene, { wholeClock: true });
    const slept = sleptBetweenEnds(cast);
    const endings = (): number => cast.metrics.watchEnded.mock.calls.length;
    cast.nodes.behaviour.next = [...before];
    if (before.length > 0) cast.nodes.endAll();
    await until(cast, () => expect(cast.nodes.behaviour.next).toEqual([]), 250);
    await until(cast, () => expect(cast.nodes.openWatches).toBe(1), 250);
    const from = endings();
    await cast.server.close();
    await until(cast, () => expect(endings()).toBe(from + 1), 250);
    cast.nodes.endAll();
    for (let second = 0; second < 60; second += 1) await cast.clock.advance(1_000);
    cast.nodes.behaviour.next = [...answers];
    await scene.serve(cast.nodes.handler, { port: Number(new URL(cast.server.url).port) });
    await until(
      cast,
      () => expect(cast.nodes.openWatches).toBe(1),
      () => (isPausing(cast) ? 500 : 10),
    );
    expect(endings()).toBe(from + 1 + answers.length);
    return slept.slice(from + 2);
  }

  it('gets a request at least every 2 s while it starts, and with growing pauses after 30 s', async () => {
    const slept = await backAfterOutage([], Array<Answer>(32).fill(refusing(503)));
    // With normal backoff the third pause would be longer. The number of short pauses depends on the request times.
    const nowLonger = slept.findIndex((pause) => pause > 2_001);
    expect(nowLonger).toBeGreaterThan(4);
    expect(slept[nowLonger]).toBeLessThanOrEqual(4_001);
    expect(Math.max(...slept)).toBeGreaterThanOrEqual(15_000);
  });

  it('gets its first request without the backoff of earlier failures', async () => {
    const slept = await backAfterOutage(Array<Answer>(5).fill(refusing(500)), [refusing(503)]);
    expect(slept[0]).toBeLessThanOrEqual(1_001);
  });

  it('gets a list request within a second when the version is gone, regardless of earlier responses', async () => {
    const slept = await backAfterOutage([refusing(410)], [refusing(503), refusing(503), refusing(410)]);
    expect(slept[2]).toBeLessThanOrEqual(1_001);
  });
});

it('ends at once when its signal is aborted: in a pause, in a watch, or without a response', async () => {
  const open = await watching();
  await open.stop();
  const pausing = await watching();
  pausing.nodes.behaviour.next = [refusing(500), refusing(500)];
  pausing.nodes.endAll();
  await vi.waitFor(() => expect(pausing.metrics.watchEnded).toHaveBeenCalled());
  await pausing.stop();
  const unreachable = await watching();
  await unreachable.server.close();
  await vi.waitFor(() => expect(unreachable.metrics.watchEnded).toHaveBeenCalled());
  await unreachable.stop();
});
