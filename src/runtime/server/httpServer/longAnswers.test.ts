import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { exchange, openRaw, type RawConnection } from '../../testing/rawHttp.ts';
import type { HttpListener } from '../httpListener.ts';
import { createHttpServer, type HttpAnswer } from '../httpServer.ts';
import { HTTP_LIMITS } from './limits.ts';

const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const askLast = (path: string, method = 'GET'): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
const MANY = 10_000;
const PART = 'x'.repeat(256 * 1024);
/** Longer than a test: only a test that advances the clock has readers without progress. */
const STALLED_MS = 600_000;

/** Lets the clock of the process advance, which goes on otherwise. */
function advancing(): (ms: number) => void {
  const real = performance.now.bind(performance);
  let advanced = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => real() + advanced);
  return (ms) => void (advanced += ms);
}

/** More than the sockets of both ends hold. */
const WHOLE = PART.repeat(100);

describe('a server with a limit of long answers', () => {
  const failed = vi.fn<(server: string, reason: string) => void>();
  let listener: HttpListener;
  let stop: AbortController;
  let running: Promise<void>;
  let open: RawConnection[] = [];
  /** Long answers that were begun and not ended. */
  let made = 0;

  function* parts(): Generator<string> {
    made += 1;
    try {
      for (let n = 0; n < 100; n += 1) yield PART;
    } finally {
      made -= 1;
    }
  }

  /** Parts of /huge that were made. Each is more than the sockets hold, so the next is made when its client has read it. */
  let hugeOnes = 0;
  function* hugeParts(): Generator<string> {
    for (let n = 0; n < 2; n += 1) {
      hugeOnes += 1;
      yield WHOLE;
    }
  }

  let smallOnes = 0;
  function* smallParts(): Generator<string> {
    for (smallOnes = 0; smallOnes < MANY; smallOnes += 1) yield '.';
  }

  const answers: Readonly<Record<string, () => HttpAnswer>> = {
    '/parts': () => ({ status: 200, text: '', parts: parts() }),
    '/other': () => ({ status: 200, text: '', parts: parts() }),
    '/huge': () => ({ status: 200, text: '', parts: hugeParts() }),
    '/whole': () => ({ status: 200, text: WHOLE }),
    '/short': () => ({ status: 200, text: 'short\n' }),
    '/small': () => ({ status: 200, text: '', parts: smallParts() }),
    '/end': () => ({ status: 200, text: 'first ', parts: ['and ', 'last'] }),
  };

  async function start(longAnswerMs = 60_000): Promise<void> {
    listener = createHttpServer({
      name: 'server',
      address: { host: '127.0.0.1', port: 0 },
      handler: ({ path }) => answers[path]!(),
      metrics: { failed },
      logger: pino({ level: 'silent' }),
      limits: { ...HTTP_LIMITS, longAnswers: 4, longAnswerMs, longStalledMs: STALLED_MS },
    });
    stop = new AbortController();
    running = listener.run(stop.signal);
    await listener.listen();
  }

  /** A client that reads no more than what its socket takes. */
  function readSlowly(path: string, from: string): RawConnection {
    const connection = openRaw(listener.port, undefined, from);
    connection.socket.pause();
    connection.send(ask(path));
    open.push(connection);
    return connection;
  }

  /** The first line of an answer, whose rest is not read: it would end, and its slot would be free. */
  const statusFrom = async (path: string, from: string): Promise<string> => {
    const connection = openRaw(listener.port, undefined, from);
    open.push(connection);
    connection.send(ask(path));
    const chunk = await new Promise<string>((resolve) => connection.socket.once('data', resolve));
    connection.socket.pause();
    return chunk.split('\r\n')[0]!;
  };

  const counted = (): string[] => failed.mock.calls.map(([, reason]) => reason);
  const whenMade = (count: number): Promise<void> => vi.waitFor(() => expect(made).toBe(count), { timeout: 10_000 });

  beforeEach(() => {
    failed.mockClear();
    open = [];
    hugeOnes = 0;
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    for (const { socket } of open) socket.destroy();
    stop.abort();
    await running;
    await whenMade(0);
  });

  it('refuses more of them on one path with 503 and Retry-After, and answers others', async () => {
    await start();
    for (const n of [2, 3, 4, 5]) readSlowly('/parts', `127.0.0.${n}`);
    await whenMade(4);
    expect(await exchange(listener.port, ask('/parts'))).toMatch(/^HTTP\/1.1 503 .*retry-after: 5\r\n/is);
    expect(counted()).toEqual(['busy']);
    expect(await exchange(listener.port, askLast('/short'))).toContain('short\n');
    expect(await statusFrom('/other', '127.0.0.2')).toBe('HTTP/1.1 200 OK');
    await whenMade(5);
  });

  it('gives half of them to one address, so that it cannot block the others', async () => {
    await start();
    for (let n = 0; n < 20; n += 1) readSlowly('/parts', '127.0.0.2');
    await vi.waitFor(() => expect(counted()).toEqual(Array(18).fill('busy')));
    expect(made).toBe(2);
    expect(await statusFrom('/parts', '127.0.0.3')).toBe('HTTP/1.1 200 OK');
  });

  it('gives a place of the address with most readers to an address with at least two fewer', async () => {
    await start();
    for (const n of [2, 2, 3, 3]) readSlowly('/parts', `127.0.0.${n}`);
    await whenMade(4);
    expect(await statusFrom('/parts', '127.0.0.4')).toBe('HTTP/1.1 200 OK');
    expect(await statusFrom('/parts', '127.0.0.5')).toBe('HTTP/1.1 200 OK');
    expect(counted()).toEqual(['crowded', 'crowded']);
    await whenMade(4);
    expect(await exchange(listener.port, ask('/parts'))).toMatch(/^HTTP\/1.1 503 /);
  });

  it('closes readers that do not read, from however many addresses, and none that reads on', async () => {
    const advance = advancing();
    await start();
    const [steady, ...stalled] = [2, 3, 4, 5].map((n) => readSlowly('/huge', `127.0.0.${n}`));
    await vi.waitFor(() => expect(hugeOnes).toBe(4));
    advance(STALLED_MS);
    steady!.socket.resume();
    await vi.waitFor(() => expect(hugeOnes).toBe(5), { timeout: 10_000 });
    steady!.socket.pause();
    for (const n of [6, 7, 8]) expect(await statusFrom('/huge', `127.0.0.${n}`)).toBe('HTTP/1.1 200 OK');
    expect(await statusFrom('/huge', '127.0.0.9')).toBe('HTTP/1.1 503 Service Unavailable');
    expect(counted()).toEqual(['crowded', 'crowded', 'crowded', 'busy']);
    for (const { socket } of stalled) socket.resume();
    await Promise.all(stalled.map(({ closed }) => closed));
    steady!.socket.resume();
    await vi.waitFor(() => expect(steady!.socket.bytesRead).toBeGreaterThan(2 * WHOLE.length), { timeout: 10_000 });
  });

  it('lets an address at its limit replace only its own readers', async () => {
    const advance = advancing();
    await start();
    for (const n of [2, 3, 3]) readSlowly('/huge', `127.0.0.${n}`);
    await vi.waitFor(() => expect(hugeOnes).toBe(3));
    advance(STALLED_MS);
    for (let n = 0; n < 3; n += 1) readSlowly('/huge', '127.0.0.3');
    await vi.waitFor(() => expect(counted()).toEqual(['crowded', 'crowded', 'busy']));
    // The two that took a place also begin to read.
    await vi.waitFor(() => expect(hugeOnes).toBe(5));
    open[0]!.socket.resume();
    await vi.waitFor(() => expect(hugeOnes).toBe(6), { timeout: 10_000 });
  });

  it('counts a long text, too', async () => {
    await start();
    for (let n = 0; n < 3; n += 1) readSlowly('/whole', '127.0.0.2');
    await vi.waitFor(() => expect(counted()).toEqual(['busy']));
  });

  it('no longer counts answers that ended or whose client went away', async () => {
    await start();
    for (let round = 0; round < 3; round += 1) {
      const readers = [1, 2].map(() => readSlowly('/parts', '127.0.0.2'));
      await whenMade(2);
      for (const reader of readers) reader.reset();
      await whenMade(0);
    }
    for (let n = 0; n < 8; n += 1)
      expect(await exchange(listener.port, askLast('/end'))).toMatch(/first .*and .*last/s);
    expect(counted()).not.toContain('busy');
  });

  it('closes the connection of a client that takes too long in all', async () => {
    await start(500);
    const reader = readSlowly('/parts', '127.0.0.2');
    await vi.waitFor(() => expect(counted()).toEqual(['timeout']), { timeout: 10_000 });
    reader.socket.resume();
    await reader.closed;
    await whenMade(0);
  });

  it('makes no parts for HEAD', async () => {
    await start();
    expect(await exchange(listener.port, askLast('/parts', 'HEAD'))).toMatch(/^HTTP\/1.1 200 .*\r\n\r\n$/s);
    expect(made).toBe(0);
  });

  it('answers others between the parts of an answer, also if its client takes them at once', async () => {
    await start();
    const long = exchange(listener.port, askLast('/small'));
    await vi.waitFor(() => expect(smallOnes).toBeGreaterThan(0), { interval: 1 });
    expect(await exchange(listener.port, askLast('/short'))).toMatch(/short\n$/);
    expect(smallOnes).toBeLessThan(MANY);
    await long;
    expect(smallOnes).toBe(MANY);
  });
});
