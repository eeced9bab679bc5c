import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import { createHealthServer, EventLoopWatch, type HealthCheck } from './health.ts';
import type { HttpListener } from './httpListener.ts';
import { FreezableClock } from '../testing/freezableClock.ts';
import { exchange } from '../testing/rawHttp.ts';

describe('the health server', () => {
  const well: HealthCheck = { name: 'well', problem: () => undefined };
  const ill: HealthCheck = { name: 'cache of nodes', problem: () => 'not synced' };
  let live: HealthCheck[];
  let ready: HealthCheck[];
  let server: HttpListener;
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(async () => {
    [live, ready] = [[well], [well]];
    server = createHealthServer(
      {
        address: { host: '127.0.0.1', port: 0 },
        metrics: { failed: () => undefined },
        logger: pino({ level: 'silent' }),
      },
      { live: () => live, ready: () => ready },
    );
    stop = new AbortController();
    running = server.run(stop.signal);
    await server.listen();
  });

  afterEach(async () => {
    stop.abort();
    await running;
  });

  const get = async (path: string, method = 'GET'): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    return [response.status, await response.text()];
  };

  it('returns ok if all checks pass', async () => {
    expect(await get('/healthz')).toEqual([200, 'ok\n']);
    expect(await get('/readyz')).toEqual([200, 'ok\n']);
  });

  it('names the failing checks of the requested path', async () => {
    ready = [well, ill];
    expect(await get('/readyz')).toEqual([503, '[-]cache of nodes failed: not synced\nreadyz check failed\n']);
    expect(await get('/healthz')).toEqual([200, 'ok\n']);
    live = [ill];
    expect((await get('/healthz'))[0]).toBe(503);
  });

  it('lists the passing checks with ?verbose', async () => {
    ready = [well, ill];
    expect((await get('/readyz?verbose'))[1]).toContain('[+]well ok\n[-]cache of nodes failed');
  });

  it('rejects other paths and methods', async () => {
    expect((await get('/metrics'))[0]).toBe(404);
    expect((await get('/healthz', 'POST'))[0]).toBe(405);
  });

  it.each([
    ['//', 404],
    ['/\\\\', 404],
    ['//[', 404],
    ['http://', 400],
    ['http://host/healthz', 200],
    ['*', 400],
    ['', 400],
  ])('answers a request for "%s"', async (target, status) => {
    const answer = await exchange(server.port, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(await get('/healthz')).toEqual([200, 'ok\n']);
  });

  it('stops even if a client keeps its connection open', async () => {
    await get('/healthz');
    stop.abort();
    await running;
    await expect(get('/healthz')).rejects.toThrow();
  });
});

describe('EventLoopWatch', () => {
  it('reports no problem while the event loop runs', async () => {
    const { clock, watch } = start();
    await clock.advance(600_000);
    expect(watch.problem()).toBeUndefined();
  });

  it('reports a block of more than 60 s, even before its own timers fire', () => {
    const { watch, blocked } = start();
    blocked(60_001);
    expect(watch.problem()).toBe('the event loop stood still for 60 s');
  });

  it('reports the block after the timers have fired, for 15 s', async () => {
    const { clock, watch, blocked } = start();
    blocked(75_000);
    await clock.advance(10_000);
    expect(watch.problem()).toMatch(/stood still for 7[56] s$/);
    await clock.advance(7_000);
    expect(watch.problem()).toBeUndefined();
  });

  it('ignores shorter blocks', async () => {
    const { clock, watch, blocked } = start();
    blocked(59_000);
    await clock.advance(1_000);
    expect(watch.problem()).toBeUndefined();
  });

  function start() {
    const clock = new FakeClock();
    const freezable = new FreezableClock(clock);
    const watch = new EventLoopWatch(freezable);
    void watch.run(new AbortController().signal);
    return { clock, watch, blocked: (ms: number) => freezable.wasFrozenFor(ms) };
  }
});
