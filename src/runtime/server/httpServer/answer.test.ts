import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { exchange, openRaw } from '../../testing/rawHttp.ts';
import type { HttpListener } from '../httpListener.ts';
import { createHttpServer } from '../httpServer.ts';
import { HTTP_LIMITS } from './limits.ts';

const LIMIT_BYTES = 10;
const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\n';
const CLOSE = 'Connection: close\r\n';

describe('the body of a request', () => {
  const failed = vi.fn<(server: string, reason: string) => void>();
  let listener: HttpListener;
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(async () => {
    failed.mockClear();
    listener = createHttpServer({
      name: 'server',
      address: { host: '127.0.0.1', port: 0 },
      handler: async ({ body }) => ({ status: 200, text: `got ${await body(LIMIT_BYTES)}\n` }),
      metrics: { failed },
      logger: pino({ level: 'silent' }),
      limits: { ...HTTP_LIMITS, headersMs: 400, requestMs: 600, checkMs: 50 },
    });
    stop = new AbortController();
    running = listener.run(stop.signal);
    await listener.listen();
  });

  afterEach(async () => {
    stop.abort();
    await running;
  });

  const counted = (): string[] => failed.mock.calls.map(([, reason]) => reason);
  const ask = (bytes: string): Promise<string> => exchange(listener.port, bytes);

  it('is read up to its limit, and the connection is used again', async () => {
    const one = `${HEAD}Content-Length: 10\r\n\r\n0123456789`;
    const answer = await ask(`${one}${HEAD}${CLOSE}Content-Length: 2\r\n\r\nab`);
    expect(answer.match(/got .*/g)).toEqual(['got 0123456789', 'got ab']);
    expect(counted()).toEqual([]);
  });

  it('is empty for a request without one', async () => {
    expect(await ask(`${HEAD}${CLOSE}\r\n`)).toMatch(/got \n$/);
  });

  it.each([
    ['announced', `Content-Length: 11\r\n\r\n0123`],
    ['sent in one piece', `Transfer-Encoding: chunked\r\n\r\nb\r\n0123456789a\r\n`],
    ['sent in pieces', `Transfer-Encoding: chunked\r\n\r\n6\r\n012345\r\n6\r\n678901\r\n`],
  ])('above its limit, %s, is a 413 that ends the connection', async (_how, rest) => {
    const answer = await ask(`${HEAD}${rest}`);
    expect(answer).toMatch(/^HTTP\/1.1 413 .*connection: close.*the body has more than 10 bytes\n$/is);
    expect(counted()).toEqual(['too_large']);
  });

  it('that the client breaks off is counted', async () => {
    const connection = openRaw(listener.port);
    connection.send(`${HEAD}Content-Length: 5\r\n\r\n01`);
    connection.reset();
    await vi.waitFor(() => expect(counted()).toContain('connection'));
    expect(counted()).not.toContain('error');
  });

  it('that takes too long ends the connection', async () => {
    await ask(`${HEAD}Content-Length: 5\r\n\r\n01`);
    expect(counted()).not.toContain('error');
    expect(counted()).toContain('timeout');
  });
});
