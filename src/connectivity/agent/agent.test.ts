import { createSocket } from 'node:dgram';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cidr, hostAndPort } from '../../options/connectivityValues.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import { createLogger } from '../../runtime/process/logger.ts';
import { startLocalServer, type LocalServer } from '../../runtime/testing/localServer.ts';
import type { Measurement } from '../protocol/measurement.ts';
import { runAgent, type AgentOptions } from './agent.ts';
import { probeDatagram } from './udp/datagram.ts';

/** Without an address: nothing is probed. */
const PEERS = [{ node: 'peer', addresses: [], port: 1 }];
let port: number;

/** The connectivity server, which assigns a URL on loopback. */
let server: LocalServer;
let url: string;
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  stop = new AbortController();
  server = await startLocalServer((_, reply) => {
    reply.json(200, { peers: PEERS, probes: { dns: false, apiServer: false, mtu: false }, urls: [url] });
  });
  url = `${server.url}/assigned`;
});
afterEach(async () => {
  stop.abort();
  await running;
  await server.close();
});

interface Sent {
  readonly network_probes: readonly { readonly URL: string }[];
  readonly connectivity: Measurement;
}

const reports = (): Sent[] =>
  server.requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body) as Sent);
const whenReported = (times: number) => expect.poll(() => reports().length, { timeout: 30_000 }).toBeGreaterThan(times);

/** The first report after the assignment of an agent that may request these ranges. */
async function report(...allowed: string[]): Promise<Sent> {
  port = await freePort();
  const options: AgentOptions = {
    identity: { podName: 'a', nodeName: 'n', intervalSeconds: 2, zeros: 0 },
    server: hostAndPort.schema.parse(new URL(server.url).host),
    probeUrls: [],
    allowedTargets: allowed.map((text) => cidr.schema.parse(text)),
    ...{ plane: 'Host', peerPort: port, apiServer: undefined, apiCaFile: undefined },
    ...{ serverCaFile: undefined, tokenFile: undefined, clock: systemClock, logger: createLogger('silent') },
  };
  running = runAgent(options, stop.signal);
  await whenReported(1);
  return reports()[1]!;
}

const assigned = (): number => server.requests.filter(({ path }) => path === '/assigned').length;
const probed = ({ network_probes: probes }: Sent): string[] => probes.map(({ URL: text }) => text);

it('an agent reports an assigned URL that it refuses, and no result of it', async () => {
  const sent = await report();
  expect(sent.connectivity.refused).toEqual([{ url, address: '127.0.0.1', reason: 'Loopback' }]);
  expect(probed(sent)).toEqual([`${server.url}/api/v1/ping`]);
  expect(assigned()).toBe(0);
});

it('an agent requests an assigned URL whose address is allowed', async () => {
  const sent = await report('127.0.0.1/32');
  expect(sent.connectivity).not.toHaveProperty('refused');
  expect(probed(sent)).toContain(url);
  expect(assigned()).toBeGreaterThan(0);
});

it('an agent reports that it heard an assigned peer, whatever names were made up before', async () => {
  await report();
  const before = reports().length;
  const socket = createSocket('udp4');
  for (const name of [...Array.from({ length: 200 }, (_, n) => `n${n}`), 'peer']) {
    const echo = new Promise((resolve) => socket.once('message', resolve));
    socket.send(probeDatagram(name, Buffer.alloc(8), 0), port, '127.0.0.1');
    await echo;
  }
  socket.close();
  await whenReported(before + 1);
  expect(reports().map(({ connectivity }) => connectivity.heard)).toContainEqual(expect.objectContaining({ peer: 1 }));
});

function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.listen(0, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
