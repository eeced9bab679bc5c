import { X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createHttpsListener } from './httpServer.ts';
import { selfSigned, type KeyPair } from './selfSigned.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.now();
const make = (over: Partial<Parameters<typeof selfSigned>[0]> = {}): KeyPair =>
  selfSigned({
    commonName: 'pod-1',
    dnsNames: ['hook.system.svc', 'localhost'],
    addresses: ['127.0.0.1'],
    notBefore: NOW - HOUR_MS,
    notAfter: NOW + HOUR_MS,
    ...over,
  });

it('makes a certificate that signs nothing but itself, for its names and times', () => {
  const certificate = new X509Certificate(make({ notAfter: Date.UTC(2051, 0, 2, 3, 4, 5) }).cert);
  expect(certificate).toMatchObject({
    ca: false,
    subject: 'CN=pod-1',
    issuer: 'CN=pod-1',
    subjectAltName: 'DNS:hook.system.svc, DNS:localhost, IP Address:127.0.0.1',
    validTo: 'Jan  2 03:04:05 2051 GMT',
    keyUsage: ['1.3.6.1.5.5.7.3.1'],
  });
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(new Date(certificate.validFrom).getTime()).toBe(Math.floor((NOW - HOUR_MS) / 1000) * 1000);
});

it('is trusted by clients that have it in their bundle, for its names and times only', async () => {
  const pair = make();
  const server = createHttpsListener(
    {
      name: 'server',
      address: { host: '127.0.0.1', port: 0 },
      handler: () => ({ status: 200, text: 'ok' }),
      metrics: { failed: () => undefined },
      logger: pino({ level: 'silent' }),
    },
    { ...pair, http2: false },
  );
  const { listener } = server;
  const stop = new AbortController();
  const running = listener.run(stop.signal);
  await listener.listen();
  const ask = (ca: string[], servername: string): Promise<number | string | undefined> =>
    new Promise((resolve) => {
      const options = { host: '127.0.0.1', port: listener.port, ca, servername, agent: false };
      request(options, (response) => resolve(response.statusCode))
        .on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
        .end();
    });
  const other = make({ commonName: 'pod-2' });
  expect(await ask([other.cert, pair.cert], 'hook.system.svc')).toBe(200);
  expect(await ask([pair.cert], 'another.system.svc')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  expect(await ask([other.cert], 'hook.system.svc')).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
  const ended = make({ notAfter: NOW - 1_000 });
  server.renew(ended);
  expect(await ask([ended.cert], 'hook.system.svc')).toBe('CERT_HAS_EXPIRED');
  stop.abort();
  await running;
});
