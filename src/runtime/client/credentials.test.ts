import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import { createLogger } from '../process/logger.ts';
import { createAuthority } from '../testing/certificates.ts';
import { kubeConfigFor } from '../testing/kubeConfig.ts';
import { startLocalServer, type Handler, type LocalServer, type LocalServerOptions } from '../testing/localServer.ts';
import { createTransport, type Transport, type TransportOptions, type TransportRequest } from './transport.ts';
import { serverOf } from './credentials.ts';

const NODES: TransportRequest = { method: 'GET', path: '/api/v1/nodes' };
const WATCH: TransportRequest = { ...NODES, query: { watch: true } };
const logger = createLogger('silent');
const credentialsIntervalMs = 50;
/** No periodic check of the files for a minute, only the checks of calls. */
const OWN_LOOK_ONLY = { credentialsIntervalMs: 60_000 };
/** Calls with this distance do not share a check of the files. */
const LOOKS_APART_MS = 50;

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
  const transport = createTransport({ kubeConfig, logger, credentialsIntervalMs, ...options });
  cleanUps.push(() => transport.close());
  return transport;
}

/** A transport with a fake clock and without the periodic check of the files. */
function standingStill(kubeConfig: KubeConfig): { transport: Transport; clock: FakeClock } {
  const clock = new FakeClock();
  return { transport: transportWith(kubeConfig, { ...OWN_LOOK_ONLY, clock }), clock };
}

/** A volume like the kubelet's, with the file `token`. Returns a function that replaces its content. */
function createVolume(): (token: string) => void {
  symlinkSync('..data/token', join(directory, 'token'));
  return (token) => {
    mkdirSync(join(directory, `..${token}`));
    file(`..${token}/token`, token);
    symlinkSync(`..${token}`, join(directory, '..data_tmp'));
    renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
  };
}

const ok: Handler = (_, reply) => reply.json(200, {});
const lastToken = (server: LocalServer): unknown => server.requests.at(-1)?.headers.authorization;

/** A server that accepts one token. */
function knowing(valid: () => string): Handler {
  return (request, reply) => {
    const known = request.headers.authorization === `Bearer ${valid()}`;
    reply.json(known ? 200 : 401, known ? {} : { kind: 'Status', reason: 'Unauthorized' });
  };
}

describe('a token in a file', () => {
  it('is used without its trailing newline, and a new one is used by the next call', async () => {
    const tokenFile = file('token', 'first\n');
    const server = await serve(ok);
    const { transport, clock } = standingStill(kubeConfigFor({ server: server.url, tokenFile }));
    await transport.request(NODES);
    expect(lastToken(server)).toBe('Bearer first');

    file('token', 'second\n');
    await clock.advance(LOOKS_APART_MS);
    await transport.request(NODES);

    expect(lastToken(server)).toBe('Bearer second');
  });

  it('of a volume is used by the next call and stream after the kubelet changed the symlink', async () => {
    const swap = createVolume();
    swap('first');
    const server = await serve((request, reply) => (request.query.has('watch') ? reply.open() : ok(request, reply)));
    const tokenFile = join(directory, 'token');
    const { transport, clock } = standingStill(kubeConfigFor({ server: server.url, tokenFile }));
    await transport.request(NODES);

    swap('other');
    await clock.advance(LOOKS_APART_MS);
    await transport.request(NODES);
    swap('third');
    await clock.advance(LOOKS_APART_MS);
    await transport.stream(WATCH);

    const shown = server.requests.map(({ headers }) => headers.authorization);
    expect(shown).toEqual(['Bearer first', 'Bearer other', 'Bearer third']);
  });

  it('is used by the retries of a call that started before the token was replaced', async () => {
    const tokenFile = file('token', 'first');
    const server = await serve((request, reply) => {
      file('token', 'second');
      reply.json(request.headers.authorization === 'Bearer first' ? 503 : 200, {});
    });

    await transportWith(kubeConfigFor({ server: server.url, tokenFile }), OWN_LOOK_ONLY).request(NODES);

    expect(lastToken(server)).toBe('Bearer second');
  });

  it('that is rejected is read again at once, and the call succeeds', async () => {
    const tokenFile = file('token', 'first');
    let valid = 'first';
    const server = await serve(knowing(() => valid));
    // The clock does not advance, so the second call would share the check of the first.
    const { transport } = standingStill(kubeConfigFor({ server: server.url, tokenFile }));
    await transport.request(NODES);
    file('token', 'second');
    valid = 'second';

    await transport.request(NODES);

    const shown = server.requests.map(({ headers }) => headers.authorization);
    expect(shown).toEqual(['Bearer first', 'Bearer first', 'Bearer second']);
  });

  it('that stays wrong causes one retry per call', async () => {
    const server = await serve(knowing(() => 'other'));
    const transport = transportWith(kubeConfigFor({ server: server.url, token: 'wrong' }));

    await expect(transport.request(NODES)).rejects.toMatchObject({ status: 401 });

    expect(server.requests).toHaveLength(2);
  });

  it('that is empty for a moment does not replace the old one, and is used once it is complete', async () => {
    const tokenFile = file('token', 'first');
    const server = await serve(ok);
    const { transport, clock } = standingStill(kubeConfigFor({ server: server.url, tokenFile }));
    await transport.request(NODES);
    for (const text of ['', 'second']) {
      file('token', text);
      await clock.advance(LOOKS_APART_MS);
      await transport.request(NODES);
    }

    const shown = server.requests.map(({ headers }) => headers.authorization);
    expect(shown).toEqual(['Bearer first', 'Bearer first', 'Bearer second']);
  });

  it('is also checked without calls, so that a watch starts with the new one', async () => {
    const tokenFile = file('token', 'first');
    const server = await serve(ok);
    const lines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const transport = transportWith(kubeConfigFor({ server: server.url, tokenFile }), { logger: log });
    await transport.request(NODES);

    file('token', 'second');

    await vi.waitFor(() => expect(lines.join('')).toContain('credentials have changed'));
    expect(lines.join('')).not.toContain('second');
  });

  it('that cannot be read at first is read again, and the call succeeds', async () => {
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

it('an exec plugin runs once, and again when its token is rejected', async () => {
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

it('an exec plugin that prints a bare token fails the call, and no message contains its output', async () => {
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server: 'https://127.0.0.1:1', skipTLSVerify: true },
    { name: 'u', exec: { command: 'echo', args: ['secret'] } },
  );

  const error: unknown = await transportWith(config)
    .request({ ...NODES, retry: false })
    .catch((thrown: unknown) => thrown);

  expect(inspect(error, { depth: 9 })).toContain('the output of the credential plugin is not JSON');
  expect(inspect(error, { depth: 9 })).not.toContain('secret');
});

it('concurrent calls that are rejected share one read of the token, and all succeed', async () => {
  const count = join(directory, 'count');
  const script = `echo >> ${count}; sleep 0.2; n=$(wc -l < ${count}); echo '{"status":{"token":"exec-'$n'"}}'`;
  const server = await serve(knowing(() => 'exec-2'));
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: 'c', server: server.url, skipTLSVerify: true },
    { name: 'u', exec: { command: 'sh', args: ['-c', script] } },
  );
  const transport = transportWith(config, { ...OWN_LOOK_ONLY, callTimeoutMs: 30_000 });

  await Promise.all(Array.from({ length: 10 }, () => transport.request(NODES)));

  expect(lastToken(server)).toBe('Bearer exec-2');
});

it('a plugin whose tokens are all rejected runs at most once a second', async () => {
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

it('a plugin runs once for each changed file, shared by all calls, even if the file cannot be used', async () => {
  const count = join(directory, 'count');
  const [ca, more] = [createAuthority('ca'), createAuthority('more')];
  const caFile = file('ca.crt', ca.cert);
  const server = await serve(ok, { tls: ca.issue('server') });
  const config = new KubeConfig();
  const script = `echo >> ${count}; echo '{"status":{"token":"exec"}}'`;
  config.loadFromClusterAndUser(
    { name: 'c', server: server.url, skipTLSVerify: false, caFile },
    { name: 'u', exec: { command: 'sh', args: ['-c', script] } },
  );
  const { transport, clock } = standingStill(config);
  const asked: number[] = [];
  for (const pem of [ca.cert, ca.cert + more.cert, '', ca.cert.slice(0, -30), more.cert + ca.cert]) {
    file('ca.crt', pem);
    for (let burst = 0; burst < 3; burst += 1) {
      await clock.advance(LOOKS_APART_MS);
      await Promise.all(Array.from({ length: 16 }, () => transport.request(NODES)));
    }
    asked.push(readFileSync(count, 'utf8').length);
  }

  expect(asked).toEqual([1, 2, 3, 4, 5]);
});

it.each([
  ['https://10.96.0.1:443', { origin: 'https://10.96.0.1', basePath: '' }],
  ['https://[fd00::1]:6443/', { origin: 'https://[fd00::1]:6443', basePath: '' }],
  ['https://gateway/k8s/clusters/c-1', { origin: 'https://gateway', basePath: '/k8s/clusters/c-1' }],
])('%s', (server, expected) => {
  expect(serverOf(kubeConfigFor({ server }))).toEqual(expected);
});

it('names the problem of a kubeconfig', () => {
  expect(() => serverOf(new KubeConfig())).toThrow('no cluster for context');
  expect(() => serverOf(kubeConfigFor({ server: 'ten.dot.zero' }))).toThrow(
    '"ten.dot.zero" is not the URL of a server',
  );
});
