import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { exchange, openRaw } from '../../../src/runtime/testing/rawHttp.ts';
import { DEBUGGED, residentAfterCollection } from '../../harness/heap.ts';
import { withNodeOptions } from '../../harness/nodeOptions.ts';
import { SLACK } from '../../harness/slack.ts';
import { useConnectedPlane } from '../connectedPlane.ts';
import { hostileClients } from '../hostileBytes.ts';
import { startServer, type ConnectivityServer } from './world.ts';

const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_125);
const COUNT = 500;
/** The memory for clients that are still connected: mostly eight answers of 8 MB. */
const GROWTH = 100 * 2 ** 20;
const BODY = JSON.stringify({ report_interval: 60, nodename: '', podname: 'good' });

const scene = useConnectedPlane();
let server: ConnectivityServer;

beforeAll(async () => {
  server = await withNodeOptions(DEBUGGED, () => startServer(scene.plane.kubeconfig, ['-allow-anonymous']));
});
afterAll(() => server.kill());

it(`a good report succeeds after ${COUNT} hostile requests, and memory is bounded (seed ${SEED})`, async () => {
  const before = await residentAfterCollection(server);
  const open = hostileClients('tcp', SEED, COUNT).map(({ bytes }, index) => {
    const connection = openRaw(server.port);
    connection.send(bytes);
    // A body of a report that does not end, and one with a token that is none.
    if (index % 5 === 0) {
      const header = index % 2 === 0 ? 'Authorization: Bearer a.b.c\r\n' : '';
      connection.send(`POST /api/v1/agents/p${index} HTTP/1.1\r\nHost: x\r\n${header}Content-Length: 60000\r\n\r\n{"`);
    }
    return connection;
  });
  const init = { method: 'POST', body: BODY };
  expect(await server.ask('/api/v1/agents/good', init)).toMatchObject({ status: 200 });
  expect((await residentAfterCollection(server)) - before).toBeLessThan(GROWTH);
  for (const { socket } of open) socket.destroy();
});

it('slow headers and slow bodies are cut off, and a good report is answered meanwhile', async () => {
  const before = await residentAfterCollection(server);
  const heads = [
    'POST /api/v1/agents/slow HTTP/1.1\r\nHost: x\r\nX-Slow: ',
    'POST /api/v1/agents/slow HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n{"',
  ];
  const ages = Array.from({ length: 200 }, async (_, n) => {
    const connection = openRaw(server.port);
    const from = performance.now();
    connection.send(heads[n % 2]!.replace('slow', `slow-${n}`));
    const drip = setInterval(() => connection.send('x'), 500);
    await connection.closed;
    clearInterval(drip);
    return performance.now() - from;
  });
  for (let n = 0; n < 3; n++) {
    const from = performance.now();
    const body = JSON.stringify({ report_interval: 60, nodename: '', podname: `quick-${n}` });
    expect(await server.ask(`/api/v1/agents/quick-${n}`, { method: 'POST', body })).toMatchObject({ status: 200 });
    expect(performance.now() - from).toBeLessThan(SLACK * 2_000);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
  }
  // The limits are 10 s for headers and 20 s for a request, looked at every second. The defaults of Node.js are a minute and five.
  expect(Math.max(...(await Promise.all(ages)))).toBeLessThan(45_000);
  expect((await residentAfterCollection(server)) - before).toBeLessThan(GROWTH);
});

it('a refused report is answered before its body comes', async () => {
  const head = 'POST /api/v1/agents/a HTTP/1.1\r\nHost: x\r\nAuthorization: Basic x\r\nContent-Length: 60000\r\n\r\n';
  expect(await exchange(server.port, head)).toMatch(/^HTTP\/1.1 401 /);
});

describe('slow readers of long answers', () => {
  const AGENTS = 800;
  const READERS = 200;
  const refused = (): Promise<number | undefined> =>
    server.series('traffic_operator_http_requests_failed_total{server="connectivity server",reason="busy"}');

  beforeAll(async () => {
    const ips = { eth0: Array.from({ length: 1_000 }, (_, n) => `198.18.${n % 256}.0/24`) };
    const times = { Total: 5, ContentTransfer: 1, TCPConnection: 1, DNSLookup: 1, Connect: 2, ServerProcessing: 1 };
    const urls = Array.from({ length: 20 }, (_, n) => ({
      URL: `http://198.18.0.1/${n}/${'x'.repeat(500)}`,
      ConnectionResult: 1,
      HTTPCode: 200,
      ...times,
    }));
    for (let n = 0; n < AGENTS; n += 1) {
      const podname = `many-${n}`;
      const body = JSON.stringify({ report_interval: 60, nodename: `n${n}`, podname, ips, network_probes: urls });
      expect(await server.ask(`/api/v1/agents/${podname}`, { method: 'POST', body })).toMatchObject({ status: 200 });
    }
  });

  it.each(['/api/v1/agents/', '/metrics'])('of %s are few, occupy little memory, and block nobody', async (path) => {
    // More than the sockets of both ends hold.
    expect((await server.ask(path)).text.length).toBeGreaterThan(6 * 2 ** 20);
    const [before, refusedBefore = 0] = [await residentAfterCollection(server), await refused()];
    const readers = Array.from({ length: READERS }, () => {
      const connection = openRaw(server.port, undefined, '127.0.0.2');
      connection.socket.pause();
      connection.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      return connection;
    });
    // Half of the eight answers that are sent at once go to one address. Metrics are kept for nine times as long as they took to make.
    await vi.waitFor(async () => expect(await refused()).toBe(refusedBefore + READERS - 4), { timeout: 120_000 });
    expect(await server.ask('/api/v1/ping')).toMatchObject({ status: 200 });
    expect(await server.ask(path)).toMatchObject({ status: 200 });
    expect((await residentAfterCollection(server)) - before).toBeLessThan(GROWTH);
    for (const { socket } of readers) socket.destroy();
  });
});
