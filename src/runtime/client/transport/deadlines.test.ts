import { afterEach, beforeAll, expect, it } from 'vitest';
import { FakeClock } from '../../process/clock.ts';
import { createScene } from '../../testing/scene.ts';
import type { Scene } from '../../testing/scene.ts';
import type { Transport, TransportRequest } from '../transport.ts';

/** The deadlines as they are in production: nothing is overridden, and only the clock is the test's. */
const NODES: TransportRequest = { method: 'GET', path: '/api/v1/nodes' };
const CREATE: TransportRequest = { method: 'POST', path: '/api/v1/namespaces/a/pods', body: { kind: 'Pod' } };

let scene: Scene;
beforeAll(() => {
  scene = createScene();
});
afterEach(() => scene.close());

/** When something fails that a server never answers, ms, and how; gives up after ten minutes. */
async function endOf(start: (transport: Transport) => Promise<unknown>): Promise<{ at: number; error: unknown }> {
  const server = await scene.serve(() => undefined);
  const clock = new FakeClock();
  let end: { at: number; error: unknown } | undefined;
  start(scene.transportTo(server, { clock })).then(
    () => expect.fail('should have failed'),
    (error: unknown) => void (end = { at: clock.monotonic(), error }),
  );
  for (let steps = 0; end === undefined && steps < 6_000; steps += 1) await clock.advance(100);
  return end ?? expect.fail('never ended');
}

it.each<{ what: string; seconds: number; start: (transport: Transport) => Promise<unknown> }>([
  {
    what: 'a call for the lease, of which two fit into the 10 s that a leader has to renew it',
    seconds: 5,
    start: (transport) => transport.request({ ...NODES, lane: 'lease' }),
  },
  {
    what: 'a call that may not be repeated: its one attempt',
    seconds: 10,
    start: (transport) => transport.request(CREATE),
  },
  {
    what: "a watch's headers",
    seconds: 10,
    start: (transport) => transport.stream({ ...NODES, query: { watch: true } }),
  },
  { what: 'a call with its repetitions', seconds: 30, start: (transport) => transport.request(NODES) },
])('$seconds s are given to $what', async ({ seconds, start }) => {
  const { at, error } = await endOf(start);

  expect(error).toMatchObject({ name: 'TransportError', failure: 'deadline' });
  // A step of the clock, a last pause that would have gone beyond the end, and the time that an attempt needs.
  expect(at).toBeLessThanOrEqual(seconds * 1_000 + 100);
  expect(at).toBeGreaterThan(seconds * 1_000 - (seconds === 30 ? 5_000 : 100));
});

it('30 s are given to the wait for one of the 16 places, too', async () => {
  const { at, error } = await endOf((transport) => {
    const called = Array.from({ length: 200 }, () => transport.request(NODES));
    for (const call of called) call.catch(() => undefined);
    return called.at(-1)!;
  });

  expect(error).toMatchObject({ failure: 'deadline', unsent: true });
  expect(at).toBeLessThanOrEqual(30_100);
  expect(at).toBeGreaterThan(29_900);
});
