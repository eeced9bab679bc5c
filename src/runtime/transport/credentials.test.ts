import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../clock.ts';
import { createLogger } from '../logger.ts';
import { createAuthority } from '../testing/certificates.ts';
import { kubeConfigFor } from '../testing/kubeConfig.ts';
import { startLocalServer } from '../testing/localServer.ts';
import { drain, recordMetrics } from '../testing/scene.ts';
import type { Handler, LocalServer, LocalServerOptions } from '../testing/localServer.ts';
import { createTransport } from '../transport.ts';
import type { Transport, TransportOptions, TransportRequest } from '../transport.ts';

const NODES: TransportRequest = { method: 'GET', path: '/api/v1/nodes' };
const WATCH: TransportRequest = { ...NODES, query: { watch: true } };
const logger = createLogger('silent');
const credentialsIntervalMs = 50;

let directory: string;
const cleanUps: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'credentials-'));
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  rmSync(directory, { recursive: true });
});

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

async function serve(handler: Handler, options?: LocalServerOptions): Promise<LocalServer> {
  const server = await startLocalServer(handler, options);
  cleanUps.push(() => server.close());
  return server;
}

function transportWith(kubeConfig: KubeConfig, options: Partial<TransportOptions> = {}): Transport {
  const transport = createTransport({ kubeConfig, logger, credentialsIntervalMs, callTimeoutMs: 1_500, ...options });
  cleanUps.push(() => transport.close());
  return transport;
}

const ok: Handler = (_, reply) => reply.json(200, {});
const lastToken = (server: LocalServer): unknown => server.requests.at(-1)?.headers.authorization;

/** A server that knows one token. */
function knowing(valid: () => string): Handler {
  return (request, reply) => {
    const known = request.headers.authorization === `Bearer ${valid()}`;
    reply.json(known ? 200 : 401, known ? {} : { kind: 'Status', reason: 'Unauthorized' });
  };
}

describe('a token in a file', () => {
  it('is used without the newline at its end, and read again when the file changes', async () => {
    const tokenFile = file('token', 'first\n');
    const server = await serve(ok);
    const transport = transportWith(kubeConfigFor({ server: server.url, tokenFile }));
    await transport.request(NODES);
    expect(lastToken(server)).toBe('Bearer first');

    file('token', 'second\n');

    await vi.waitFor(async () => {
      await transport.request(NODES);
      expect(lastToken(server)).toBe('Bearer second');
    });
  });

  it('that is refused is read again at once, and the call succeeds', async () => {
    const tokenFile = file('token', 'first');
    const server = await serve(knowing(() => 'second'));
    // Nothing would be read by itself for a minute.
    const transport = transportWith(kubeConfigFor({ server: server.url, tokenFile }), {
      credentialsIntervalMs: 60_000,
    });
    const before = transport.request(NODES).catch((error: unknown) => error);
    expect(await before).toMatchObject({ status: 401 });
    file('token', 'second');
    await new Promise((resolve) => setTimeout(resolve, 1_000));

    await transport.request(NODES);

    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first',
      'Bearer first',
      'Bearer first',
      'Bearer second',
    ]);
  });

  it('that stays wrong costs one repetition a call, no more', async () => {
    const server = await serve(knowing(() => 'other'));
    const transport = transportWith(kubeConfigFor({ server: server.url, token: 'wrong' }));

    await expect(transport.request(NODES)).rejects.toMatchObject({ status: 401 });

    expect(server.requests).toHaveLength(2);
  });

  it('that is empty for a moment does not take the old one away', async () => {
    const tokenFile = file('token', 'first');
    const server = await serve(knowing(() => 'first'));
    const transport = transportWith(kubeConfigFor({ server: server.url, tokenFile }));
    await transport.request(NODES);
    file('token', '');
    await new Promise((resolve) => setTimeout(resolve, 4 * credentialsIntervalMs));

    await transport.request(NODES);

    expect(server.requests).toHaveLength(2);
  });

  it('that cannot be read at first is looked for again, and named', async () => {
    const server = await serve(ok);
    const transport = transportWith(kubeConfigFor({ server: server.url, tokenFile: join(directory, 'token') }));
    const answer = transport.request(NODES);
    file('token', 'late');

    await answer;

    expect(lastToken(server)).toBe('Bearer late');
  });
});

it('basic authentication and impersonation of the kubeconfig are sent', async () => {
  const server = await serve(ok);
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server: server.url, skipTLSVerify: true },
    { name: 'u', username: 'me', password: 'pw', impersonateUser: 'you' },
  );

  await transportWith(config).request(NODES);

  expect(server.requests[0]?.headers).toMatchObject({
    authorization: `Basic ${Buffer.from('me:pw').toString('base64')}`,
    'impersonate-user': 'you',
  });
});

it('an exec plugin is asked once, and again when its token is refused', async () => {
  const count = join(directory, 'count');
  const script = `echo >> ${count}; n=$(wc -l < ${count}); echo '{"status":{"token":"exec-'$n'"}}'`;
  const server = await serve(knowing(() => 'exec-2'));
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server: server.url, skipTLSVerify: true },
    { name: 'u', exec: { command: 'sh', args: ['-c', script] } },
  );
  const transport = transportWith(config);

  await transport.request(NODES);
  await new Promise((resolve) => setTimeout(resolve, 4 * credentialsIntervalMs));
  await transport.request(NODES);

  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer exec-1',
    'Bearer exec-2',
    'Bearer exec-2',
  ]);
});

it('an exec plugin that answers with a bare token fails the call, and its answer is in no message', async () => {
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server: 'https://127.0.0.1:1', skipTLSVerify: true },
    { name: 'u', exec: { command: 'echo', args: ['secret'] } },
  );

  const error: unknown = await transportWith(config)
    .request(NODES)
    .catch((thrown: unknown) => thrown);

  expect(inspect(error, { depth: 9 })).toContain('something else than JSON');
  expect(inspect(error, { depth: 9 })).not.toContain('secret');
});

it('calls that are refused together share one reading of the token, and all succeed', async () => {
  const count = join(directory, 'count');
  const script = `echo >> ${count}; sleep 0.2; n=$(wc -l < ${count}); echo '{"status":{"token":"exec-'$n'"}}'`;
  const server = await serve(knowing(() => 'exec-2'));
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server: server.url, skipTLSVerify: true },
    { name: 'u', exec: { command: 'sh', args: ['-c', script] } },
  );
  const transport = transportWith(config, { credentialsIntervalMs: 60_000 });

  await Promise.all(Array.from({ length: 10 }, () => transport.request(NODES)));

  expect(lastToken(server)).toBe('Bearer exec-2');
});

it('a plugin whose tokens are all refused is asked once a second at most', async () => {
  const count = join(directory, 'count');
  const server = await serve(knowing(() => 'other'));
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server: server.url, skipTLSVerify: true },
    { name: 'u', exec: { command: 'sh', args: ['-c', `echo >> ${count}; echo '{"status":{"token":"wrong"}}'`] } },
  );
  const transport = transportWith(config, { clock: new FakeClock() });

  for (let n = 0; n < 5; n += 1) await expect(transport.request(NODES)).rejects.toMatchObject({ status: 401 });

  expect(readFileSync(count, 'utf8')).toBe('\n\n');
});

describe('certificates in files', () => {
  it('of the authority are read again when they change: a new server certificate fails no call', async () => {
    const [oldCa, newCa] = [createAuthority('old'), createAuthority('new')];
    const caFile = file('ca.crt', oldCa.cert);
    const first = await serve(ok, { tls: oldCa.issue('server') });
    const port = Number(new URL(first.url).port);
    const transport = transportWith(kubeConfigFor({ server: first.url, caFile }));
    await transport.request(NODES);

    file('ca.crt', oldCa.cert + newCa.cert);
    await vi.waitFor(() => expect(first.open).toBe(0));
    await first.close();
    const second = await serve(ok, { tls: newCa.issue('server'), port });
    await transport.request(NODES);

    expect(second.requests).toHaveLength(1);
  });

  it('of the client: the next connection shows the new one, calls under way end on the old one', async () => {
    const [ca, clients] = [createAuthority('ca'), createAuthority('clients')];
    const answers: (() => void)[] = [];
    const server = await serve(
      (request, reply) => {
        if (request.path.endsWith('/slow')) answers.push(() => reply.json(200, { slow: true }));
        else reply.json(200, {});
      },
      { tls: { ...ca.issue('server'), ca: clients.cert } },
    );
    const one = clients.issue('one');
    const metrics = recordMetrics();
    const files = { certFile: file('crt', one.cert), keyFile: file('key', one.key) };
    const transport = transportWith(kubeConfigFor({ server: server.url, ca: ca.cert, ...files }), { metrics });
    const slow = transport.request({ ...NODES, path: '/api/v1/nodes/slow' });
    await vi.waitFor(() => expect(answers).toHaveLength(1));

    const two = clients.issue('two');
    file('key', two.key);
    await new Promise((resolve) => setTimeout(resolve, 4 * credentialsIntervalMs));
    file('crt', two.cert);
    await new Promise((resolve) => setTimeout(resolve, 4 * credentialsIntervalMs));
    const quick = transport.request(NODES);
    await new Promise((resolve) => setTimeout(resolve, 100));
    answers[0]!();

    expect(await slow).toEqual({ slow: true });
    expect(await quick).toEqual({});
    expect(server.connections).toBe(2);
    expect(metrics.mostOpen).toBe(1);
  });

  it('that changed cut a watch when the next one dials, never three connections and more', async () => {
    const ca = createAuthority('ca');
    const caFile = file('ca.crt', ca.cert);
    const server = await serve((_, reply) => reply.open().write('\n'), { tls: ca.issue('server') });
    const metrics = recordMetrics();
    const transport = transportWith(kubeConfigFor({ server: server.url, caFile }), { metrics });
    const first = drain(await transport.stream(WATCH));
    const firstEnd = expect(first).rejects.toMatchObject({ failure: 'connection' });
    file('ca.crt', ca.cert + createAuthority('more').cert);
    await new Promise((resolve) => setTimeout(resolve, 4 * credentialsIntervalMs));

    await transport.stream(WATCH);

    await firstEnd;
    expect(server.connections).toBe(2);
    expect(metrics.mostOpen).toBe(1);
  });
});
