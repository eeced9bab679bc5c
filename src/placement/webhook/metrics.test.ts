import { connect } from 'node:tls';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock, systemClock } from '../../runtime/process/clock.ts';
import { createHttpsListener, type HttpRequest, type HttpsServer } from '../../runtime/server/httpServer.ts';
import { createAuthority, type KeyPair } from '../../runtime/testing/certificates.ts';
import { WEBHOOK_PATH } from './configuration.ts';
import { webhookHandler } from './handler.ts';
import { createWebhookMetrics, type WebhookMetrics } from './metrics.ts';
import { NAMESPACE, placement, pod, review } from './testing/reviews.ts';

const logger = pino({ level: 'silent' });

let registry: Registry;
let metrics: WebhookMetrics;
beforeEach(() => {
  registry = new Registry();
  metrics = createWebhookMetrics(registry);
});

/** The results that were counted. */
async function counted(): Promise<Record<string, number>> {
  const { values } = await registry.getSingleMetric('traffic_operator_placement_webhook_requests_total')!.get();
  return Object.fromEntries(
    values.filter(({ value }) => value > 0).map(({ labels, value }) => [String(labels.result), value]),
  );
}

it('has each result from the start on, so that its first request is an increase', async () => {
  expect(await registry.metrics()).toContain(
    'traffic_operator_placement_webhook_requests_total{result="overloaded"} 0\n',
  );
});

describe('a request', () => {
  const request = (body: HttpRequest['body'], path = WEBHOOK_PATH): HttpRequest => ({
    ...{ path, query: new URLSearchParams(), method: 'POST', authorization: undefined, accept: undefined },
    ...{ source: '10.0.0.1', body },
  });
  const tooMany = Object.fromEntries(Array.from({ length: 3_000 }, (_each, index) => [`l${index}`, 'x']));

  it.each<[string, object | undefined, Record<string, number>]>([
    ['of a pod that gets terms', review(), { patched: 1 }],
    ['of a namespace without TrafficWatches', review({ namespace: 'other' }), { unchanged: 1 }],
    ['of a pod that cannot be evaluated', review({ object: { ...pod, metadata: { labels: tooMany } } }), { failed: 1 }],
    ['that is no review', {}, { malformed: 1 }],
    ['without room for its body', undefined, { overloaded: 1 }],
  ])('%s is counted with its duration', async (_what, body, result) => {
    const clock = new FakeClock(0);
    const placementOf = (namespace: string) => (namespace === NAMESPACE ? placement : undefined);
    const handler = webhookHandler({ placementOf, metrics, clock, logger });
    await handler(
      request(async (_limit, take) => {
        await clock.advance(4);
        if (body === undefined) take?.(Infinity);
        return JSON.stringify(body ?? '');
      }),
    );
    expect(await counted()).toEqual(result);
    expect(await registry.metrics()).toContain('placement_webhook_request_duration_seconds_sum 0.004\n');
  });

  it('to another path is not counted', async () => {
    const handler = webhookHandler({ placementOf: () => placement, metrics, clock: systemClock, logger });
    await handler(request(() => Promise.resolve(''), '/'));
    expect(await counted()).toEqual({});
  });
});

describe('a connection with --client-ca-file', () => {
  const authority = createAuthority('clients');
  const failed: string[] = [];
  let server: HttpsServer;
  let stop: AbortController;
  let running: Promise<void>;
  beforeEach(async () => {
    failed.length = 0;
    const handler = webhookHandler({ placementOf: () => placement, metrics, clock: systemClock, logger });
    const http = metrics.of({ failed: (_server, reason) => void failed.push(reason) });
    server = createHttpsListener(
      { name: 'placement webhook', address: { host: '127.0.0.1', port: 0 }, handler, metrics: http, logger },
      { ...createAuthority('servers').issue('localhost'), http2: false, clientCa: authority.cert },
    );
    stop = new AbortController();
    running = server.listener.run(stop.signal);
    await server.listener.listen();
  });
  afterEach(async () => {
    stop.abort();
    await running;
  });

  it.each<[string, KeyPair | undefined]>([
    ['without a certificate', undefined],
    ['with a certificate of other CAs', createAuthority('strangers').issue('kube-apiserver')],
  ])('%s is counted as unauthenticated', async (_what, pair) => {
    const socket = connect({ host: '127.0.0.1', port: server.listener.port, rejectUnauthorized: false, ...pair });
    socket.on('error', () => undefined).on('secureConnect', () => socket.write('GET / HTTP/1.1\r\n\r\n'));
    await new Promise((resolve) => socket.once('close', resolve));
    await vi.waitFor(async () => expect(await counted()).toEqual({ unauthenticated: 1 }));
    expect(failed).toEqual(['unauthenticated']);
  });
});
