import { describe, expect, it, vi } from 'vitest';
import { createClient, leaderOnly } from './client.ts';
import type { Client } from './client.ts';
import { ApiError, NotLeaderError } from './errors.ts';
import { DEPLOYMENTS, NODES } from './resources.ts';
import type { Transport, TransportRequest } from './transport.ts';

interface Recorded {
  client: Client;
  requests: TransportRequest[];
}

/** A client whose transport returns `answers`, one after the other. */
function clientAnswering(...answers: unknown[]): Recorded {
  const requests: TransportRequest[] = [];
  const request = (sent: TransportRequest): Promise<unknown> => {
    requests.push(sent);
    const answer = answers.shift() ?? {};
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return { client: createClient({ request } as Transport), requests };
}

const refused = (status: number): ApiError => new ApiError({ status, reason: 'R', method: 'DELETE', path: '/' });

describe('a client', () => {
  it('reads all pages of a list, and sets the kind of each object', async () => {
    const { client, requests } = clientAnswering(
      { items: [{ metadata: { name: 'a' } }], metadata: { continue: 'next' } },
      { items: [{ metadata: { name: 'b' } }], metadata: { continue: '' } },
    );

    expect(await client.list(NODES, { labelSelector: 'x=y' })).toEqual([
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } },
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'b' } },
    ]);
    expect(requests.map(({ query }) => [query?.limit, query?.continue, query?.labelSelector])).toEqual([
      [500, undefined, 'x=y'],
      [500, 'next', 'x=y'],
    ]);
  });

  it('reads no more than one page of a list with a limit', async () => {
    const { client, requests } = clientAnswering(
      { items: [{ metadata: { name: 'a' } }], metadata: { continue: 'next' } },
      { items: [{ metadata: { name: 'b' } }] },
    );

    expect((await client.list(NODES, { limit: 1 })).map(({ metadata }) => metadata?.name)).toEqual(['a']);
    expect(requests.map(({ query }) => query?.limit)).toEqual([1]);
  });

  it('applies with its field manager and the kind of the resource', async () => {
    const { client, requests } = clientAnswering();

    await client.apply(
      DEPLOYMENTS,
      { metadata: { name: 'd', namespace: 'a' } },
      { fieldManager: 'me', force: true, dryRun: true },
    );

    expect(requests[0]).toMatchObject({
      method: 'PATCH',
      path: '/apis/apps/v1/namespaces/a/deployments/d',
      contentType: 'application/apply-patch+yaml',
      query: { fieldManager: 'me', force: true, dryRun: 'All' },
      body: { apiVersion: 'apps/v1', kind: 'Deployment' },
    });
  });

  it('merges a patch into the status', async () => {
    const { client, requests } = clientAnswering();

    const patch = { status: { x: null } };
    await client.mergePatch(NODES, { name: 'n' }, patch, { fieldManager: 'me', subresource: 'status' });

    expect(requests[0]).toMatchObject({
      path: '/api/v1/nodes/n/status',
      contentType: 'application/merge-patch+json',
      query: { fieldManager: 'me' },
      body: patch,
    });
  });

  it('requests only the metadata in the response to a patch with metadataOnly', async () => {
    const { client, requests } = clientAnswering();

    await client.mergePatch(NODES, { name: 'n' }, {}, { fieldManager: 'me', metadataOnly: true });
    await client.mergePatch(NODES, { name: 'n' }, {}, { fieldManager: 'me' });

    const metadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
    expect(requests.map(({ accept }) => accept)).toEqual([metadata, undefined]);
  });

  it('sends the operations of a JSON patch', async () => {
    const { client, requests } = clientAnswering();
    const operations = [{ op: 'remove', path: '/spec/x' }] as const;

    await client.jsonPatch(NODES, { name: 'n' }, operations, { fieldManager: 'me' });

    expect(requests[0]).toMatchObject({
      path: '/api/v1/nodes/n',
      contentType: 'application/json-patch+json',
      query: { fieldManager: 'me' },
      body: operations,
    });
  });

  it('creates in the namespace of the object', async () => {
    const { client, requests } = clientAnswering();

    await client.create(DEPLOYMENTS, { metadata: { name: 'd', namespace: 'a' } });

    expect(requests[0]).toMatchObject({ method: 'POST', path: '/apis/apps/v1/namespaces/a/deployments' });
  });

  it('deletes successfully if the object does not exist, but throws other errors', async () => {
    const { client, requests } = clientAnswering(refused(404), refused(409));
    const preconditions = { uid: 'u' };

    await client.delete(NODES, { name: 'n' }, { propagationPolicy: 'Foreground', preconditions });
    await expect(client.delete(NODES, { name: 'n' })).rejects.toMatchObject({ status: 409 });

    expect(requests[0]?.body).toMatchObject({ propagationPolicy: 'Foreground', preconditions });
  });
});

describe('a client for the leader', () => {
  const writes: [string, (client: Client) => Promise<unknown>][] = [
    ['create', (client) => client.create(NODES, {})],
    ['apply', (client) => client.apply(NODES, { metadata: { name: 'n' } }, { fieldManager: 'me' })],
    ['mergePatch', (client) => client.mergePatch(NODES, { name: 'n' }, {}, { fieldManager: 'me' })],
    ['jsonPatch', (client) => client.jsonPatch(NODES, { name: 'n' }, [], { fieldManager: 'me' })],
    ['delete', (client) => client.delete(NODES, { name: 'n' })],
  ];

  it.each(writes)('%s: is sent while it leads, with a guard for retries', async (_, write) => {
    const { client, requests } = clientAnswering();
    const leadership = { isLeader: true, signal: new AbortController().signal };

    await write(leaderOnly(client, leadership));

    expect(requests).toHaveLength(1);
    expect(requests[0]?.guard).not.toThrow();
    leadership.isLeader = false;
    expect(requests[0]?.guard).toThrow(NotLeaderError);
  });

  it.each(writes)('%s: is rejected once leadership has ended, by isLeader or by its signal', async (_, write) => {
    const { client, requests } = clientAnswering();

    const live = new AbortController().signal;
    await expect(write(leaderOnly(client, { isLeader: false, signal: live }))).rejects.toThrow(NotLeaderError);
    await expect(write(leaderOnly(client, { isLeader: true, signal: AbortSignal.abort() }))).rejects.toThrow(
      NotLeaderError,
    );

    expect(requests).toHaveLength(0);
  });

  it.each(writes)('%s: in progress is cancelled when leadership ends', async (_, write) => {
    const { client, requests } = clientAnswering();
    const end = new AbortController();

    await write(leaderOnly(client, { isLeader: true, signal: end.signal }));
    end.abort();

    expect(requests[0]?.signal?.aborted).toBe(true);
  });

  it('cancels the calls of one caller with the term in which each was sent', async () => {
    const { client, requests } = clientAnswering();
    const terms = [new AbortController(), new AbortController()] as const;
    const leadership = { isLeader: true, signal: terms[0].signal };
    const leader = leaderOnly(client, leadership);
    const own = { signal: new AbortController().signal };
    for (const { signal } of terms) {
      leadership.signal = signal;
      await leader.create(NODES, {}, own);
      await leader.create(NODES, {}, own);
    }
    terms[0].abort();
    expect(requests.map(({ signal }) => signal?.aborted)).toEqual([true, true, false, false]);
    // Composite signals cost weak references: the calls of a reconcile share one.
    expect(new Set(requests.map(({ signal }) => signal)).size).toBe(2);
  });

  it('keeps the caller’s own guard and signal', async () => {
    const { client, requests } = clientAnswering();
    const own = { signal: AbortSignal.abort(), guard: vi.fn() };

    await leaderOnly(client, { isLeader: true, signal: new AbortController().signal }).create(NODES, {}, own);
    requests[0]?.guard?.();

    expect(requests[0]?.signal?.aborted).toBe(true);
    expect(own.guard).toHaveBeenCalled();
  });

  it('reads without a gate', async () => {
    const { client, requests } = clientAnswering({}, { items: [] });
    const standby = leaderOnly(client, { isLeader: false, signal: AbortSignal.abort() });

    await standby.get(NODES, { name: 'n' });
    await standby.list(NODES);

    expect(requests).toHaveLength(2);
  });
});
