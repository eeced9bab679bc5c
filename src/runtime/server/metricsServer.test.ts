import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { request as requestHttps } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { pino } from 'pino';
import { Gauge, Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Client } from '../client/client.ts';
import { FakeClock } from '../process/clock.ts';
import { createMetricsServer, type MetricsServer, type SecureOptions } from './metricsServer.ts';
import { createAuthority, type KeyPair } from '../testing/certificates.ts';

const authority = createAuthority('test');
const registry = new Registry();
new Gauge({ name: 'traffic_operator_leader', help: 'h', registers: [registry] }).set(1);

interface Review {
  spec: { token?: string; user?: string; nonResourceAttributes?: object };
}

describe('the metrics server', () => {
  const create = vi.fn<(resource: unknown, review: Review) => Promise<unknown>>();
  const client = { create } as unknown as Client;
  let directory: string;
  let clock: FakeClock;
  let stop: AbortController;
  let running: Promise<unknown> = Promise.resolve();
  let server: MetricsServer;
  const logger = pino({ level: 'silent' });
  const logged = vi.spyOn(logger, 'error');

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'metrics-'));
    clock = new FakeClock();
    stop = new AbortController();
    logged.mockClear();
    create.mockReset().mockImplementation((_resource, { spec }) => Promise.resolve({ status: reviewOf(spec) }));
  });

  afterEach(async () => {
    stop.abort();
    await running;
    await rm(directory, { recursive: true });
  });

  const start = async (secure?: Partial<SecureOptions>): Promise<void> => {
    server = await createMetricsServer({
      address: { host: '127.0.0.1', port: 0 },
      registry,
      metrics: { failed: () => undefined },
      clock,
      logger,
      secure: secure && { certPath: directory, http2: false, client, ...secure },
    });
    running = Promise.all(server.parts.map((part) => part.run(stop.signal)));
    await server.listener.listen();
  };
  const install = async ({ cert, key }: KeyPair): Promise<void> => {
    await writeFile(join(directory, 'tls.crt'), cert);
    await writeFile(join(directory, 'tls.key'), key);
  };
  const get = (token?: string): Promise<{ status: number; text: string }> =>
    getOver(server.listener.port, token === undefined ? {} : { authorization: `Bearer ${token}` });

  it('serves every client over plain HTTP', async () => {
    await start();
    const response = await fetch(`http://127.0.0.1:${server.listener.port}/metrics`);
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(await response.text()).toContain('traffic_operator_leader 1');
    expect((await fetch(`http://127.0.0.1:${server.listener.port}/`)).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${server.listener.port}/metrics`, { method: 'POST' })).status).toBe(405);
  });

  describe('with TLS', () => {
    beforeEach(() => install(authority.issue('first')));

    it('serves a client that the API server authorizes', async () => {
      await start({});
      const { status, text } = await get('good');
      expect([status, text]).toEqual([200, expect.stringContaining('traffic_operator_leader 1')]);
      expect(create.mock.calls[1]![1].spec).toEqual({
        user: 'prometheus',
        groups: ['scrapers'],
        nonResourceAttributes: { path: '/metrics', verb: 'get' },
      });
    });

    it.each([
      ['without a token', undefined, 401],
      ['with an unknown token', 'bad', 401],
      ['without the permission', 'poor', 403],
    ])('rejects a client %s', async (_why, token, status) => {
      await start({});
      expect(await get(token)).toMatchObject({ status, text: expect.not.stringContaining('traffic') as string });
    });

    it('asks the API server again after a minute, or after 10 s for a rejected client', async () => {
      await start({});
      await get('good');
      await get('good');
      expect(create).toHaveBeenCalledTimes(2);
      await get('bad');
      await get('bad');
      expect(create).toHaveBeenCalledTimes(3);
      await clock.advance(10_000);
      await get('bad');
      expect(create).toHaveBeenCalledTimes(4);
      await get('good');
      expect(create).toHaveBeenCalledTimes(4);
      await clock.advance(50_000);
      await get('good');
      expect(create).toHaveBeenCalledTimes(6);
    });

    it('returns busy, and caches nothing, if the API server does not respond', async () => {
      await start({});
      create.mockRejectedValueOnce(new Error('no answer'));
      expect((await get('good')).status).toBe(503);
      expect((await get('good')).status).toBe(200);
    });

    it('logs once why it cannot ask the API server, and again after a success', async () => {
      await start({});
      const failBy = async (message: string): Promise<void> => {
        create.mockRejectedValueOnce(new Error(message));
        expect((await get(message)).status).toBe(503);
      };
      for (const message of ['no', 'no', 'never']) await failBy(message);
      await get('good');
      await failBy('never');
      expect(logged.mock.calls.map(([said]) => (said as { err: Error }).err.message)).toEqual(['no', 'never', 'never']);
    });

    it('sends at most four concurrent reviews', async () => {
      await start({});
      create.mockImplementation(() => new Promise(() => undefined));
      const waiting = ['a', 'b', 'c', 'd'].map((token) => get(token));
      for (const one of waiting) one.catch(() => undefined);
      await vi.waitFor(() => expect(create).toHaveBeenCalledTimes(4));
      expect((await get('good')).status).toBe(503);
    });

    it('uses a renewed certificate, and keeps the old one if the new one is invalid', async () => {
      await start({});
      await writeFile(join(directory, 'tls.key'), 'garbage');
      await clock.advance(10_000);
      expect(await commonName(server.listener.port)).toBe('first');
      await install(authority.issue('second'));
      await vi.waitFor(async () => {
        await clock.advance(10_000);
        expect(await commonName(server.listener.port)).toBe('second');
      });
    });

    it('does not use HTTP/2 by default', async () => {
      await start({});
      await expect(statusOverHttp2(server.listener.port)).rejects.toThrow();
    });

    it('uses HTTP/2 and HTTP/1.1 if HTTP/2 is enabled', async () => {
      await start({ http2: true });
      expect(await statusOverHttp2(server.listener.port)).toBe(200);
      expect((await get('good')).status).toBe(200);
    });
  });

  it.each([
    ['is absent', () => Promise.resolve(), /tls\.crt cannot be read \(ENOENT\)/],
    [
      'is of another key',
      (to: typeof install) => to({ cert: authority.cert, key: authority.issue('x').key }),
      /cannot be used/,
    ],
  ])('reports in one line that the certificate %s', async (_why, prepare, message) => {
    await prepare(install);
    const failure: unknown = await start({}).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'UsageError', message: expect.stringMatching(message) as string });
    expect((failure as Error).message).toContain(`--metrics-cert-path=${directory}`);
    expect((failure as Error).message).not.toContain('\n');
  });
});

function reviewOf({ token, user }: Review['spec']): unknown {
  if (token !== undefined) {
    const username = { good: 'prometheus', poor: 'somebody' }[token];
    const imposter = { authenticated: false, user: { username: 'prometheus' } };
    return username === undefined ? imposter : { authenticated: true, user: { username, groups: ['scrapers'] } };
  }
  return { allowed: user === 'prometheus' };
}

function getOver(port: number, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/metrics', headers, ca: authority.cert, agent: false };
    const request = requestHttps(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on('error', reject).end();
  });
}

function statusOverHttp2(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert });
    session.on('error', reject);
    const request = session.request({ ':path': '/metrics', authorization: 'Bearer good' });
    request.on('error', reject);
    request.on('response', (headers) => {
      session.destroy();
      resolve(Number(headers[':status']));
    });
  });
}

function commonName(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port, ca: authority.cert }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}
