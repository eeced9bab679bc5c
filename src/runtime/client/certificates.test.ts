import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAuthority, type KeyPair } from '../testing/certificates.ts';
import type { Handler, LocalServer } from '../testing/localServer.ts';
import { createScene, drain, recordMetrics, type Scene } from '../testing/scene.ts';
import type { TransportRequest } from './transport.ts';

const NODES: TransportRequest = { method: 'GET', path: '/api/v1/nodes' };
const SLOW: TransportRequest = { method: 'POST', path: '/api/v1/nodes/slow' };
const WATCH: TransportRequest = { ...NODES, query: { watch: true } };
const RENEW: TransportRequest = { ...NODES, path: '/apis/coordination.k8s.io/v1/leases', lane: 'lease' };
/** No periodic check of the files for a minute, only the checks of calls. */
const OWN_LOOK_ONLY = { credentialsIntervalMs: 60_000 };

const scene: Scene = createScene();
const clients = createAuthority('clients');
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'certificates-'));
});
afterEach(async () => {
  await scene.close();
  rmSync(directory, { recursive: true });
});

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

/** Waits until calls no longer share the previous check of the files (50 ms). */
const nextLook = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));

const ok: Handler = (_, reply) => reply.json(200, {});

describe('of the authority', () => {
  it('are read again when they change: no call fails because of a new server certificate', async () => {
    const [oldCa, newCa] = [createAuthority('old'), createAuthority('new')];
    const caFile = file('ca.crt', oldCa.cert);
    const first = await scene.serve(ok, { tls: oldCa.issue('server') });
    const port = Number(new URL(first.url).port);
    const transport = scene.transportTo(first, OWN_LOOK_ONLY, { ca: undefined, caFile });
    await transport.request(NODES);
    await first.close();
    const second = await scene.serve(ok, { tls: newCa.issue('server'), port });

    file('ca.crt', newCa.cert);
    await nextLook();
    await transport.request(NODES);

    expect(second.requests).toHaveLength(1);
  });

  it.each([
    ['empty', () => ''],
    ['truncated', (pem: string) => pem.slice(0, -30)],
  ])('that are %s for a moment are not used: the server stays trusted', async (_, spoil) => {
    const ca = createAuthority('ca');
    const caFile = file('ca.crt', ca.cert);
    const server = await scene.serve(ok, { tls: ca.issue('server') });
    const transport = scene.transportTo(server, OWN_LOOK_ONLY, { ca: undefined, caFile });
    await transport.request(NODES);

    file('ca.crt', spoil(createAuthority('more').cert + ca.cert));
    await nextLook();
    await transport.request(NODES);
    server.cut();
    await transport.request(NODES);

    expect(server.requests.length).toBeGreaterThanOrEqual(3);
  });
});

describe('of the client, replaced while a call is in progress', () => {
  const ends: (() => void)[] = [];
  const handler: Handler = (request, reply) => {
    if (request.path === SLOW.path) ends.push(() => reply.json(200, { slow: true }));
    else if (request.query.has('watch')) reply.open().write('\n');
    else reply.json(200, {});
  };
  afterEach(() => void ends.splice(0));

  async function connected() {
    const server = await scene.serve(handler, { tls: { ...scene.authority.issue('server'), ca: clients.cert } });
    const one = clients.issue('one');
    const files = { certFile: file('crt', one.cert), keyFile: file('key', one.key) };
    const metrics = recordMetrics();
    const transport = scene.transportTo(server, { ...OWN_LOOK_ONLY, metrics }, files);
    const slow = transport.request(SLOW);
    await vi.waitFor(() => expect(ends).toHaveLength(1));
    return { server, transport, metrics, slow };
  }

  async function replace({ cert, key }: KeyPair): Promise<void> {
    file('key', key);
    file('crt', cert);
    await nextLook();
  }

  it('are used by the next call, which does not wait for the call in progress; both succeed', async () => {
    const { server, transport, slow, metrics } = await connected();
    await replace(clients.issue('two'));

    await transport.request(NODES);

    expect(shown(server, NODES)).toEqual(['two']);
    ends[0]!();
    expect(await slow).toEqual({ slow: true });
    // The old connection closes now or soon. Then calls have their own connection again.
    await vi.waitFor(async () => {
      await transport.request(NODES);
      expect(metrics.opened).toEqual(['call', 'watch', 'call']);
    });
  });

  it('are not used before both the key and its certificate are replaced', async () => {
    const { server, transport, slow } = await connected();
    const two = clients.issue('two');
    file('key', two.key);
    await nextLook();
    await transport.request(NODES);

    file('crt', two.cert);
    await nextLook();
    await transport.request(NODES);

    expect(shown(server, NODES)).toEqual(['one', 'two']);
    ends[0]!();
    await slow;
  });

  it('never lead to more than three connections: the watch restarts', async () => {
    const { server, transport, metrics, slow } = await connected();
    const watch = drain(await transport.stream(WATCH));
    const watchEnd = expect(watch).rejects.toMatchObject({ failure: 'connection' });
    await transport.request(RENEW);
    expect(metrics.mostOpen).toBe(3);
    await replace(clients.issue('two'));

    await Promise.all([transport.request(NODES), transport.request(RENEW), transport.request(NODES)]);
    await watchEnd;
    await transport.stream(WATCH);
    ends[0]!();
    await slow;
    await transport.request(NODES);

    expect(shown(server, RENEW)).toEqual(['one', 'two']);
    expect(new Set(shown(server, NODES).slice(1))).toEqual(new Set(['two']));
    expect(metrics.mostOpen).toBe(3);
    expect(metrics.attempts.filter(({ code }) => code !== '200')).toEqual([]);
  });
});

/** The client names in the certificates of these requests. */
function shown(server: LocalServer, { path }: TransportRequest): (string | undefined)[] {
  return server.requests.filter((request) => request.path === path).map(({ client }) => client);
}

it('that changed end a watch when the next watch connects, not before', async () => {
  const caFile = file('ca.crt', scene.authority.cert);
  const server = await scene.serve((_, reply) => reply.open().write('\n'));
  const metrics = recordMetrics();
  const transport = scene.transportTo(server, { credentialsIntervalMs: 50, metrics }, { ca: undefined, caFile });
  const first = drain(await transport.stream(WATCH));
  const firstEnd = expect(first).rejects.toMatchObject({ failure: 'connection' });
  file('ca.crt', scene.authority.cert + createAuthority('more').cert);
  await nextLook();
  expect(server.open).toBe(1);

  await transport.stream(WATCH);

  await firstEnd;
  expect(server.connections).toBe(2);
  expect(metrics.mostOpen).toBe(1);
});
