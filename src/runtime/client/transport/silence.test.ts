import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { startFreezableProxy } from '../../testing/freezableProxy.ts';
import type { FreezableProxy } from '../../testing/freezableProxy.ts';
import type { LocalServer } from '../../testing/localServer.ts';
import { createScene, drain } from '../../testing/scene.ts';
import type { Scene } from '../../testing/scene.ts';
import type { Transport, TransportOptions, TransportRequest } from '../transport.ts';

const NODES: TransportRequest = { method: 'GET', path: '/api/v1/nodes' };
const WATCH: TransportRequest = { ...NODES, query: { watch: true } };

let scene: Scene;
beforeAll(() => {
  scene = createScene();
});
afterEach(() => scene.close());

/** A server behind a proxy that can drop all bytes, like a stopped server or a lost route. */
interface Cast {
  server: LocalServer;
  proxy: FreezableProxy;
  transport: Transport;
}

async function cast(options: Partial<TransportOptions> = {}): Promise<Cast> {
  const server = await scene.serve((request, reply) => {
    if (request.query.has('watch')) reply.open().write('\n');
    else if (!request.path.endsWith('/slow')) reply.json(200, { ok: true });
  });
  const proxy = await startFreezableProxy(Number(new URL(server.url).port));
  scene.cleanUps.push(() => proxy.close());
  const transport = scene.transportTo({ url: `https://127.0.0.1:${proxy.port}` }, options);
  return { server, proxy, transport };
}

it('an attempt without a received byte replaces the connection, so that later calls succeed', async () => {
  const { proxy, transport } = await cast({ attemptTimeoutMs: 2_000 });
  await transport.request(NODES);
  proxy.freeze();
  const call = transport.request(NODES);
  await vi.waitFor(() => expect(proxy.connections).toBe(1));

  // Only new connections work from now on. The old one stays dead.
  proxy.thaw();

  expect(await call).toEqual({ ok: true });
  expect(proxy.connections).toBe(2);
});

it('a slow attempt on a live connection does not replace it', async () => {
  const { proxy, transport } = await cast({ attemptTimeoutMs: 2_000, callTimeoutMs: 2_100 });
  const slow = transport.request({ ...NODES, path: '/api/v1/nodes/slow' });
  const failed = expect(slow).rejects.toMatchObject({ failure: 'deadline' });
  await transport.request(NODES);

  await failed;
  await transport.request(NODES);

  expect(proxy.connections).toBe(1);
});

it('a watch on a silent connection fails, because PINGs get no response', async () => {
  const { proxy, transport } = await cast({ pingIntervalMs: 100 });
  const watch = drain(await transport.stream(WATCH));
  proxy.freeze();

  await expect(watch).rejects.toMatchObject({ name: 'TransportError', failure: 'connection' });
});

it('a watch without events stays open, because PINGs get a response', async () => {
  const { transport } = await cast({ pingIntervalMs: 50 });
  const ended = vi.fn();
  drain(await transport.stream(WATCH)).then(ended, ended);

  await new Promise((resolve) => setTimeout(resolve, 500));

  expect(ended).not.toHaveBeenCalled();
});

it('a server that was stopped briefly loses no watch', async () => {
  const { proxy, transport } = await cast({ pingIntervalMs: 200 });
  const ended = vi.fn();
  drain(await transport.stream(WATCH)).then(ended, ended);
  proxy.freeze();
  await new Promise((resolve) => setTimeout(resolve, 250));
  proxy.thaw({ old: true });
  await new Promise((resolve) => setTimeout(resolve, 700));

  expect(ended).not.toHaveBeenCalled();
  expect(proxy.connections).toBe(1);
});

it('all callers of whenReachable() resolve within 3 s of the recovery, with one probe at a time', async () => {
  const { server, proxy, transport } = await cast();
  await transport.request(NODES);
  server.requests.length = 0;
  proxy.freeze();
  const waiting = Array.from({ length: 20 }, () => transport.whenReachable());
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  proxy.thaw();
  const back = performance.now();

  await Promise.all(waiting);

  expect(performance.now() - back).toBeLessThan(3_500);
  expect(server.requests.map(({ path }) => path)).toEqual(['/version']);
});

it('a stuck connection attempt is aborted once the server responds on a newer connection', async () => {
  const { proxy, transport } = await cast();
  proxy.freeze();
  const end = transport.stream(WATCH).then(
    () => expect.fail('should have failed'),
    (error: unknown) => ({ error, at: performance.now() }),
  );
  const reachable = transport.whenReachable().then(() => performance.now());
  await vi.waitFor(() => expect(proxy.connections).toBe(2));
  proxy.thaw();

  const { error, at } = await end;

  expect(error).toMatchObject({ failure: 'connection', unsent: true });
  // Its own deadline would be 10 s.
  expect(at - (await reachable)).toBeLessThan(5_000);
  await transport.stream(WATCH);
});

it('whenReachable() resolves when its signal is aborted', async () => {
  const { proxy, transport } = await cast();
  proxy.freeze();
  const abort = new AbortController();
  const waiting = transport.whenReachable(abort.signal);

  abort.abort();

  await waiting;
});
