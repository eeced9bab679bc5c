import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProbeResult } from '../../api/agent/report.ts';
import { systemClock } from '../../runtime/process/clock.ts';
import { startLocalServer, type LocalServer } from '../../runtime/testing/localServer.ts';
import { probeHttp } from './http/urlProbes.ts';
import { probeResult } from './http/probeTimes.ts';
import { firstDelayMs, nextDelayMs, retryDelayMs } from './spread.ts';

describe('probeResult', () => {
  it('splits the time of a request into its parts', () => {
    const times = { start: 0, lookedUp: 2.9, connected: 5, requestSent: 6, firstByte: 16, end: 20.5, status: 200 };
    expect(probeResult('u', times)).toEqual({
      URL: 'u',
      ConnectionResult: 1,
      HTTPCode: 200,
      Total: 20,
      ContentTransfer: 4,
      TCPConnection: 2,
      DNSLookup: 2,
      Connect: 5,
      ServerProcessing: 10,
    });
  });

  it('has only a total without a connection', () => {
    expect(probeResult('u', { start: 0, lookedUp: 3, end: 9 })).toMatchObject({
      ConnectionResult: 0,
      HTTPCode: 0,
      Total: 9,
      DNSLookup: 0,
      Connect: 0,
    });
  });

  it('has 0 for what did not happen: no lookup of an address, no response', () => {
    expect(probeResult('u', { start: 0, connected: 3, requestSent: 4, end: 9 })).toMatchObject({
      ConnectionResult: 1,
      TCPConnection: 3,
      DNSLookup: 0,
      ServerProcessing: 0,
      ContentTransfer: 0,
    });
  });
});

describe('nextDelayMs', () => {
  it('is from half an interval to one and a half, and ends at the moment of the pod', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }),
        fc.integer({ min: 2, max: 3_600 }),
        fc.nat(2 ** 40),
        (pod, seconds, now) => {
          const intervalMs = seconds * 1_000;
          const delay = nextDelayMs(pod, intervalMs, now);
          expect(delay).toBeGreaterThanOrEqual(intervalMs / 2);
          expect(delay).toBeLessThan(intervalMs * 1.5);
          expect(nextDelayMs(pod, intervalMs, now + delay)).toBe(intervalMs);
        },
      ),
    );
  });

  it('spreads pods over the interval, and first reports over 5 s', () => {
    const pods = Array.from({ length: 1_000 }, (_, n) => `netchecker-agent-${n}`);
    const tenths = new Set(pods.map((pod) => Math.floor(nextDelayMs(pod, 60_000, 0) / 6_000)));
    expect(tenths.size).toBe(10);
    const first = pods.map((pod) => firstDelayMs(pod, 60_000));
    expect(Math.min(...first)).toBeLessThan(100);
    expect(Math.max(...first)).toBeLessThan(5_000);
  });
});

describe('retryDelayMs', () => {
  it('doubles from about 2 s, up to the time of the next report', () => {
    const delays = [1, 2, 3, 4, 9].map((failures) => retryDelayMs('a', failures, 30_000));
    const [first = 0] = delays;
    expect(first).toBeGreaterThanOrEqual(1_000);
    expect(first).toBeLessThan(3_000);
    expect(delays).toEqual([first, 2 * first, 4 * first, 8 * first, 30_000]);
  });
});

describe('probeHttp', () => {
  let server: LocalServer;
  const probe = async (path: string, timeoutMs = 20_000): Promise<ProbeResult> => {
    const probed = await probeHttp('shown', new URL(path, server.url), {
      clock: systemClock,
      timeoutMs,
      rule: () => undefined,
    });
    if ('refused' in probed) throw new Error(`refused: ${probed.refused.address}`);
    return probed.result;
  };

  beforeEach(async () => {
    server = await startLocalServer((request, reply) => {
      if (request.path === '/moved') reply.json(302, {}, { location: '/here' });
      else if (request.path === '/round') reply.json(302, {}, { location: '/round' });
      else if (request.path === '/reset') reply.reset();
      else reply.json(request.path === '/here' ? 200 : 404, {});
    });
  });
  afterEach(() => server.close());

  it.each([
    ['/here', 200],
    ['/nowhere', 404],
    ['/moved', 200],
    ['/round', 302],
    ['/reset', 0],
  ])('of %s connects and has the code %i', async (path, HTTPCode) => {
    expect(await probe(path)).toMatchObject({ URL: 'shown', ConnectionResult: 1, HTTPCode });
  });

  it('follows at most ten redirects, each on a connection of its own', async () => {
    await probe('/round');
    expect([server.requests.length, server.connections]).toEqual([11, 11]);
  });

  it('is no connection if nobody listens', async () => {
    await server.close();
    expect(await probe('/')).toMatchObject({ ConnectionResult: 0, HTTPCode: 0 });
    server = await startLocalServer(() => undefined);
  });

  it('ends at its deadline if there is no answer', async () => {
    server.handler = () => undefined;
    const result = await probe('/', 300);
    expect(result).toMatchObject({ ConnectionResult: 1, HTTPCode: 0, ServerProcessing: 0 });
    expect(result.Total).toBeGreaterThanOrEqual(290);
  });
});
