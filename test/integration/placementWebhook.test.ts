import { request, createServer, type RequestOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PolicyCheck } from '../../src/controllers/trafficwatch/observe/workload/policyCheck.ts';
import { systemClock } from '../../src/runtime/process/clock.ts';
import { WEBHOOK_PATH } from '../../src/placement/webhook/configuration.ts';
import { MUTATING_WEBHOOKS, PODS } from '../../src/runtime/client/resources.ts';
import { createAuthority } from '../../src/runtime/testing/certificates.ts';
import { audited, writesOf } from '../harness/audit.ts';
import { installPlacementPolicy } from '../harness/placementPolicy.ts';
import { panelQueries } from '../../dashboards/queries.ts';
import { numbersOf, startObserver } from './observer.ts';
import { WAIT } from './injection/world.ts';
import {
  aPod,
  CONFIGURATION,
  forDb,
  KEY,
  startWebhookWorld,
  termsOf,
  USER,
  type Replica,
  type WebhookWorld,
} from './placementWebhook/world.ts';

/** The webhook as processes, called by a real API server without the policy. */
const TIMEOUT_MS = 2_000;
/** For a busy machine. */
const SLACK_MS = 3_000;

const RESOURCE = 'mutatingwebhookconfigurations';

let w: WebhookWorld;
let first: Replica;

beforeAll(async () => {
  w = await startWebhookWorld();
  await w.place('shop', forDb);
  first = await w.startReplica('replica-1');
  w.front.to(first.port);
  await untilTerms('shop');
});
afterAll(async () => {
  await first.kill();
  await w.stop();
});

/** The API server reads the configuration, and the webhook the PodPlacement, some milliseconds later. */
async function untilTerms(namespace: string): Promise<void> {
  await vi.waitFor(async () => expect(termsOf((await w.admitted(namespace, aPod())).pod)).toContain(KEY), WAIT);
}

async function configuration() {
  return w.client.get(MUTATING_WEBHOOKS, { name: CONFIGURATION });
}

describe('a pod', () => {
  it('of a namespace with a PodPlacement gets the terms, also when it is stored', async () => {
    const pod = aPod();
    await w.client.create(PODS, { ...pod, metadata: { ...pod.metadata, namespace: 'shop', name: 'stored' } });
    expect(termsOf(await w.client.get(PODS, { namespace: 'shop', name: 'stored' }))).toContain(KEY);
    expect(termsOf((await w.admitted('shop', aPod({ app: 'other' }))).pod)).toBe('[]');
  });

  it('of another namespace, or on a node, does not wait for the webhook', async () => {
    w.front.to('nowhere');
    const onNode = { ...aPod(), spec: { ...aPod().spec!, nodeName: 'n1' } };
    const took = [await w.admitted('default', aPod()), await w.admitted('shop', onNode)].map(({ ms }) => ms);
    w.front.to(first.port);
    expect(Math.max(...took)).toBeLessThan(TIMEOUT_MS);
  });

  it('of a namespace that gets a PodPlacement gets the terms', async () => {
    await w.place('bank', forDb);
    await untilTerms('bank');
  });
});

describe('the configuration', () => {
  it('is written by the replica with the right to this object alone, and not again without a change', async () => {
    const { metadata, webhooks = [] } = await configuration();
    expect(webhooks).toHaveLength(1);
    expect(writesOf(w.plane, USER).every(({ resource }) => resource === RESOURCE)).toBe(true);
    const before = metadata?.resourceVersion;
    const comparisons = (): number =>
      audited(w.plane).filter(({ user, verb, resource }) => user === USER && verb === 'get' && resource === RESOURCE)
        .length;
    const had = comparisons();
    await vi.waitFor(() => expect(comparisons()).toBeGreaterThanOrEqual(had + 2), WAIT);
    expect((await configuration()).metadata?.resourceVersion).toBe(before);
  });

  it('trusts a second replica from its readiness on, and both after either has written', async () => {
    const second = await w.startReplica('replica-2');
    try {
      w.front.to(second.port);
      await untilTerms('shop');
      await w.place('club', forDb);
      await untilTerms('club');
      w.front.to(first.port);
      await untilTerms('club');
    } finally {
      await second.kill();
    }
  });
});

/** Creates pods one after the other: the median time, ms, and the pods. */
async function timed(namespace: string, count: number): Promise<{ median: number; longest: number; terms: string[] }> {
  const all = [];
  for (let time = 0; time < count; time++) all.push(await w.admitted(namespace, aPod()));
  const times = all.map(({ ms }) => ms).sort((a, b) => a - b);
  return { median: times[count >> 1]!, longest: times.at(-1)!, terms: all.map(({ pod }) => termsOf(pod)) };
}

it('the operator finds the webhook, for the namespaces that it gets', async () => {
  const check = new PolicyCheck({ client: w.client, clock: systemClock });
  const reasons = await Promise.all(['shop', 'default', 'kube-system'].map((namespace) => check.state(namespace)));
  expect(reasons.map(({ reason }) => reason)).toEqual(['WebhookInstalled', 'PlacementPending', 'WebhookNotReady']);
});

describe('pods are created without terms', () => {
  afterEach(async () => {
    w.front.to(first.port);
    await untilTerms('bank');
  });

  it.each<[string, number, () => Promise<() => Promise<void>>]>([
    [
      'the webhook is down',
      0,
      async () => {
        await w.front.close();
        return () => w.front.open();
      },
    ],
    [
      'it does not answer',
      TIMEOUT_MS,
      () => {
        w.front.to('nowhere');
        return Promise.resolve(() => Promise.resolve());
      },
    ],
    [
      'another certificate answers',
      0,
      async () => {
        const pair = createAuthority('stranger').issue('localhost');
        const server = createServer(pair, (_request, response) => response.end());
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        w.front.to((server.address() as AddressInfo).port);
        return () => new Promise((resolve) => server.close(() => resolve()));
      },
    ],
  ])('while %s, %i ms later at most', async (what, lateMs, begin) => {
    const usual = await timed('bank', 20);
    const end = await begin();
    const { median, longest, terms } = await timed('bank', lateMs === 0 ? 3 : 1);
    await end();
    console.log(
      `measured: ${what}: ${(median - usual.median).toFixed(1)} ms more, with the webhook ${usual.median.toFixed(1)} ms`,
    );
    expect(new Set(terms)).toEqual(new Set(['[]']));
    expect(longest).toBeLessThan(lateMs + SLACK_MS);
  });
});

it('pods get their terms while 300 clients send no body', async () => {
  const slow = await Promise.all(Array.from({ length: 300 }, () => slowBody()));
  const { pod } = await w.admitted('bank', aPod());
  for (const each of slow) each.destroy();
  expect(termsOf(pod)).toContain(KEY);
});

/** A client with the certificate of the API server that announces a body and sends none. */
async function slowBody() {
  const { cert, key } = w.clientCertificate;
  const socket = connectTls({ host: '127.0.0.1', port: first.port, cert, key, rejectUnauthorized: false });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  socket.write(`POST ${WEBHOOK_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n`);
  return socket;
}

/** Sends a request to the replica. Returns its status, or the code of the error. */
function ask(body: string | Buffer, over: RequestOptions = {}): Promise<number | string | undefined> {
  const { cert, key } = w.clientCertificate;
  const options = { host: '127.0.0.1', port: first.port, path: WEBHOOK_PATH, method: 'POST', cert, key, ...over };
  return new Promise((resolve) => {
    const sent = request({ ...options, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code)).end(body);
  });
}

describe('a client', () => {
  it('without the certificate of the API server is refused in the handshake', async () => {
    expect(await ask('{}', { cert: undefined, key: undefined })).toMatch(/^ERR_SSL_|ECONNRESET/);
    const stranger = createAuthority('strangers').issue('kube-apiserver');
    expect(await ask('{}', stranger)).toMatch(/^ERR_SSL_|ECONNRESET/);
  });

  it.each<[string, string | Buffer, RequestOptions, number]>([
    ['no review', '{}', {}, 400],
    ['bytes that are no text', Buffer.from([0xff, 0x00, 0xfe]), {}, 400],
    ['a deep body', '['.repeat(1_000_000), {}, 400],
    ['another path', '{}', { path: '/' }, 404],
    ['another method', '', { method: 'GET' }, 405],
    ['a body above 3.5 MiB', 'x'.repeat(4 << 20), {}, 413],
  ])('that sends %s gets an error, and pods their terms', async (_what, body, over, status) => {
    // The connection ends while a large body is still sent.
    expect([status, status === 413 ? 'EPIPE' : status, 'ECONNRESET']).toContain(await ask(body, over));
    expect(termsOf((await w.admitted('bank', aPod())).pod)).toContain(KEY);
  });
});

describe('the metrics', () => {
  const METRIC = 'traffic_operator_placement_webhook_requests_total';
  const counted = async (result: string): Promise<number> => {
    const text = await (await fetch(`http://${first.metrics}/metrics`)).text();
    return Number(new RegExp(`^${METRIC}\\{result="${result}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
  };

  it.each<[string, () => Promise<unknown>]>([
    ['patched', () => w.admitted('bank', aPod())],
    ['unchanged', () => w.admitted('bank', aPod({ app: 'other' }))],
    ['malformed', () => ask('{}')],
    ['unauthenticated', () => ask('{}', { cert: undefined, key: undefined })],
  ])('count a request that is %s', async (result, act) => {
    const before = await counted(result);
    await act();
    await vi.waitFor(async () => expect(await counted(result)).toBe(before + 1), WAIT);
  });

  it('are in panels', async () => {
    const observer = await startObserver(first.metrics, first.metrics);
    const variables = { job: '.*', namespace: '', trafficwatch: '', stack: '', node: '' };
    const times = { __rate_interval: '10s', __interval: '5s', __range: '5m' };
    const queries = panelQueries({ ...variables, ...times }).filter(({ expr }) =>
      expr.includes('placement_webhook_request'),
    );
    expect(queries).toHaveLength(3);
    try {
      await vi.waitFor(async () => {
        await w.admitted('bank', aPod());
        const answers = await Promise.all(queries.map(({ expr, instant }) => observer.answerTo(expr, instant)));
        expect(answers.map((answer) => numbersOf(answer).length > 0)).toEqual([true, true, true]);
      }, WAIT);
    } finally {
      await observer.stop();
    }
  });
});

it('500 pods at once all get their terms', async () => {
  const began = performance.now();
  const all = await Promise.all(Array.from({ length: 500 }, () => w.admitted('bank', aPod())));
  console.log(`measured: 500 pods at once ${Math.round(performance.now() - began)} ms`);
  expect(all.filter(({ pod }) => termsOf(pod).includes(KEY))).toHaveLength(500);
});

it('a pod gets the same terms once if the policy is installed too', async () => {
  const { pod } = await w.admitted('shop', aPod());
  await installPlacementPolicy(w.client);
  // The policy changes pods of namespaces that the webhook does not get.
  await w.place('kube-public-2', forDb);
  await untilTerms('kube-public-2');
  expect((await w.admitted('shop', aPod())).pod.spec?.affinity).toEqual(pod.spec?.affinity);
  const check = new PolicyCheck({ client: w.client, clock: systemClock });
  expect(await check.state('shop')).toMatchObject({ reason: 'PolicyInstalled' });
});
