import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../../runtime/process/clock.ts';
import { listen } from '../listener.ts';
import { turnIntoReply } from '../udp/datagram.ts';
import { numbersOnly } from '../udp/echoSocket.ts';
import { Heard } from '../udp/heard.ts';
import { headerBytes, probePeer, type PeerProbeOptions } from './peerProbe.ts';
import { probeSchedule } from './schedule.ts';

/** An agent probes the real listener of another agent, on loopback. */
const HAS_IPV6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
const FAMILIES = ['127.0.0.1', ...(HAS_IPV6 ? ['::1'] : [])];
/** Loopback has an MTU of 65,536, and the length of a packet has 16 bits. */
const LARGEST = 65_535;
/** No times that matter: where all is echoed, the probe ends then, however long this process is held up. */
const PATIENT = { ...probeSchedule(10_000, 1), tcpMs: 600_000, echoWaitMs: 600_000, mtuStepMs: 600_000 };
/** Where nothing is echoed. */
const SHORT = { ...PATIENT, gapMs: 0, echoWaitMs: 1 };

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
  const o = { nodeName: 'n1', mtu: true, schedule: PATIENT, clock: systemClock, signal: new AbortController().signal };
  return probePeer({ node: 'n2', address, port }, { ...o, ...change });
}

describe.each(FAMILIES)('a peer at %s', (address) => {
  it('is reached by HTTP over TCP and by 20 datagrams, and packets of the size of the interface pass', async () => {
    await startPeer();
    expect(await probe(address)).toEqual({
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
    const { udp, mtu } = await probe(address, { mtu: false });
    expect([udp.received, mtu]).toEqual([20, undefined]);
    expect(heard.take()).toEqual({ n1: 20 });
  });

  it('that does not run refuses TCP and echoes nothing', async () => {
    const { tcp, udp, mtu } = await probe(address, { schedule: SHORT });
    expect(tcp).toEqual({ ok: false, error: 'Refused' });
    expect([udp.sent, udp.received, mtu]).toEqual([20, 0, undefined]);
  });

  it('that answers TCP with an error, and no UDP, fails by both', async () => {
    const server = createServer((_, response) => response.writeHead(503).end());
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    const { tcp, udp } = await probe(address, { schedule: SHORT });
    expect([tcp, udp.received]).toEqual([{ ok: false, error: 'Other' }, 0]);
    server.close();
  });
});

describe('a peer whose echoes come late', () => {
  const servers: { close(): unknown }[] = [];
  /** Sends the echoes, and the answer by TCP: both are received by the system when these return, and read later. */
  let echoAll: () => void;
  let answer: () => void;
  let hasAll: Promise<unknown>;
  let hasAnswered: Promise<unknown>;

  beforeEach(async () => {
    // Without a lookup, a socket sends at once.
    const echo = createSocket({ type: 'udp4', lookup: numbersOnly });
    const server = createServer();
    const requested = once(server, 'request').then(([, response]) => {
      answer = () => void (response as ServerResponse).end();
    });
    const echoed = new Promise<void>((resolve) => {
      const held: (() => void)[] = [];
      echoAll = () => held.forEach((send) => send());
      echo.on('message', (datagram, { port: to }) => {
        turnIntoReply(datagram);
        held.push(() => echo.send(datagram, to, '127.0.0.1'));
        if (held.length === 20) resolve();
      });
    });
    hasAll = Promise.all([requested, echoed]);
    // The client closes the connection when it has read the answer.
    hasAnswered = once(server, 'connection').then(([socket]) => once(socket as Socket, 'close'));
    servers.push(echo, server);
    await new Promise<void>((resolve) => echo.bind(port, '127.0.0.1', resolve));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  });
  afterEach(() => servers.splice(0).forEach((one) => one.close()));

  const soon = (steps: readonly (() => void)[]): void => void setTimeout(() => steps.forEach((step) => step()), 20);

  it.each<[string, () => unknown]>([
    ['before it answers by TCP', () => soon([echoAll, answer])],
    ['together with its answer by TCP', () => soon([answer, echoAll])],
    ['in time, but are read after the wait, by a process that was held up', () => answerFirst().then(echoAll)],
  ])('has echoed all, if they come %s', async (_, whenWaitEnds) => {
    // No test of speed: the wait ends when the peer has all requests.
    const sleep: Clock['sleep'] = async (ms, signal) => {
      if (ms !== PATIENT.echoWaitMs) return systemClock.sleep(0, signal);
      await hasAll;
      await whenWaitEnds();
    };
    const { tcp, udp } = await probe('127.0.0.1', { mtu: false, clock: { ...systemClock, sleep } });
    expect([tcp.ok, udp.sent, udp.received]).toEqual([true, 20, 20]);
  });

  it('has answered by TCP, if the answer came in time and is read after the time limit', async () => {
    let expire = (): void => undefined;
    const clock: Clock = {
      ...systemClock,
      setTimeout(fn) {
        expire = fn;
        return { cancel: () => undefined };
      },
    };
    void hasAll.then(() => setTimeout(() => [echoAll, answer, expire].forEach((step) => step()), 0));
    expect((await probe('127.0.0.1', { mtu: false, clock })).tcp).toMatchObject({ ok: true });
  });

  function answerFirst(): Promise<unknown> {
    answer();
    return hasAnswered;
  }
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
