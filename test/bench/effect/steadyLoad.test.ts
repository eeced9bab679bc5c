import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Target } from './request.ts';
import { SteadyLoad } from './steadyLoad.ts';

/** A load on real servers on this machine. A busy machine delays requests, so that latencies have no upper limit here. */
const OPTIONS = { requestsPerSecond: 200, bytes: 4, timeoutMs: 60_000 };
const BLOCKED_MS = 500;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(listener: RequestListener): Promise<Target> {
  // On a busy machine a connection may be idle for the 5 s after which Node.js closes it, while the load uses it again.
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close().closeAllConnections());
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

async function start(targets: readonly Target[], options = OPTIONS): Promise<SteadyLoad> {
  const load = await SteadyLoad.start(options, targets);
  closers.push(() => load.stop());
  return load;
}

const answer: RequestListener = (_request, response) => response.end('done');

describe('SteadyLoad', () => {
  it('sends at its rate, to one replica after the other', async () => {
    const counts = [0, 0, 0];
    const targets = await Promise.all(
      counts.map((_, n) =>
        serve((request, response) => {
          counts[n]! += 1;
          answer(request, response);
        }),
      ),
    );
    const load = await start(targets);
    const finished = await load.window(600);
    expect(finished.length).toBeGreaterThanOrEqual(119);
    expect(finished.length).toBeLessThanOrEqual(121);
    expect(finished.every(({ latencyMs }) => latencyMs !== undefined && latencyMs > 0)).toBe(true);
    expect(load.failed).toBe(0);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(39);
  });

  it('counts a stall for every request that is due in it, although none is sent', async () => {
    const load = await start([await serve(answer)]);
    const window = load.window(BLOCKED_MS + 100);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const until = performance.now() + BLOCKED_MS;
    while (performance.now() < until);
    const finished = await window;
    expect(finished.length).toBeGreaterThanOrEqual(119);
    // 100 requests were due in the stall; requests of its first half waited for more than half of it.
    const delayed = finished.filter(({ latencyMs }) => latencyMs! > BLOCKED_MS / 2);
    expect(delayed.length).toBeGreaterThanOrEqual(49);
  });

  it('goes on while a replica does not answer, and counts what it lost', async () => {
    const silent = await serve(() => undefined);
    const load = await start([await serve(answer), silent], { ...OPTIONS, timeoutMs: 3_000 });
    const finished = await load.window(200);
    const failed = finished.filter(({ latencyMs }) => latencyMs === undefined);
    expect(finished.length - failed.length).toBeGreaterThanOrEqual(19);
    expect(failed.length).toBeGreaterThanOrEqual(19);
    expect(load.failed).toBeGreaterThanOrEqual(failed.length);
  });

  it.each<[string, RequestListener]>([
    ['is an error', (_request, response) => response.writeHead(500).end('done')],
    ['has too few bytes', (_request, response) => response.end('do')],
    ['ends too early', (_request, response) => response.writeHead(200, { 'content-length': 4 }).end('do').destroy()],
    ['is none', (request) => request.socket.destroy()],
  ])('takes a response that %s for a failure', async (_what, listener) => {
    const load = await start([await serve(listener)]);
    const finished = await load.window(100);
    expect(finished.length).toBeGreaterThan(0);
    expect(finished.filter(({ latencyMs }) => latencyMs !== undefined)).toEqual([]);
  });

  it('fails every request while there is no replica', async () => {
    const load = await start([]);
    const finished = await load.window(100);
    expect(finished.every(({ latencyMs }) => latencyMs === undefined)).toBe(true);
    load.aimAt([await serve(answer)]);
    expect((await load.window(100)).every(({ latencyMs }) => latencyMs !== undefined)).toBe(true);
  });
});
