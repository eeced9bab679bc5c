import { X509Certificate } from 'node:crypto';
import type { V1MutatingWebhookConfiguration } from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Client } from '../../runtime/client/client.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import { selfSigned } from '../../runtime/server/selfSigned.ts';
import { trusts } from './configuration.ts';
import { ConfigurationKeeper } from './configurationKeeper.ts';

/** Times of days: the API server is real in test/integration/placementWebhook.test.ts. */
const DAY_MS = 24 * 3_600_000;
const renew = vi.fn<(pair: { cert: string }) => void>();

let clock: FakeClock;
let stored: V1MutatingWebhookConfiguration;
let writes: number;
let failure: Error | undefined;
let keeper: ConfigurationKeeper;
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  clock = new FakeClock();
  stored = { metadata: { name: 'c' } };
  writes = 0;
  failure = undefined;
  renew.mockClear();
  const client = {
    get: () => (failure === undefined ? Promise.resolve(stored) : Promise.reject(failure)),
    mergePatch: (_resource: unknown, _ref: unknown, patch: V1MutatingWebhookConfiguration) => {
      writes += 1;
      stored = { ...stored, webhooks: patch.webhooks };
      return Promise.resolve(stored);
    },
  } as unknown as Pick<Client, 'get' | 'mergePatch'>;
  keeper = new ConfigurationKeeper({
    client,
    clock,
    logger: pino({ level: 'silent' }),
    name: 'c',
    address: { url: 'https://127.0.0.1/mutate-pods' },
    excluded: [],
    namespaces: () => ['shop'],
    createCertificate: (validity) => selfSigned({ commonName: 'pod', dnsNames: ['a'], ...validity }),
    renew,
  });
  stop = new AbortController();
  running = keeper.run(stop.signal);
  await clock.advance(0);
});
afterEach(async () => {
  stop.abort();
  await running;
});

const isTrusted = (pem: string): boolean => trusts(stored.webhooks?.[0], pem);

describe('the certificate of the webhook', () => {
  it('is in the configuration before the replica is ready, and is written once', async () => {
    expect(keeper.problem()).toBeUndefined();
    expect(isTrusted(keeper.certificate.cert)).toBe(true);
    await clock.advance(60_000);
    expect(writes).toBe(1);
  });

  it('is used a minute after API servers could read it, and the one before stays until then', async () => {
    const first = keeper.certificate.cert;
    clock.jump(7 * DAY_MS);
    await clock.advance(10_000);
    const both = Buffer.from(stored.webhooks?.[0]?.clientConfig.caBundle ?? '', 'base64').toString();
    expect(both.match(/BEGIN/g)).toHaveLength(2);
    expect([keeper.certificate.cert, renew.mock.calls.length]).toEqual([first, 0]);
    await clock.advance(70_000);
    const [[renewed] = []] = renew.mock.calls;
    expect(renewed?.cert).not.toBe(first);
    expect([isTrusted(renewed?.cert ?? ''), keeper.problem()]).toEqual([true, undefined]);
  });

  it('is valid for clocks that are an hour off, also right before its renewal', () => {
    const { cert } = keeper.certificate;
    const lasts = new X509Certificate(cert);
    expect(Date.parse(lasts.validFrom)).toBeLessThanOrEqual(clock.now() - 3_600_000);
    expect(Date.parse(lasts.validTo)).toBeGreaterThanOrEqual(clock.now() + 7 * DAY_MS + 3_600_000);
  });

  it('stays trusted while the API server does not answer, but not without the configuration', async () => {
    failure = new Error('connect ECONNREFUSED');
    await clock.advance(10_000);
    expect(keeper.problem()).toBeUndefined();
    failure = new ApiError({ status: 404, reason: 'NotFound', method: 'GET', path: 'c' });
    await clock.advance(10_000);
    expect(keeper.problem()).toContain('does not exist');
  });

  it('is written again if it is removed', async () => {
    stored = { ...stored, webhooks: [] };
    await clock.advance(10_000);
    expect([writes, isTrusted(keeper.certificate.cert)]).toEqual([2, true]);
  });
});
