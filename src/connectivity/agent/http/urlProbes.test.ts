import type { LookupAddress } from 'node:dns';
import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cidr, hostAndPort, probeUrlOf } from '../../../options/connectivityValues.ts';
import { systemClock } from '../../../runtime/process/clock.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { NameLookup } from '../../../runtime/process/nameLookup.ts';
import { startLocalServer, type LocalServer } from '../../../runtime/testing/localServer.ts';
import { ownAddresses, UrlProbes } from './urlProbes.ts';

/** A server on loopback, as a node has many, and the names that lead to it. */
let secret: LocalServer;
let port: string;
let answers: Record<string, readonly string[][]>;
let asked: string[];
let log: string[];
const signal = new AbortController().signal;
const PING = '/api/v1/ping';

beforeEach(async () => {
  [answers, asked, log] = [{}, [], []];
  secret = await startLocalServer(({ path, query }, reply) => {
    const to = query.get('to');
    if (path === '/go' && to !== null) reply.json(302, {}, { location: to });
    else reply.json(200, {});
  });
  port = new URL(secret.url).port;
});
afterEach(() => secret.close());

/** An answer after the other; the last one again and again. */
function ask(host: string): Promise<LookupAddress[]> {
  const all = answers[host] ?? [];
  const answer = all[Math.min(asked.filter((each) => each === host).length, all.length - 1)] ?? [];
  asked.push(host);
  return Promise.resolve(answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
}

function probes(allowed: readonly string[] = [], own: readonly string[] = []): UrlProbes {
  return new UrlProbes({
    server: hostAndPort.schema.parse(`127.0.0.1:${port}`),
    serverCaFile: undefined,
    probeUrls: own.map((text) => probeUrlOf(text)!),
    allowedTargets: allowed.map((text) => cidr.schema.parse(text)),
    names: new NameLookup(systemClock, ask),
    clock: systemClock,
    logger: createLogger('warn', { write: (line) => void log.push(line) }),
  });
}

/** Probes assigned URLs. @returns the refused URLs, the codes of the other URLs, and the requests except the server's ping */
async function probe(urls: readonly string[], with_ = probes()) {
  const { results, refused } = await with_.probe(urls, 5_000, signal);
  const codes = results.filter(({ URL: url }) => !url.endsWith(PING)).map(({ HTTPCode }) => HTTPCode);
  const requests = secret.requests.filter(({ path }) => path !== PING).map(({ url }) => url);
  return { refused: refused.map(({ address, reason }) => `${reason} ${address}`), codes, requests };
}

describe('an assigned URL', () => {
  it.each([
    ['127.0.0.1', 'Loopback 127.0.0.1'],
    ['127.1', 'Loopback 127.0.0.1'],
    ['2130706433', 'Loopback 127.0.0.1'],
    ['0x7f.0.0.1', 'Loopback 127.0.0.1'],
    ['017700000001', 'Loopback 127.0.0.1'],
    ['127.0.0.1.', 'Loopback 127.0.0.1'],
    ['１２7。0.0.1', 'Loopback 127.0.0.1'],
    ['0', 'Unspecified 0.0.0.0'],
    ['[::ffff:127.0.0.1]', 'Loopback ::ffff:7f00:1'],
    ['[::ffff:7f00:1]', 'Loopback ::ffff:7f00:1'],
    ['[::1]', 'Loopback ::1'],
    ['[::]', 'Unspecified ::'],
    ['[64:ff9b::169.254.169.254]', 'LinkLocal 64:ff9b::a9fe:a9fe'],
  ])('does not reach the node by %s', async (host, reason) => {
    const url = `http://${host}:${port}/x`;
    expect(await probe([url])).toEqual({ refused: [reason], codes: [], requests: [] });
  });

  it('does not reach the node by its own addresses', async () => {
    const own = Object.values(networkInterfaces()).flatMap((all = []) => all.filter(({ internal }) => !internal));
    const urls = own.filter(({ family }) => family === 'IPv4').map(({ address }) => `http://${address}:${port}/x`);
    const { refused, codes } = await probe(urls);
    expect([refused, codes]).toEqual([urls.map((url) => `OwnAddress ${new URL(url).hostname}`), []]);
  });

  it('reaches the Services whose addresses kube-proxy gives to an interface', () => {
    const on = (address: string) => [
      { address, netmask: '', family: 'IPv4' as const, mac: '', internal: false, cidr: null },
    ];
    expect(ownAddresses({ eth0: on('192.0.2.7'), 'kube-ipvs0': on('10.96.0.10') })).toEqual(['192.0.2.7']);
  });

  it('does not reach the node by a name, whatever else the answer has', async () => {
    answers['a.example'] = [['127.0.0.1']];
    answers['b.example'] = [['::1', '127.0.0.1', '169.254.169.254']];
    const urls = ['a', 'b'].map((name) => `https://${name}.example:${port}/x`);
    const { refused, codes, requests } = await probe(urls);
    expect([refused, codes, requests]).toEqual([['Loopback 127.0.0.1', 'Loopback ::1'], [], []]);
    expect(secret.connections).toBe(1);
  });

  it('connects to the addresses that were checked only, and looks the name up once', async () => {
    // Nobody listens on 127.0.0.9, which the rule allows here: as an address that has nothing to do with the node.
    answers['rebind.example'] = [['127.0.0.9'], ['127.0.0.1']];
    answers['mixed.example'] = [['127.0.0.1', '127.0.0.9']];
    const urls = ['rebind', 'mixed'].map((name) => `http://${name}.example:${port}/x`);
    expect(await probe(urls, probes(['127.0.0.9/32']))).toEqual({ refused: [], codes: [0, 0], requests: [] });
    expect(asked).toEqual(['rebind.example', 'mixed.example']);
  });

  it('reaches an address of the node that is allowed', async () => {
    answers['a.example'] = [['127.0.0.5', '127.0.0.1']];
    const urls = [`http://127.0.0.1:${port}/x`, `http://a.example:${port}/y`];
    const { refused, codes, requests } = await probe(urls, probes(['127.0.0.1/32']));
    expect([refused, codes, requests.sort()]).toEqual([[], [200, 200], ['/x', '/y']]);
  });

  it('fails as before if its name has no address', async () => {
    expect(await probe([`http://none.example:${port}/x`])).toEqual({ refused: [], codes: [0], requests: [] });
  });
});

describe('a redirect', () => {
  const go = (to: string): string => `http://front.example:${port}/go?to=${encodeURIComponent(to)}`;

  it.each([
    ['http://127.0.0.5:10250/x', 'Loopback 127.0.0.5'],
    ['https://127.0.0.5/x', 'Loopback 127.0.0.5'],
    ['//0x7f000005/x', 'Loopback 127.0.0.5'],
    ['http://169.254.169.254/latest/meta-data', 'LinkLocal 169.254.169.254'],
    ['http://inside.example/x', 'Loopback 127.0.0.5'],
  ])('to %s is not followed', async (to, reason) => {
    answers['front.example'] = [['127.0.0.1']];
    answers['inside.example'] = [['127.0.0.5']];
    const { refused, codes } = await probe([go(to)], probes(['127.0.0.1/32']));
    expect([refused, codes]).toEqual([[reason], []]);
  });

  it('is checked again at every step: the name of the first request may lead elsewhere now', async () => {
    answers['front.example'] = [['127.0.0.1'], ['127.0.0.5']];
    const { refused, requests } = await probe([go('/x')], probes(['127.0.0.1/32']));
    expect([refused, requests.length]).toEqual([['Loopback 127.0.0.5'], 1]);
  });

  it.each(['ftp://127.0.0.1/x', 'file:///etc/passwd', 'http://user:password@127.0.0.1/x', 'http://user@127.0.0.1/x'])(
    'to %s is not followed, and is the result',
    async (to) => {
      answers['front.example'] = [['127.0.0.1']];
      const { refused, codes, requests } = await probe([go(to)], probes(['127.0.0.1/32']));
      expect([refused, codes, requests.length]).toEqual([[], [302], 1]);
    },
  );
});

describe('a URL of the owner of the agent', () => {
  it('reaches the node even if a check also has it; its redirect does not', async () => {
    const url = `http://127.0.0.1:${port}/x`;
    const moved = `http://127.0.0.1:${port}/go?to=%2Fx`;
    const { refused, codes, requests } = await probe([url], probes([], [url, moved]));
    expect([refused, codes]).toEqual([['Loopback 127.0.0.1'], [200]]);
    expect(requests).toHaveLength(2);
  });
});

it('logs which URLs are refused, once, as long as they are the same', async () => {
  const one = probes();
  const url = `http://169.254.169.254/`;
  await probe([url], one);
  await probe([url], one);
  const refused = [{ url, address: '169.254.169.254', reason: 'LinkLocal' }];
  expect(log.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ level: 'warn', refused }]);
});
