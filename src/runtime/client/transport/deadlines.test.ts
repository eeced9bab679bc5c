import { afterEach, beforeAll, expect, it } from 'vitest';
import { FakeClock } from '../../process/clock.ts';
import { createScene } from '../../testing/scene.ts';
import type { Scene } from '../../testing/scene.ts';
import type { Transport, TransportRequest } from '../transport.ts';

/** The deadlines of production: only the clock is fake. */
const NODES: TransportRequest = { method: 'GET', path: '/api/v1/nodes' };
const CREATE: TransportRequest = { method: 'POST', path: '/api/v1/namespaces/a/pods', body: { kind: 'Pod' } };

let scene: Scene;
beforeAll(() => {
  scene = createScene();
});
afterEach(() => scene.close());

/** Time until a call without a response fails, in milliseconds, and its error. Gives up after ten minutes. */
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
    what: 'a call for the lease: two fit into the 10 s in which a leader must renew it',
    seconds: 5,
    start: (transport) => transport.request({ ...NODES, lane: 'lease' }),
  },
  {
    what: 'the only attempt of a call that must not be retried',
    seconds: 10,
    start: (transport) => transport.request(CREATE),
  },
  {
    what: "a watch's headers",
    seconds: 10,
    start: (transport) => transport.stream({ ...NODES, query: { watch: true } }),
  },
  { what: 'a call with its retries', seconds: 30, start: (transport) => transport.request(NODES) },
])('$seconds s is the deadline of $what', async ({ seconds, start }) => {
  const { at, error } = await endOf(start);

  expect(error).toMatchObject({ name: 'TransportError', failure: 'deadline' });
  // Tolerance: a step of the clock, a last pause that would exceed the deadline, and the time of an attempt.
  expect(at).toBeLessThanOrEqual(seconds * 1_000 + 100);
  expect(at).toBeGreaterThan(seconds * 1_000 - (seconds === 30 ? 5_000 : 100));
});

it('30 s is also the deadline of the wait for one of the 16 slots', async () => {
  const { at, error } = await endOf((transport) => {
    const called = Array.from({ length: 200 }, () => transport.request(NODES));
    for (const call of called) call.catch(() => undefined);
    return called.at(-1)!;
  });

  expect(error).toMatchObject({ failure: 'deadline', unsent: true });
  expect(at).toBeLessThanOrEqual(30_100);
  expect(at).toBeGreaterThan(29_900);
});
