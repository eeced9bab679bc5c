import { createSocket, type Socket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import { FakeClock, systemClock, type Clock } from '../../../runtime/process/clock.ts';
import { createAuthority } from '../../../runtime/testing/certificates.ts';
import { startLocalServer, type LocalServer } from '../../../runtime/testing/localServer.ts';
import type { ProbeError, TargetResult } from '../../protocol/measurement.ts';
import { numbersOnly } from '../udp/echoSocket.ts';
import { dnsQuestion } from './dnsMessage.ts';
import { apiServerOf, probeDnsTcp, probeDnsUdp, Targets } from './targets.ts';

const [own, other] = [createAuthority('own'), createAuthority('other')];
const directory = mkdtempSync(join(tmpdir(), 'targets-'));
const fileOf = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
const CA = fileOf('own.crt', own.cert);
const OTHER_CA = fileOf('other.crt', other.cert);
const ONLY_API_SERVER = { dns: false, apiServer: true, mtu: false };

let server: LocalServer;
let address: string;

beforeEach(async () => {
  server = await startLocalServer((_, reply) => reply.json(200, {}), { tls: own.issue('apiserver'), http1Only: true });
  address = new URL(server.url).host;
});
afterEach(() => server.close());
afterAll(() => rmSync(directory, { recursive: true }));

interface Given {
  readonly apiCaFile?: string;
  readonly apiServer?: string | undefined;
  readonly plane?: Plane;
  readonly timeoutMs?: number;
}

function probe({ apiCaFile, plane = 'Pod', timeoutMs = 20_000, ...rest }: Given = {}, probes = ONLY_API_SERVER) {
  const apiServer = 'apiServer' in rest ? rest.apiServer : address;
  const o = { plane, apiServer, apiCaFile, clock: systemClock, logger: pino({ level: 'silent' }) };
  return new Targets(o).probe(probes, timeoutMs, new AbortController().signal);
}

const works = (): TargetResult => ({ target: 'APIServer', address, ok: true, ms: expect.any(Number) as number });
const fails = (error: ProbeError): TargetResult => ({ target: 'APIServer', address, ok: false, error });

describe('the Service of the API server', () => {
  it('is named by the variables that the kubelet gives every pod', () => {
    const env = (host: string) => ({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: '443' });
    expect(apiServerOf(env('198.18.64.1'))).toBe('198.18.64.1:443');
    expect(apiServerOf(env('fd00::1'))).toBe('[fd00::1]:443');
    expect(apiServerOf({})).toBeUndefined();
  });

  it('is asked over TLS, without credentials', async () => {
    expect(await probe({ apiCaFile: CA })).toEqual([works()]);
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([['/livez', undefined]]);
  });

  it.each([401, 403, 500])('works also if it answers with the status %i, since the network works', async (status) => {
    server.handler = (_, reply) => reply.json(status, {});
    expect(await probe({ apiCaFile: CA })).toEqual([works()]);
  });

  it('does not answer if another CA signed its certificate: another server has the address', async () => {
    expect(await probe({ apiCaFile: OTHER_CA })).toEqual([fails('Other')]);
  });

  it('answers with any certificate, if no CA is known', async () => {
    expect(await probe()).toEqual([works()]);
  });

  it('that is silent has not answered in time', async () => {
    server.handler = () => undefined;
    expect(await probe({ apiCaFile: CA, timeoutMs: 300 })).toEqual([fails('Timeout')]);
  });

  it('that does not listen refuses', async () => {
    await server.close();
    expect(await probe({ apiCaFile: CA })).toEqual([fails('Refused')]);
  });

  it.each<[string, Given, typeof ONLY_API_SERVER]>([
    ['outside of a cluster', { apiServer: undefined, apiCaFile: CA }, ONLY_API_SERVER],
    ['if the file of its CA cannot be read', { apiCaFile: join(directory, 'none') }, ONLY_API_SERVER],
    ['if no check asks for it', { apiCaFile: CA }, { ...ONLY_API_SERVER, apiServer: false }],
  ])('has no result %s', async (_why, given, probes) => {
    expect(await probe(given, probes)).toEqual([]);
    expect(server.requests).toEqual([]);
  });
});

describe('probes of the DNS', () => {
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
    // Without a lookup, it sends at once.
    udp = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', lookup: numbersOnly });
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

    it('has answered if the answer over UDP came in time, and is read after the last wait', async () => {
      loses = () => true;
      let [questions, waits] = [0, 0];
      const third = new Promise<() => void>((resolve) => {
        udp.on('message', (data, { port: to, address: from }) => {
          questions += 1;
          if (questions === 3) resolve(() => udp.send(answerTo(data)!, to, from));
        });
      });
      const sleep = async (): Promise<void> => {
        waits += 1;
        if (waits === 3) (await third)();
      };
      const [ofUdp] = await ask(address, 20_000, { ...systemClock, sleep });
      expect(ofUdp).toMatchObject({ target: 'DNSUDP', ...IS_OK });
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
});
