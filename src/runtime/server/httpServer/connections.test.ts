import { once } from 'node:events';
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect as connectTcp, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { HttpListener } from '../httpListener.ts';
import { createHttpsListener, type HttpHandler } from '../httpServer.ts';
import { createAuthority } from '../../testing/certificates.ts';
import { exchange, openRaw } from '../../testing/rawHttp.ts';
import { HTTP_LIMITS, type HttpLimits } from './limits.ts';
import { bearErrors } from './connections.ts';
import { Failures } from './failures.ts';

const certificate = createAuthority('test').issue('server');
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
/** A frame: length, type, flags, stream, payload (RFC 9113, 4.1). */
const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
const SETTINGS = frame(4, 0, 0, Buffer.alloc(0));
const SHORT: Partial<HttpLimits> = {
  headersMs: 400,
  requestMs: 600,
  stalledMs: 5_000,
  keepAliveMs: 1_500,
  checkMs: 50,
};

const failed = vi.fn<(server: string, reason: string) => void>();
const good: HttpHandler = ({ path }) => ({ status: 200, text: `${path}\n` });
let handler: HttpHandler;
let listener: HttpListener;
let stop: AbortController;
let running: Promise<void>;
const opened: ClientHttp2Session[] = [];

beforeEach(() => {
  failed.mockClear();
  handler = good;
});

afterEach(async () => {
  for (const each of opened.splice(0)) each.destroy();
  stop.abort();
  await running;
});

async function start(limits: Partial<HttpLimits> = {}): Promise<void> {
  const options = {
    name: 'server',
    address: { host: '127.0.0.1', port: 0 },
    handler: (request: Parameters<HttpHandler>[0]) => handler(request),
    metrics: { failed },
    logger: pino({ level: 'silent' }),
    limits: { ...HTTP_LIMITS, ...limits },
  };
  listener = createHttpsListener(options, { ...certificate, http2: true }).listener;
  stop = new AbortController();
  running = listener.run(stop.signal);
  await listener.listen();
}

async function session(): Promise<ClientHttp2Session> {
  const client = connect(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false });
  opened.push(client);
  client.on('error', () => undefined);
  await once(client, 'connect');
  return client;
}

async function statusOf(stream: ClientHttp2Stream): Promise<number> {
  stream.on('error', () => undefined);
  const [headers] = (await once(stream, 'response')) as [{ ':status'?: number }];
  return headers[':status'] ?? 0;
}

const ask = async (headers: Record<string, string>): Promise<number> => statusOf((await session()).request(headers));
const isWell = async (): Promise<void> => expect(await ask({ ':path': '/good' })).toBe(200);
const counted = (): string[] => failed.mock.calls.map(([, reason]) => reason);

describe('a server of HTTP/2', () => {
  it.each<[string, HttpHandler]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('returns 500 if its handler %s', async (_how, broken) => {
    await start();
    handler = broken;
    expect(await ask({ ':path': '/good' })).toBe(500);
    expect(counted()).toEqual(['error']);
    handler = good;
    await isWell();
  });

  it.each([
    ['GET', '//', 200],
    ['GET', '/\\', 200],
    ['HEAD', '/good', 200],
    ['OPTIONS', '*', 400],
  ])('answers %s %s', async (method, path, status) => {
    await start();
    expect(await ask({ ':path': path, ':method': method })).toBe(status);
    await isWell();
  });

  it('rejects CONNECT', async () => {
    await start();
    const stream = (await session()).request({ ':method': 'CONNECT', ':authority': 'x:1' });
    stream.on('error', () => undefined);
    await once(stream, 'close');
    expect(counted()).toEqual(['refused']);
    await isWell();
  });

  it('uses HTTP/1.1 for a client without HTTP/2', async () => {
    await start();
    const text = 'GET /good HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    expect(await exchange(listener.port, text, 'http/1.1')).toContain('200 OK');
    expect(await exchange(listener.port, 'GET\r\n\r\n', 'http/1.1')).toContain('400 Bad Request');
    expect(counted()).toEqual(['malformed']);
  });

  it.each([
    ['garbage for TLS', undefined, Buffer.from('garbage\r\n\r\n'), 'tls'],
    ['garbage for HTTP/2', 'h2' as const, Buffer.from('garbage\r\n\r\n'.repeat(10)), 'connection'],
    [
      'a frame of no known form',
      'h2' as const,
      Buffer.concat([Buffer.from(PREFACE), SETTINGS, frame(1, 4, 0, Buffer.from('garbage'))]),
      'connection',
    ],
  ])('closes a connection with %s', async (_what, protocol, bytes, reason) => {
    await start();
    const connection = openRaw(listener.port, protocol);
    connection.send(bytes);
    await connection.closed;
    await vi.waitFor(() => expect(counted()).toEqual([reason]));
    await isWell();
  });

  it.each([
    ['sends nothing', [], undefined],
    ['opens no stream', [SETTINGS], frame(6, 0, 0, Buffer.alloc(8))],
    // Without END_HEADERS, the rest of the headers follows in CONTINUATION frames.
    ['does not end its headers', [SETTINGS, frame(1, 0, 1, Buffer.from([0x82]))], frame(9, 0, 1, Buffer.alloc(0))],
  ])('disconnects a client that %s, even if it sends other frames', async (_what, frames, more) => {
    await start(SHORT);
    const connection = openRaw(listener.port, 'h2');
    if (frames.length > 0) connection.send(Buffer.concat([Buffer.from(PREFACE), ...frames]));
    const dripping = setInterval(() => more && connection.send(more), 100);
    await connection.closed;
    clearInterval(dripping);
    await isWell();
    expect(counted()).toEqual(['timeout']);
  });

  it('ends a request whose handler never responds', async () => {
    await start(SHORT);
    handler = () => new Promise(() => undefined);
    const stream = (await session()).request({ ':path': '/' });
    stream.on('error', () => undefined);
    await once(stream, 'close');
    expect([stream.rstCode, counted()]).toEqual([constants.NGHTTP2_CANCEL, ['timeout']]);
  });

  it('rejects more concurrent streams than its SETTINGS allow', async () => {
    await start({ requestsUnderWay: 4 });
    const { promise: end, resolve } = Promise.withResolvers<undefined>();
    let underWay = 0;
    handler = async (request) => {
      underWay++;
      await end;
      return good(request);
    };
    const client = connect(`https://127.0.0.1:${listener.port}`, { rejectUnauthorized: false });
    opened.push(client);
    // Before the client has received the SETTINGS.
    const streams = Array.from({ length: 6 }, () => client.request({ ':path': '/' }).on('error', () => undefined));
    await Promise.all(streams.slice(4).map((stream) => new Promise((closed) => stream.once('close', closed))));
    resolve(undefined);
    expect(await Promise.all(streams.slice(0, 4).map(statusOf))).toEqual([200, 200, 200, 200]);
    expect([underWay, streams[5]!.rstCode]).toEqual([4, constants.NGHTTP2_REFUSED_STREAM]);
  });

  it('ends a stream whose headers are too large', async () => {
    await start();
    const client = await session();
    // Until the client has confirmed the limit, the default of Node.js applies.
    expect(await statusOf(client.request({ ':path': '/' }))).toBe(200);
    const stream = client.request({ ':path': '/', long: 'x'.repeat(20_000) }).resume();
    await new Promise((closed) => stream.on('error', () => undefined).once('close', closed));
    expect(stream.rstCode).not.toBe(constants.NGHTTP2_NO_ERROR);
    await isWell();
  });

  it('does not read a request body', async () => {
    await start();
    const stream = (await session()).request({ ':path': '/', ':method': 'POST' });
    stream.write('half of it');
    expect(await statusOf(stream)).toBe(200);
    stream.resume();
    await once(stream, 'close');
    expect([stream.rstCode, counted()]).toEqual([constants.NGHTTP2_NO_ERROR, []]);
  });

  it('ends a stream whose client does not read, and then its session', async () => {
    await start(SHORT);
    handler = () => ({ status: 200, text: 'x'.repeat(10_000_000) });
    const client = await session();
    const stream = client.request({ ':path': '/' });
    stream.on('error', () => undefined).pause();
    await once(client, 'close');
    expect(counted()).toEqual(['timeout', 'timeout']);
    handler = good;
    await isWell();
  });

  it('survives a client that disconnects before the response', async () => {
    await start();
    const left = Promise.withResolvers<undefined>();
    const asked = Promise.withResolvers<undefined>();
    handler = async (request) => {
      asked.resolve(undefined);
      await left.promise;
      return good(request);
    };
    const client = await session();
    client.request({ ':path': '/' }).on('error', () => undefined);
    await asked.promise;
    client.destroy();
    await once(client, 'close');
    left.resolve(undefined);
    await isWell();
    expect(counted()).not.toContain('error');
  });
});

describe('bearErrors', () => {
  const failed = vi.fn<(server: string, reason: string) => void>();
  let server: Server;

  beforeEach(() => {
    failed.mockClear();
    server = createServer();
    bearErrors(server, new Failures('server', { failed }, pino({ level: 'silent' })));
  });
  afterEach(() => server.close());

  const listen = async (): Promise<number> => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };

  it('counts an error of a listening server', async () => {
    await listen();
    server.emit('error', new Error('EMFILE'));
    expect(failed.mock.calls).toEqual([['server', 'connection']]);
  });

  it('leaves an error before that to the caller of listen()', () => {
    server.emit('error', new Error('EADDRINUSE'));
    expect(failed).not.toHaveBeenCalled();
  });

  it('handles an error of a socket at any time', async () => {
    const port = await listen();
    const client = connectTcp(port, '127.0.0.1');
    const [socket] = (await once(server, 'connection')) as [Socket];
    socket.emit('error', new Error('EPIPE'));
    // Do not use `once` of node:events: it also adds an error listener.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.destroy(new Error('ECONNRESET'));
    await closed;
    client.destroy();
  });
});
