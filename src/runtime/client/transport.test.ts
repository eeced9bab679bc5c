import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiError, TransportError } from './errors.ts';
import { createAuthority } from '../testing/certificates.ts';
import type { Handler, Reply } from '../testing/localServer.ts';
import { createScene, drain, recordMetrics, type Scene } from '../testing/scene.ts';
import { describeRequest, type TransportRequest } from './transport.ts';

const NODES: TransportRequest = { method: 'GET', path: '/api/v1/nodes' };
const WATCH: TransportRequest = { ...NODES, query: { watch: true } };
const CREATE: TransportRequest = { method: 'POST', path: '/api/v1/namespaces/a/pods', body: { kind: 'Pod' } };
let scene: Scene;
beforeAll(() => {
  scene = createScene();
});
afterEach(() => scene.close());

const serve: Scene['serve'] = (handler, options) => scene.serve(handler, options);
const transportTo: Scene['transportTo'] = (server, options, user) => scene.transportTo(server, options, user);

const ok = (reply: Reply): void => reply.json(200, { ok: true });
const openWatches: Handler = (request, reply) => {
  if (request.query.has('watch')) reply.open();
};

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('should have failed'),
    (error: unknown) => error,
  );
}

describe('a response', () => {
  it('is parsed, and the request carries token, query and body', async () => {
    const server = await serve((_, reply) => reply.json(201, { kind: 'Pod' }));
    const transport = transportTo(server, {}, { token: 's3cret-token' });

    const answer = await transport.request({ ...CREATE, query: { dryRun: 'All', force: undefined } });

    expect(answer).toEqual({ kind: 'Pod' });
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      url: '/api/v1/namespaces/a/pods?dryRun=All',
      body: '{"kind":"Pod"}',
      httpVersion: '2.0',
    });
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer s3cret-token',
      'content-type': 'application/json',
      accept: 'application/json',
    });
  });

  it('with an error becomes an ApiError with the fields of the Status, and no other part of the body', async () => {
    const status = { kind: 'Status', reason: 'NotFound', message: 'nodes "x" not found', secret: 'hunter2' };
    const server = await serve((_, reply) => reply.json(404, status));

    const error = await failureOf(transportTo(server).request({ ...NODES, path: '/api/v1/nodes/x' }));

    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 404, reason: 'NotFound', detail: 'nodes "x" not found' });
    expect(JSON.stringify({ ...(error as ApiError), message: String(error) })).not.toContain('hunter2');
    expect(server.requests).toHaveLength(1);
  });

  it('that is not JSON is garbage, and its text is not in the message', async () => {
    const server = await serve((_, reply) => reply.open().end('<html>hunter2'));

    const error = await failureOf(transportTo(server).request({ ...CREATE }));

    expect(error).toMatchObject({ name: 'TransportError', failure: 'garbage' });
    expect(String(error)).not.toContain('hunter2');
  });

  it('comes from the base path of the server, if there is one', async () => {
    const server = await serve((_, reply) => ok(reply));

    await transportTo({ url: `${server.url}/k8s/clusters/c-1/` }).request(NODES);

    expect(server.requests[0]?.url).toBe('/k8s/clusters/c-1/api/v1/nodes');
  });
});

describe('connections', () => {
  it('are three, regardless of the number of calls and watches', async () => {
    const server = await serve((request, reply) => {
      if (request.query.has('watch')) reply.open().write('\n');
      else setTimeout(() => ok(reply), 5);
    });
    const metrics = recordMetrics();
    const transport = transportTo(server, { metrics });

    await Promise.all([
      ...Array.from({ length: 10 }, () => transport.stream(WATCH)),
      ...Array.from({ length: 100 }, () => transport.request(NODES)),
      transport.request({ ...NODES, lane: 'lease' }),
    ]);

    expect(server.connections).toBe(3);
    expect(metrics.opened.sort()).toEqual(['call', 'lease', 'watch']);
  });

  it('are one more for each hundred watches, which a server allows on one connection, until these end', async () => {
    const server = await serve((request, reply) => {
      if (request.query.has('watch')) reply.open().write('\n');
      else ok(reply);
    });
    const transport = transportTo(server);
    const ends = Array.from({ length: 250 }, () => new AbortController());
    const open = (signal: AbortSignal) => transport.stream({ ...WATCH, signal });

    const streams = await Promise.all(ends.map(({ signal }) => open(signal)));

    expect(server.open).toBe(3);
    for (const end of ends.slice(0, 240)) end.abort();
    const ended = streams.slice(0, 240).map((stream) => drain(stream).catch(() => undefined));
    await Promise.all(ended);
    const last = new AbortController();
    ends.push(last);
    await open(last.signal);
    await vi.waitFor(() => expect(server.open).toBe(2));
    for (const end of ends) end.abort();
    await transport.close();
    expect(server.connections).toBe(3);
  });

  it('are each replaced by one connection after they break', async () => {
    const server = await serve((_, reply) => ok(reply));
    const transport = transportTo(server);
    await transport.request(NODES);
    server.cut();
    await vi.waitFor(() => expect(server.open).toBe(0));

    await Promise.all(Array.from({ length: 20 }, () => transport.request(NODES)));

    expect(server.connections).toBe(2);
    expect(server.open).toBe(1);
  });

  it('fall back to HTTP/1.1 if the server has no HTTP/2, and a watch does not block a call', async () => {
    const server = await serve(
      (request, reply) => {
        if (request.query.has('watch')) reply.open().write('\n');
        else ok(reply);
      },
      { http1Only: true },
    );
    const transport = transportTo(server);

    await Promise.all([transport.stream(WATCH), transport.stream(WATCH)]);
    expect(await Promise.all([transport.request(NODES), transport.request(CREATE)])).toHaveLength(2);
    expect(server.requests[0]?.httpVersion).toBe('1.1');
  });

  it('are plain HTTP/1.1 if the kubeconfig has an http URL', async () => {
    const server = await serve((_, reply) => ok(reply), { tls: undefined });

    expect(await transportTo(server).request(NODES)).toEqual({ ok: true });
  });

  it('are rejected if the kubeconfig requires a proxy, and do not bypass it', () => {
    const throughProxy = (): unknown => transportTo({ url: 'https://10.0.0.1' }, {}, { proxyUrl: 'http://proxy:3128' });

    expect(throughProxy).toThrow(/proxy-url/);
  });

  it('are not opened to a server whose certificate the CA did not sign', async () => {
    const server = await serve((_, reply) => ok(reply));
    const transport = transportTo(server, {}, { ca: createAuthority('other').cert });

    const error = await failureOf(transport.request({ ...NODES, retry: false }));

    expect(error).toMatchObject({ failure: 'connection', unsent: true });
    expect(server.requests).toHaveLength(0);
  });
});

describe('cancellation', () => {
  it('ends a call, a waiting call and a watch when their signals are aborted', async () => {
    const server = await serve(openWatches);
    const transport = transportTo(server, { maxInFlight: 1 });
    const abort = new AbortController();
    const { signal } = abort;
    const watch = await transport.stream({ ...WATCH, signal });
    const ends = [
      failureOf(transport.request({ ...NODES, signal })),
      failureOf(transport.request({ ...NODES, signal })),
      failureOf(drain(watch)),
    ];
    await vi.waitFor(() => expect(server.requests).toHaveLength(2));

    abort.abort();

    for (const error of await Promise.all(ends)) expect(error).toMatchObject({ failure: 'aborted' });
  });

  it('by close() ends all calls and connections, and rejects later calls', async () => {
    const server = await serve(openWatches);
    const transport = transportTo(server);
    const ends = [failureOf(transport.request(NODES)), failureOf(drain(await transport.stream(WATCH)))];
    await vi.waitFor(() => expect(server.requests).toHaveLength(2));

    await transport.close();

    for (const error of await Promise.all(ends)) expect(error).toMatchObject({ failure: 'aborted' });
    await vi.waitFor(() => expect(server.open).toBe(0));
    expect(await failureOf(transport.request(NODES))).toBeInstanceOf(TransportError);
    await transport.whenReachable();
  });
});

it.each<[TransportRequest['method'], string, string, string]>([
  ['GET', '/api/v1/nodes', 'list', 'nodes'],
  ['GET', '/api/v1/nodes/n1', 'get', 'nodes'],
  ['PATCH', '/api/v1/nodes/n1', 'patch', 'nodes'],
  ['GET', '/api/v1/namespaces', 'list', 'namespaces'],
  ['GET', '/api/v1/namespaces/a', 'get', 'namespaces'],
  ['POST', '/api/v1/namespaces/a/pods', 'create', 'pods'],
  ['GET', '/apis/apps/v1/namespaces/a/deployments', 'list', 'deployments.apps'],
  ['PUT', '/apis/apps/v1/namespaces/a/deployments/d', 'update', 'deployments.apps'],
  ['PATCH', '/apis/x.example.com/v1alpha1/namespaces/a/things/t/status', 'patch', 'things.x.example.com/status'],
  ['DELETE', '/apis/apps/v1/namespaces/a/deployments/d', 'delete', 'deployments.apps'],
  ['GET', '/version', 'get', '/version'],
  ['GET', '/apis/chosen-by-a-user.example.com/v1', 'get', '/apis'],
  ['GET', '/api/v7', 'get', '/api'],
])('%s %s is %s %s', (method, path, verb, resource) => {
  expect(describeRequest({ method, path })).toEqual({ verb, resource });
});

it('a GET with watch is a watch', () => {
  expect(describeRequest({ method: 'GET', path: '/api/v1/nodes', query: { watch: true } }).verb).toBe('watch');
  expect(describeRequest({ method: 'GET', path: '/api/v1/nodes', query: { watch: false } }).verb).toBe('list');
});
