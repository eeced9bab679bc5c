import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Handler, Reply, SeenRequest } from '../../testing/localServer.ts';
import { createScene, recordMetrics } from '../../testing/scene.ts';
import type { Scene } from '../../testing/scene.ts';
import type { TransportRequest } from '../transport.ts';

const NODES: TransportRequest = { method: 'GET', path: '/api/v1/nodes' };
const WATCH: TransportRequest = { ...NODES, query: { watch: true } };
const CREATE: TransportRequest = { method: 'POST', path: '/api/v1/namespaces/a/pods', body: { kind: 'Pod' } };
const APPLY: TransportRequest = {
  method: 'PATCH',
  path: '/apis/apps/v1/namespaces/a/deployments/d',
  contentType: 'application/apply-patch+yaml',
  body: {},
};

let scene: Scene;
beforeAll(() => {
  scene = createScene();
});
afterEach(() => scene.close());

const serve: Scene['serve'] = (handler, options) => scene.serve(handler, options);
const transportTo: Scene['transportTo'] = (server, options, user) => scene.transportTo(server, options, user);

/** Answers the n-th request with the n-th reply, and all later ones with the last reply. */
function sequence(...replies: ((reply: Reply, request: SeenRequest) => void)[]): Handler {
  let count = 0;
  return (request, reply) => replies[Math.min(count++, replies.length - 1)]!(reply, request);
}

const ok = (reply: Reply): void => reply.json(200, { ok: true });
const fails = (status: number, headers?: Record<string, string>) => (reply: Reply) =>
  reply.json(status, { kind: 'Status', code: status, reason: 'Because', message: 'no' }, headers);

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('should have failed'),
    (error: unknown) => error,
  );
}

describe('a failed attempt', () => {
  it.each([
    ['429 on a GET', NODES, fails(429)],
    ['500 on an apply', APPLY, fails(500)],
    ['a reset connection on an apply', APPLY, (reply: Reply) => reply.reset()],
    ['429 on a POST, which was not executed', CREATE, fails(429)],
    ['503 with Retry-After on a POST, which was not executed', CREATE, fails(503, { 'retry-after': '0' })],
  ])('is retried: %s', async (_, request, failure) => {
    const server = await serve(sequence(failure, ok));

    expect(await transportTo(server).request(request)).toEqual({ ok: true });

    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['500 on a POST, which may have been executed', CREATE, fails(500)],
    ['503 without Retry-After on a POST', CREATE, fails(503)],
    ['a reset connection on a POST', CREATE, (reply: Reply) => reply.reset()],
    ['409, which needs a new decision', APPLY, fails(409)],
    ['a caller with its own retries', { ...NODES, retry: false }, fails(503)],
    ['the lease lane', { ...NODES, lane: 'lease' as const }, fails(503)],
  ])('is not retried: %s', async (_, request, failure) => {
    const server = await serve(sequence(failure, ok));

    await failureOf(transportTo(server).request(request));

    expect(server.requests).toHaveLength(1);
  });

  it('is also retried for a POST that was never sent', async () => {
    const server = await serve((_, reply) => ok(reply));
    const port = Number(new URL(server.url).port);
    await server.close();
    const metrics = recordMetrics();
    const answer = transportTo(server, { metrics }).request(CREATE);
    await vi.waitFor(() => expect(metrics.attempts).not.toHaveLength(0));
    await serve((_, reply) => ok(reply), { port });

    expect(await answer).toEqual({ ok: true });
  });

  it('is retried after at least Retry-After', async () => {
    const server = await serve(sequence(fails(429, { 'retry-after': '1' }), ok));
    const begun = performance.now();

    await transportTo(server).request(NODES);

    expect(performance.now() - begun).toBeGreaterThanOrEqual(1_000);
  });

  it('is not retried if Retry-After ends after the deadline of the call', async () => {
    const server = await serve(sequence(fails(429, { 'retry-after': '60' })));

    const error = await failureOf(transportTo(server).request(NODES));

    expect(error).toMatchObject({ status: 429, retryAfterMs: 60_000 });
    expect(server.requests).toHaveLength(1);
  });

  it('is the result of the call at its deadline', async () => {
    const server = await serve(sequence(fails(503), fails(500)));

    const error = await failureOf(transportTo(server, { callTimeoutMs: 3_000 }).request(NODES));

    expect(error).toMatchObject({ status: 500 });
    expect(server.requests.length).toBeGreaterThan(1);
  });

  it('is the result of the call if there is no time for another attempt', async () => {
    const server = await serve(sequence(fails(500), () => undefined));

    // Less than a tenth of an attempt's time is left from the beginning.
    const options = { attemptTimeoutMs: 100_000, callTimeoutMs: 9_000 };
    const error = await failureOf(transportTo(server, options).request(NODES));

    expect(error).toMatchObject({ status: 500 });
    expect(server.requests).toHaveLength(1);
  });
});

describe('deadlines', () => {
  const silent: Handler = () => undefined;

  it('end an attempt without a response, and the next attempt succeeds', async () => {
    const server = await serve(sequence(() => undefined, ok));

    expect(await transportTo(server, { attemptTimeoutMs: 200 }).request(NODES)).toEqual({ ok: true });
  });

  it('apply to the whole response, not only to its start', async () => {
    const server = await serve((_, reply) => reply.open().write('{"half":'));

    const error = await failureOf(
      transportTo(server, { attemptTimeoutMs: 150, callTimeoutMs: 400 }).request({ ...NODES }),
    );

    expect(error).toMatchObject({ name: 'TransportError', failure: 'deadline' });
  });

  it('end a POST without a retry, because it may have been executed', async () => {
    const server = await serve(silent);

    const error = await failureOf(transportTo(server, { attemptTimeoutMs: 150 }).request(CREATE));

    expect(error).toMatchObject({ failure: 'deadline', unsent: false });
    // A busy machine may read it after the deadline.
    await vi.waitFor(() => expect(server.requests).toHaveLength(1), 10_000);
  });

  it('end a watch whose headers do not arrive', async () => {
    const server = await serve(silent);

    const error = await failureOf(transportTo(server, { attemptTimeoutMs: 150 }).stream(WATCH));

    expect(error).toMatchObject({ failure: 'deadline' });
  });

  it('do not end a watch that is open', async () => {
    const server = await serve((_, reply) => {
      const response = reply.open();
      response.write('first\n');
      setTimeout(() => response.end('second\n'), 3_000);
    });
    const transport = transportTo(server, { attemptTimeoutMs: 1_000, callTimeoutMs: 2_000 });
    const chunks: string[] = [];

    for await (const chunk of await transport.stream(WATCH)) chunks.push(Buffer.from(chunk).toString());

    expect(chunks.join('')).toBe('first\nsecond\n');
  });
});

describe('the 16 slots', () => {
  it('are never exceeded, and are assigned in the order of the calls', async () => {
    let now = 0;
    let most = 0;
    const places = Promise.withResolvers<undefined>();
    const server = await serve((_, reply) => {
      most = Math.max(most, ++now);
      if (now === 16) setTimeout(() => places.resolve(undefined), 10);
      void places.promise.then(() => {
        now -= 1;
        ok(reply);
      });
    });
    const transport = transportTo(server);

    await Promise.all(
      Array.from({ length: 100 }, (_, n) => transport.request({ ...NODES, path: `/api/v1/nodes/${n}` })),
    );

    expect(most).toBe(16);
    expect(server.requests.map(({ path }) => Number(path.split('/').at(-1)))).toEqual([...Array(100).keys()]);
  });

  it('do not delay the lease or a watch', async () => {
    const server = await serve((request, reply) => {
      if (request.path.endsWith('/hangs')) return;
      if (request.query.has('watch')) reply.open();
      else ok(reply);
    });
    const transport = transportTo(server);
    const stuck = Array.from({ length: 20 }, () => transport.request({ ...NODES, path: '/api/v1/nodes/hangs' }));
    for (const call of stuck) call.catch(() => undefined);

    await transport.stream(WATCH);
    expect(await transport.request({ ...NODES, lane: 'lease' })).toEqual({ ok: true });
    expect(server.requests.filter(({ path }) => path.endsWith('/hangs'))).toHaveLength(16);
  });

  it('fail a call that gets no slot before its deadline, as never sent', async () => {
    const server = await serve(() => undefined);
    const transport = transportTo(server, { maxInFlight: 1, callTimeoutMs: 200 });
    transport.request(NODES).catch(() => undefined);

    const error = await failureOf(transport.request(CREATE));

    expect(error).toMatchObject({ failure: 'deadline', unsent: true });
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(0);
  });
});

it('reports verb, resource and code of each attempt to its metrics', async () => {
  const server = await serve(sequence(fails(500), ok));
  const metrics = recordMetrics();

  await transportTo(server, { metrics }).request(APPLY);

  const labels = { verb: 'patch', resource: 'deployments.apps' };
  expect(metrics.attempts).toEqual([
    { ...labels, code: '500' },
    { ...labels, code: '200' },
  ]);
});

it('the guard is called before each attempt, and its error ends the call', async () => {
  const server = await serve(sequence(fails(500), ok));
  const guard = vi.fn().mockReturnValueOnce(undefined);
  guard.mockImplementation(() => {
    throw new RangeError('no longer');
  });

  await expect(transportTo(server).request({ ...APPLY, guard })).rejects.toThrow(RangeError);

  expect(server.requests).toHaveLength(1);
});
