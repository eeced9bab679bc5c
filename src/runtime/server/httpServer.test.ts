import { once } from 'node:events';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HttpListener } from './httpListener.ts';
import { createHttpServer, createHttpsListener, type HttpHandler } from './httpServer.ts';
import { HTTP_LIMITS, type HttpLimits } from './httpServer/limits.ts';
import { createAuthority } from '../testing/certificates.ts';
import { exchange, openRaw } from '../testing/rawHttp.ts';

const certificate = createAuthority('test').issue('server');
const GOOD = 'GET /good HTTP/1.1\r\nHost: x\r\n';
const CLOSE = 'Connection: close\r\n\r\n';
/** Longer than every valid request of these tests, and short enough to wait for. */
const SHORT: Partial<HttpLimits> = { headersMs: 400, requestMs: 600, stalledMs: 800, keepAliveMs: 800, checkMs: 50 };

const failed = vi.fn<(server: string, reason: string) => void>();
const logger = pino({ level: 'silent' });
const logged = vi.spyOn(logger, 'error');
const good: HttpHandler = ({ path }) => ({ status: 200, text: `${path}\n` });
let handler: HttpHandler;
let listener: HttpListener;
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  failed.mockClear();
  logged.mockClear();
  handler = good;
});

afterEach(async () => {
  stop.abort();
  await running;
});

async function start(protocol: 'plain' | 'http/1.1', limits: Partial<HttpLimits> = {}): Promise<void> {
  const options = {
    name: 'server',
    address: { host: '127.0.0.1', port: 0 },
    handler: (request: Parameters<HttpHandler>[0]) => handler(request),
    metrics: { failed },
    logger,
    limits: { ...HTTP_LIMITS, ...limits },
  };
  listener =
    protocol === 'plain'
      ? createHttpServer(options)
      : createHttpsListener(options, { ...certificate, http2: false }).listener;
  stop = new AbortController();
  running = listener.run(stop.signal);
  await listener.listen();
}

/** The count of each reason. */
function reasons(): Record<string, number> {
  const all = failed.mock.calls.map(([, reason]) => reason);
  return Object.fromEntries([...new Set(all)].map((reason) => [reason, all.filter((each) => each === reason).length]));
}

const whenCounted = (expected: Record<string, number>): Promise<unknown> =>
  vi.waitFor(() => expect(reasons()).toEqual(expected), { timeout: 10_000 });

describe.each(['plain', 'http/1.1'] as const)('a server of HTTP/1.1 (%s)', (protocol) => {
  const tls = protocol === 'plain' ? undefined : protocol;
  const ask = (bytes: string): Promise<string> => exchange(listener.port, bytes, tls);
  // Again, if a busy machine was slower than the limits of the test.
  const isWell = (): Promise<void> =>
    vi.waitFor(async () => expect(await ask(GOOD + CLOSE)).toMatch(/^HTTP\/1.1 200 OK\r\n.*\/good\n$/s), 10_000);

  it.each<[string, HttpHandler]>([
    ['throws', () => raise('broken')],
    ['rejects', () => Promise.reject(new Error('broken'))],
    ['throws a value that is not an Error', () => Promise.reject(JSON.parse('"broken"') as Error)],
  ])('returns 500 if its handler %s, counts each failure, and logs the first', async (_how, broken) => {
    await start(protocol);
    handler = broken;
    expect(await ask(GOOD + CLOSE)).toMatch(/^HTTP\/1.1 500 .*internal error\n$/s);
    expect(await ask(GOOD + CLOSE)).toContain('HTTP/1.1 500 ');
    expect(reasons()).toEqual({ error: 2 });
    expect(logged).toHaveBeenCalledTimes(1);
    handler = good;
    await isWell();
  });

  it('closes the connection if a response cannot be sent', async () => {
    await start(protocol);
    handler = () => ({ status: 200, text: '', headers: { 'x-header': 'two\r\nlines' } });
    expect(await ask(GOOD + CLOSE)).toBe('');
    expect(reasons()).toEqual({ error: 1 });
    handler = good;
    await isWell();
  });

  it.each([
    ['a target without a path', `GET * HTTP/1.1\r\nHost: x\r\n${CLOSE}`, /^HTTP\/1.1 400 /, { malformed: 1 }],
    ['a bad request line', 'GET\r\n\r\n', /^HTTP\/1.1 400 /, { malformed: 1 }],
    ['NUL bytes', `${GOOD}a: \0\r\n\r\n`, /^HTTP\/1.1 400 /, { malformed: 1 }],
    ['two lengths of the body', `${GOOD}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, /400 /, { malformed: 1 }],
    ['headers of 16 kB', `${GOOD}a: ${'x'.repeat(16_384)}\r\n\r\n`, /^HTTP\/1.1 431 /, { too_large: 1 }],
    ['a good request before a bad one', `${GOOD}\r\nGET\r\n\r\n`, /^(HTTP\/1.1 200 |$)/, { malformed: 1 }],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', /^$/, { refused: 1 }],
    ['Upgrade', `${GOOD}Upgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n`, /^HTTP\/1.1 200 /, {}],
    ['HEAD', `HEAD / HTTP/1.1\r\nHost: x\r\n${CLOSE}`, /^HTTP\/1.1 200 .*\r\n\r\n$/s, {}],
  ])('ends %s', async (_what, bytes, answer, counts) => {
    await start(protocol);
    expect(await ask(bytes)).toMatch(answer);
    expect(reasons()).toEqual(counts);
    await isWell();
  });

  it('closes a connection with an unread request body', async () => {
    await start(protocol);
    const answer = await ask(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc`);
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n.*connection: close\r\n/is);
  });

  it.each([
    ['that sends nothing', '', /408 /],
    ['that sends half of its headers', GOOD, /408 /],
    ['that sends half of its body', `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc`, /^HTTP\/1.1 200 /],
    ['that keeps its connection open', `${GOOD}\r\n`, /^HTTP\/1.1 200 /],
  ])('disconnects a client %s', async (_what, bytes, answer) => {
    await start(protocol, SHORT);
    expect(await ask(bytes)).toMatch(answer);
    await isWell();
  });

  it('keeps an idle connection for a shorter time while many are open, and tells the client', async () => {
    await start(protocol, { crowd: 1, crowdedKeepAliveMs: 1_000 });
    const kept = openRaw(listener.port, tls);
    const answerOf = async (connection: typeof kept): Promise<string> => {
      connection.send(`${GOOD}\r\n`);
      return String((await once(connection.socket, 'data'))[0]);
    };
    expect(await answerOf(kept)).toMatch(/keep-alive: timeout=65\r\n/i);
    const crowded = openRaw(listener.port, tls);
    expect(await answerOf(crowded)).toMatch(/keep-alive: timeout=1\r\n/i);
    await crowded.closed;
    await vi.waitFor(async () => expect(await answerOf(kept)).toMatch(/keep-alive: timeout=65\r\n/i));
    kept.reset();
  });

  it('does not extend the limit for a client that sends single bytes', async () => {
    await start(protocol, SHORT);
    const connection = openRaw(listener.port, tls);
    connection.send(GOOD);
    const dripping = setInterval(() => connection.send('x'), 50);
    expect(await connection.closed).toContain('408 ');
    clearInterval(dripping);
    expect(reasons()).toEqual({ timeout: 1 });
  });

  it('disconnects a client that does not read', async () => {
    await start(protocol, SHORT);
    handler = () => ({ status: 200, text: 'x'.repeat(20_000_000) });
    const connection = openRaw(listener.port, tls);
    connection.send(`${GOOD}\r\n`);
    connection.socket.pause();
    await whenCounted({ timeout: 1 });
    connection.socket.destroy();
  });

  it('sends a long response in parts, each made when the ones before are received', async () => {
    await start(protocol);
    let made = 0;
    const parts = function* (): Generator<string> {
      for (made = 1; made <= 100; made += 1) yield '~'.repeat(300_000);
    };
    handler = () => ({ status: 200, text: 'first ', parts: parts() });
    const connection = openRaw(listener.port, tls);
    connection.socket.pause();
    connection.send(GOOD + CLOSE);
    await vi.waitFor(() => expect(made).toBeGreaterThan(1));
    expect(made).toBeLessThan(50);
    connection.socket.resume();
    const answer = await connection.closed;
    expect(answer.indexOf('first ')).toBeLessThan(answer.indexOf('~'));
    expect(answer.split('~')).toHaveLength(30_000_001);
    expect(reasons()).toEqual({});
  });

  it('closes the connection if a part cannot be made', async () => {
    await start(protocol);
    const parts = function* (): Generator<string> {
      yield 'some';
      throw new Error('no further part');
    };
    handler = () => ({ status: 200, text: '', parts: parts() });
    expect((await ask(GOOD + CLOSE)).endsWith('\r\n0\r\n\r\n')).toBe(false);
    expect(reasons().error).toBe(1);
    handler = good;
    await isWell();
  });

  it('survives a client that disconnects between two parts', async () => {
    await start(protocol);
    const parts = function* (): Generator<string> {
      for (;;) yield '~'.repeat(100_000);
    };
    handler = () => ({ status: 200, text: '', parts: parts() });
    const connection = openRaw(listener.port, tls);
    connection.send(`${GOOD}\r\n`);
    await vi.waitFor(() => expect(connection.socket.bytesRead).toBeGreaterThan(1_000_000));
    connection.reset();
    await connection.closed;
    handler = good;
    await isWell();
    expect(reasons().error).toBeUndefined();
  });

  it('handles a few pipelined requests concurrently, and closes the connection after more', async () => {
    await start(protocol, { requestsUnderWay: 2 });
    handler = async (request) => {
      await new Promise(setImmediate);
      return good(request);
    };
    const answers = await ask(`${GOOD}\r\n`.repeat(4) + GOOD + CLOSE);
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 503']);
    expect(reasons()).toEqual({ busy: 3 });
    await isWell();
  });

  it('survives a client that disconnects before the response', async () => {
    await start(protocol);
    const { promise: left, resolve: leave } = Promise.withResolvers<undefined>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<undefined>();
    handler = async (request) => {
      ask(undefined);
      await left;
      return good(request);
    };
    const connection = openRaw(listener.port, tls);
    connection.send(`${GOOD}\r\n`);
    await asked;
    connection.reset();
    await connection.closed;
    leave(undefined);
    await isWell();
    expect(reasons().error).toBeUndefined();
  });

  it('replaces the oldest connection if there are too many', async () => {
    await start(protocol, { connections: 3 });
    const oldest = openRaw(listener.port, tls);
    await once(oldest.socket, tls === undefined ? 'connect' : 'secureConnect');
    const others = [1, 2, 3].map(() => openRaw(listener.port, tls));
    await oldest.closed;
    await isWell();
    for (const { socket } of others) socket.destroy();
    expect(reasons().crowded).toBeGreaterThanOrEqual(1);
  });
});

function raise(message: string): never {
  throw new Error(message);
}
