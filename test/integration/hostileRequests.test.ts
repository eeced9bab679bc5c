import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { request as requestHttp } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request as requestHttps, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { HTTP_LIMITS } from '../../src/runtime/server/httpServer/limits.ts';
import { createAuthority } from '../../src/runtime/testing/certificates.ts';
import { openRaw, type RawConnection } from '../../src/runtime/testing/rawHttp.ts';
import { useConnectedPlane } from './connectedPlane.ts';
import { chartHeapOption } from '../harness/chartHeap.ts';
import { CRDS, trafficWatchCrd } from '../harness/customResource.ts';
import { hostileClients, type HostileClient, type Layer } from './hostileBytes.ts';
import { DEBUGGED, residentAfterCollection } from '../harness/heap.ts';
import { withNodeOptions } from '../harness/nodeOptions.ts';
import { startOperator, type Operator } from '../harness/operator.ts';

/** Requests of untrusted clients to the listeners of the operator's process. */
const SEED = Number(process.env.HOSTILE_SEED ?? 20_250_102);
const COUNT = 1_000;

/** The memory for clients, most of which are still connected. TLS and HTTP/2 sessions take 15 MiB. */
const GROWTH = 50 * 2 ** 20;

/** A client has 10 s for its headers, checked every second. The rest is for a busy machine; Node.js itself allows a minute. */
const SLOW = { leastMs: 9_000, mostMs: 40_000 };

const scene = useConnectedPlane(({ client }) => client.create(CRDS, trafficWatchCrd()));
let open: Operator;
let secure: Operator;

beforeAll(async () => {
  const certificates = await mkdtemp(join(scene.plane.directory, 'certificate-'));
  const { cert, key } = createAuthority('metrics').issue('metrics');
  await writeFile(join(certificates, 'tls.crt'), cert);
  await writeFile(join(certificates, 'tls.key'), key);
  const common = { kubeconfig: scene.plane.kubeconfig, prometheusUrl: 'http://127.0.0.1:9' };
  const args = ['--metrics-secure', `--metrics-cert-path=${certificates}`, '--enable-http2'];
  const start = () => Promise.all([startOperator(common), startOperator({ ...common, args })]);
  [open, secure] = await withNodeOptions(`${chartHeapOption()} ${DEBUGGED}`, start);
});
afterAll(async () => {
  await Promise.all([open.terminate(), secure.terminate()]);
});

const portOf = (url: string): number => Number(new URL(url).port);

interface Target {
  readonly operator: Operator;
  readonly port: number;
  readonly layer: Layer;
  /** The status of the response to a valid request. */
  readonly good: () => Promise<number | undefined>;
}

/** These clients have no token: the secure listener must answer 401. */
const TARGETS = {
  health: () => target(open, open.healthUrl, 'tcp', '/readyz'),
  metrics: () => target(open, open.metricsUrl, 'tcp', '/metrics'),
  'secure metrics over HTTP/1.1': () => target(secure, secure.metricsUrl, 'http/1.1', '/metrics'),
  'secure metrics over HTTP/2': () => target(secure, secure.metricsUrl, 'h2', '/metrics'),
};
const GOOD = { tcp: 200, 'http/1.1': 401, h2: 401 };

function target(operator: Operator, url: string, layer: Layer, path: string): Target {
  const port = portOf(url);
  const good = layer === 'h2' ? () => overHttp2(port, path) : () => overHttp1(port, path, layer !== 'tcp');
  return { operator, port, layer, good };
}

function overHttp1(port: number, path: string, isTls: boolean): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions = { host: '127.0.0.1', port, path, agent: false, rejectUnauthorized: false };
    const call = (isTls ? requestHttps : requestHttp)(options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    call.on('error', reject).end();
  });
}

async function overHttp2(port: number, path: string): Promise<number | undefined> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
  try {
    const stream = session.request({ ':path': path });
    const failure = once(session, 'error').then(([error]) => Promise.reject(error as Error));
    const answer = once(stream, 'response') as Promise<[{ ':status'?: number }]>;
    return (await Promise.race([answer, failure]))[0][':status'];
  } finally {
    session.destroy();
  }
}

/** Sends the bytes of a client in pieces. */
async function send(port: number, layer: Layer, client: HostileClient): Promise<RawConnection> {
  const connection = openRaw(port, client.isTls && layer !== 'tcp' ? layer : undefined);
  const size = Math.ceil(client.bytes.length / client.pieces);
  for (let piece = 0; piece < client.pieces; piece++) {
    connection.send(client.bytes.subarray(piece * size, (piece + 1) * size));
    await new Promise(setImmediate);
  }
  return connection;
}

function leave({ socket, reset }: RawConnection, then: HostileClient['then']): void {
  if (then === 'close') socket.destroy();
  if (then === 'reset') reset();
  if (then === 'half-close') socket.end();
  if (then === 'stay') socket.pause();
}

const NAMES = Object.keys(TARGETS) as (keyof typeof TARGETS)[];

const HEADERS = 'GET /metrics HTTP/1.1\r\nHost: x\r\n';
const http1Senders = (protocol?: 'http/1.1'): SlowSender[] =>
  [
    { what: 'that sends nothing', first: '' },
    { what: 'that sends half of its headers', first: HEADERS },
    { what: 'that sends a byte a second', first: HEADERS, then: 'x' },
  ].map((each) => ({ ...each, ...(protocol && { protocol }) }));
const PING = '\0\0\x08\x06\0\0\0\0\0pingping';
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0';
const SLOW_SENDERS: Readonly<Record<Layer, readonly SlowSender[]>> = {
  tcp: http1Senders(),
  'http/1.1': [...http1Senders('http/1.1'), { what: 'that does not begin TLS', first: '' }],
  h2: [
    { what: 'that sends nothing', protocol: 'h2', first: '' },
    { what: 'that begins no stream, but pings', protocol: 'h2', first: PREFACE, then: PING },
  ],
};

describe.each(NAMES)('%s', (name) => {
  it(`answers a good request after each of ${COUNT} hostile ones (seed ${SEED})`, async () => {
    const { operator, port, layer, good } = TARGETS[name]();
    const before = await residentAfterCollection(operator);
    const connections: RawConnection[] = [];
    for (const [index, client] of hostileClients(layer, SEED, COUNT).entries()) {
      const connection = await send(port, layer, client);
      const status = await good().catch((error: unknown) => String(error));
      const why = `seed ${SEED}, client ${index} (${client.what}): ${client.bytes.toString('latin1').slice(0, 300)}`;
      expect(status, why).toBe(GOOD[layer]);
      leave(connection, client.then);
      connections.push(connection);
    }
    // Before the clients are disconnected, which frees what is kept for them.
    expect((await residentAfterCollection(operator)) - before).toBeLessThan(GROWTH);
    for (const { socket } of connections) socket.destroy();
    // Nothing restarts it here: the answer is from the process that was started.
    expect(operator.log().match(/"msg":"starting"/g)).toHaveLength(1);
  });

  it('answers a probe while others open as many connections as they can', async () => {
    const { port, layer, good } = TARGETS[name]();
    const others = Array.from({ length: 2 * HTTP_LIMITS.connections }, () => openRaw(port));
    await Promise.all(others.map(({ socket }) => once(socket, 'connect')));
    expect(await good()).toBe(GOOD[layer]);
    const isOpen = ({ socket }: RawConnection): boolean => !socket.destroyed;
    const isCrowded = (): boolean => others.filter(isOpen).length > HTTP_LIMITS.connections;
    // Before they are disconnected for sending nothing.
    await vi.waitFor(() => expect(isCrowded()).toBe(false), { timeout: HTTP_LIMITS.headersMs - 2_000 });
    for (const { socket } of others) socket.destroy();
  });
});

it('a slow sender is disconnected after 10 s, on every listener', async () => {
  const slow = NAMES.flatMap((name) => {
    const { port, layer } = TARGETS[name]();
    return SLOW_SENDERS[layer].map((sender) => ({ name, port, ...sender }));
  });
  const kept = await Promise.all(slow.map(async (each) => ({ ...each, ms: await keptFor(each) })));
  for (const { name, what, ms } of kept) {
    expect(ms, `${name}, ${what}`).toBeGreaterThan(SLOW.leastMs);
    expect(ms, `${name}, ${what}`).toBeLessThan(SLOW.mostMs);
  }
  for (const name of NAMES) expect(await TARGETS[name]().good()).toBe(GOOD[TARGETS[name]().layer]);
});

it('failed requests are counted', async () => {
  const text = await (await fetch(open.metricsUrl)).text();
  const count = (server: string, reason: string): number =>
    Number(new RegExp(`http_requests_failed_total{server="${server}",reason="${reason}"} (\\d+)`).exec(text)?.[1] ?? 0);
  for (const server of ['health server', 'metrics server']) {
    for (const reason of ['malformed', 'too_large', 'timeout', 'crowded', 'busy', 'refused', 'connection']) {
      expect(count(server, reason), `${server}, ${reason}`).toBeGreaterThan(0);
    }
    expect(count(server, 'error'), server).toBe(0);
  }
});

interface SlowSender {
  readonly what: string;
  readonly protocol?: 'http/1.1' | 'h2';
  readonly first: string;
  /** Sent every second. */
  readonly then?: string;
}

/** How long the server keeps a connection, ms. */
async function keptFor({ port, protocol, first, then }: SlowSender & { port: number }): Promise<number> {
  const connection = openRaw(port, protocol);
  const begin = performance.now();
  connection.send(first);
  const dripping = setInterval(() => then !== undefined && connection.send(then), 1_000);
  await Promise.race([connection.closed, new Promise((resolve) => setTimeout(resolve, SLOW.mostMs))]);
  clearInterval(dripping);
  connection.socket.destroy();
  return performance.now() - begin;
}
