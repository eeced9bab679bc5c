import { createSocket, type Socket } from 'node:dgram';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TargetResult } from '../../protocol/measurement.ts';
import { FakeClock, systemClock, type Clock } from '../../../runtime/process/clock.ts';
import { dnsQuestion } from './dnsMessage.ts';
import { probeDnsTcp, probeDnsUdp } from './dnsProbe.ts';

/** The probes ask a DNS server on loopback, by UDP and by TCP. */
const HAS_IPV6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
const FAMILIES: readonly (readonly [address: string, shown: string])[] = [
  ['127.0.0.1', '127.0.0.1'],
  ...(HAS_IPV6 ? [['::1', '[::1]'] as const] : []),
];
const NAME = 'kubernetes.default.svc.cluster.local';
const [NOERROR, SERVFAIL] = [0x8180, 0x8182];
const IS_OK = { ok: true, ms: expect.any(Number) as number };

/** The flags of the answers; undefined: silence. */
let flags: number | undefined;
/** Called for each question by UDP. It is ignored if this returns true. */
let loses: () => boolean;
let udp: Socket;
let tcp: Server;
let port: number;

/** The answer to a question, which the server checks byte by byte but for its identifier. */
function answerTo(question: Buffer): Buffer | undefined {
  const expected = dnsQuestion(question.readUInt16BE(0), NAME);
  if (flags === undefined || !question.equals(expected)) return undefined;
  const answer = Buffer.from(question);
  answer.writeUInt16BE(flags, 2);
  return answer;
}

async function serve(address: string): Promise<void> {
  tcp = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      const answer = data.readUInt16BE(0) === data.length - 2 ? answerTo(data.subarray(2)) : undefined;
      // In two parts, as TCP may deliver it.
      if (answer !== undefined) socket.write(data.subarray(0, 2), () => socket.write(answer));
    });
  });
  await new Promise<void>((resolve) => tcp.listen(0, address, resolve));
  ({ port } = tcp.address() as AddressInfo);
  udp = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  udp.on('message', (data, from) => {
    const answer = loses() ? undefined : answerTo(data);
    if (answer !== undefined) udp.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve) => udp.bind(port, address, resolve));
}

async function ask(server: string, timeoutMs: number, clock: Clock = systemClock): Promise<TargetResult[]> {
  const o = { timeoutMs, clock, signal: new AbortController().signal, port };
  const dns = { server, name: NAME };
  return Promise.all([probeDnsUdp(dns, o), probeDnsTcp(dns, o)]);
}

describe.each(FAMILIES)('the DNS at %s', (address, shown) => {
  const results = (ofUdp: object, ofTcp: object): object[] => [
    { target: 'DNSUDP', address: `${shown}:${port}`, ...ofUdp },
    { target: 'DNSTCP', address: `${shown}:${port}`, ...ofTcp },
  ];

  beforeEach(async () => {
    [flags, loses] = [NOERROR, () => false];
    await serve(address);
  });
  afterEach(() => {
    udp.close();
    tcp.close();
  });

  it('is asked over UDP and TCP', async () => {
    expect(await ask(address, 20_000)).toEqual(results(IS_OK, IS_OK));
  });

  it('is asked again over UDP, since a lost packet is no silent DNS', { timeout: 30_000 }, async () => {
    const clock = new FakeClock();
    let questions = 0;
    loses = () => {
      questions += 1;
      if (questions < 3) void clock.advance(20_000 / 3);
      return questions < 3;
    };
    expect(await ask(address, 20_000, clock)).toEqual(results(IS_OK, IS_OK));
    expect(questions).toBe(3);
  });

  it('that is silent has not answered in time, by either', async () => {
    flags = undefined;
    const timeout = { ok: false, error: 'Timeout' };
    expect(await ask(address, 300)).toEqual(results(timeout, timeout));
  });

  it('that fails has not answered, by either', async () => {
    flags = SERVFAIL;
    const other = { ok: false, error: 'Other' };
    expect(await ask(address, 20_000)).toEqual(results(other, other));
  });

  it('of which only UDP works is said so', async () => {
    await new Promise((resolve) => tcp.close(resolve));
    expect(await ask(address, 20_000)).toEqual(results(IS_OK, { ok: false, error: 'Refused' }));
  });
});
