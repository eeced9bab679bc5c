import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../runtime/process/clock.ts';
import { listen } from '../listener.ts';
import { turnIntoReply } from '../udp/datagram.ts';
import { Heard } from '../udp/heard.ts';
import { headerBytes, probePeer, type PeerProbeOptions } from './peerProbe.ts';
import { probeSchedule } from './schedule.ts';

/** An agent probes the real listener of another agent, on loopback. */
const HAS_IPV6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
const FAMILIES = ['127.0.0.1', ...(HAS_IPV6 ? ['::1'] : [])];
/** Loopback has an MTU of 65,536, and the length of a packet has 16 bits. */
const LARGEST = 65_535;
/** Where all is echoed, the probe ends then: this process may be held up meanwhile. */
const PATIENT = { ...probeSchedule(10_000, 1), tcpMs: 20_000, echoWaitMs: 10_000, mtuStepMs: 3_000 };

let port: number;
let heard: Heard;
let stop: AbortController;

beforeEach(async () => {
  port = await freePort();
  heard = new Heard();
  stop = new AbortController();
});
afterEach(() => stop.abort());

async function startPeer(): Promise<void> {
  const metrics = { status: 200, text: '' };
  const logger = pino({ level: 'silent' });
  await listen({ port, nodeName: 'n2', heard, metrics: () => metrics, clock: systemClock, logger }, stop.signal);
}

/** Probes n2 from n1. */
function probe(address: string, change: Partial<PeerProbeOptions> = {}) {
  const schedule = probeSchedule(10_000, 1);
  const o = { nodeName: 'n1', mtu: true, schedule, clock: systemClock, signal: new AbortController().signal };
  return probePeer({ node: 'n2', address, port }, { ...o, ...change });
}

describe.each(FAMILIES)('a peer at %s', (address) => {
  it('is reached by HTTP over TCP and by 20 datagrams, and packets of the size of the interface pass', async () => {
    await startPeer();
    expect(await probe(address, { schedule: PATIENT })).toEqual({
      node: 'n2',
      address,
      tcp: { ok: true, ms: expect.any(Number) as number },
      udp: { sent: 20, received: 20, ms: expect.any(Number) as number },
      mtu: { interface: LARGEST, largest: LARGEST },
    });
    // The 20 small ones, and up to three of the size of the interface: until one is echoed.
    expect(heard.take().n1).toBeOneOf([21, 22, 23]);
  });

  it('is probed without a search for the MTU, if no check asks for it', async () => {
    await startPeer();
    const { udp, mtu } = await probe(address, { mtu: false, schedule: PATIENT });
    expect([udp.received, mtu]).toEqual([20, undefined]);
    expect(heard.take()).toEqual({ n1: 20 });
  });

  it('that does not run refuses TCP and echoes nothing', async () => {
    const { tcp, udp, mtu } = await probe(address);
    expect(tcp).toEqual({ ok: false, error: 'Refused' });
    expect([udp.sent, udp.received, mtu]).toEqual([20, 0, undefined]);
  });

  it('that answers TCP with an error, and no UDP, fails by both', async () => {
    const server = createServer((_, response) => response.writeHead(503).end());
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    const { tcp, udp } = await probe(address);
    expect([tcp, udp.received]).toEqual([{ ok: false, error: 'Other' }, 0]);
    server.close();
  });
});

it('counts echoes that come after the wait as echoed, while the peer has not answered by TCP', async () => {
  const waitMs = 100;
  const [held, echo] = [[] as (() => void)[], createSocket('udp4')];
  echo.on('message', (datagram, { port: to }) => {
    turnIntoReply(datagram);
    held.push(() => echo.send(datagram, to, '127.0.0.1'));
    if (held.length === 20) setTimeout(() => held.forEach((answer) => answer()), 3 * waitMs);
  });
  await new Promise<void>((resolve) => echo.bind(port, '127.0.0.1', resolve));
  const server = createServer((_, response) => setTimeout(() => response.end(), 6 * waitMs));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { tcp, udp } = await probe('127.0.0.1', { schedule: { ...PATIENT, echoWaitMs: waitMs } });
  expect([tcp.ok, udp.sent, udp.received]).toEqual([true, 20, 20]);
  expect(udp.ms).toBeGreaterThan(waitMs);
  echo.close();
  server.close();
});

it.each([
  ['198.18.0.1', 28],
  ['fd00::1', 48],
  ['fe80::1%eth0', 48],
])(
  'a datagram to %s has %i bytes of headers: with more payload, the system would split the largest',
  (address, bytes) => {
    expect(headerBytes(address)).toBe(bytes);
  },
);

function freePort(): Promise<number> {
  const server = createTcpServer();
  return new Promise((resolve) => {
    server.listen(0, () => {
      const { port: free } = server.address() as AddressInfo;
      server.close(() => resolve(free));
    });
  });
}
