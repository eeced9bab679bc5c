import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../runtime/process/clock.ts';
import type { HttpListener } from '../../runtime/server/httpListener.ts';
import { createHttpServer, type HttpRequest } from '../../runtime/server/httpServer.ts';
import { openRaw, type RawConnection } from '../../runtime/testing/rawHttp.ts';
import { WEBHOOK_PATH } from './configuration.ts';
import { WEBHOOK_LIMITS, webhookHandler } from './handler.ts';
import { placement, pod, review } from './testing/reviews.ts';

const logger = pino({ level: 'silent' });
const MIB = 1024 * 1024;
const API_SERVER = '127.0.0.1';
const options = { placementOf: () => placement, metrics: { answered: () => undefined }, clock: systemClock, logger };
/** A review of a pod with a container of so many bytes. */
const reviewOf = (bytes = 0): string =>
  JSON.stringify(review({ object: { ...pod, spec: { containers: ['x'.repeat(bytes)] } } }));
const head = (length: number): string =>
  `POST ${WEBHOOK_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

let listener: HttpListener;
let stop: AbortController;
let running: Promise<void>;
let open: RawConnection[];

beforeEach(async () => {
  open = [];
  listener = createHttpServer({
    name: 'webhook',
    address: { host: '127.0.0.1', port: 0 },
    handler: webhookHandler(options),
    metrics: { failed: () => undefined },
    logger,
    limits: WEBHOOK_LIMITS,
  });
  stop = new AbortController();
  running = listener.run(stop.signal);
  await listener.listen();
});
afterEach(async () => {
  for (const { socket } of open) socket.destroy();
  stop.abort();
  await running;
});

/** Sends what is given on a connection of its own. Resolves to the status line once an answer begins. */
function send(from: string, ...parts: (string | Uint8Array)[]): Promise<string> {
  const connection = openRaw(listener.port, undefined, from);
  open.push(connection);
  for (const part of parts) connection.send(part);
  return new Promise((resolve) => {
    connection.socket.once('data', (text: string) => {
      connection.socket.pause();
      resolve(text.split('\r\n')[0]!);
    });
  });
}
const ask = (from = API_SERVER, body = reviewOf()): Promise<string> => send(from, head(body.length), body);
const OK = 'HTTP/1.1 200 OK';
const BUSY = 'HTTP/1.1 503 Service Unavailable';

describe('the webhook', () => {
  it('answers while hundreds of clients send no body, which have a second', async () => {
    const slow = Array.from({ length: 300 }, (_each, index) => send(`127.0.1.${index % 250}`, head(9)));
    expect(await ask()).toBe(OK);
    expect(new Set(await Promise.all(slow))).toEqual(new Set([BUSY]));
  });

  it('answers 500 reviews that one API server sends at once, 20 MB', async () => {
    const all = await Promise.all(Array.from({ length: 500 }, () => ask(API_SERVER, reviewOf(40_000))));
    expect(new Set(all)).toEqual(new Set([OK]));
  });
});

it('has answers that are not read of 192 MiB at most, for 3 s', () => {
  expect(WEBHOOK_LIMITS.longAnswers * 12).toBeLessThanOrEqual(192);
  expect(WEBHOOK_LIMITS.longAnswerMs).toBeLessThanOrEqual(3_000);
});

describe('the memory for bodies that are not complete', () => {
  const handler = webhookHandler(options);
  const request = (source: string, body: HttpRequest['body']): HttpRequest => ({
    ...{ path: WEBHOOK_PATH, query: new URLSearchParams(), method: 'POST' },
    ...{ authorization: undefined, accept: undefined, source, body },
  });
  /** Sends 3 MiB, and the end when it is asked to. */
  const start = (source: string, chunks = 1) => {
    const rest = Promise.withResolvers<string>();
    const body = (_limit: number, take?: (bytes: number) => void): Promise<string> => {
      for (let sent = 0; sent < chunks; sent += 1) take?.((3 * MIB) / chunks);
      return rest.promise;
    };
    const answer = Promise.resolve(handler(request(source, async (...all) => body(...all))));
    return { end: () => rest.resolve(reviewOf()), status: answer.then(({ status }) => status) };
  };

  it('is 16 MiB for one address, and others have room', async () => {
    const slow = Array.from({ length: 5 }, () => start('10.0.0.1'));
    expect(await start('10.0.0.1').status).toBe(503);
    const other = start('10.0.0.2');
    slow[0]!.end();
    expect(await slow[0]!.status).toBe(200);
    // Its room is free again.
    slow.push(start('10.0.0.1'), other);
    for (const { end } of slow) end();
    expect(await Promise.all(slow.map(({ status }) => status))).toEqual(slow.map(() => 200));
  });

  it('is 64 MiB in all', async () => {
    const slow = Array.from({ length: 21 }, (_each, index) => start(`10.0.0.${index}`));
    expect(await start('10.0.1.0').status).toBe(503);
    for (const { end } of slow) end();
    expect(await Promise.all(slow.map(({ status }) => status))).toEqual(slow.map(() => 200));
  });

  it('counts what each chunk takes', async () => {
    expect(await start('10.0.0.1', 100_000).status).toBe(503);
  });

  it('is free after a second, and takes no more of such a body', async () => {
    let late: unknown;
    const answer = await handler(
      request('10.0.0.1', (_limit, take) => {
        take?.(9);
        return new Promise(() => void setTimeout(() => void (late = attempt(() => take?.(9))), 1_100));
      }),
    );
    expect(answer.status).toBe(503);
    await vi.waitFor(() => expect(late).toBeInstanceOf(Error));
  });
});

function attempt(what: () => void): unknown {
  try {
    what();
    return undefined;
  } catch (error) {
    return error;
  }
}
