import { describe, expect, it } from 'vitest';
import type { Client } from '../../client/client.ts';
import { CONFIG_MAPS, NODES } from '../../client/resources.ts';
import { apiContract } from './contract.ts';
import { FakeApi, refusal, type Change } from './fakeApi.ts';
import { hangOn, refuseOn } from './overrides.ts';

const NODE = { metadata: { name: 'n1' } };
const OURS = { fieldManager: 'ours' };

describe('the fake API server', () => {
  const api = new FakeApi();
  apiContract(() => api);
});

describe('what a test sees and decides', () => {
  it('is each call, refused ones too, and each write that was let through', async () => {
    const api = new FakeApi();
    api.intercept = (call) => {
      if (call.verb === 'create') throw refusal(call, 403, 'Forbidden', 'no');
      return undefined;
    };
    await expect(api.create(NODES, NODE)).rejects.toThrow('POST /api/v1/nodes: 403 Forbidden: no');
    await api.apply(NODES, NODE, OURS);
    await api.mergePatch(NODES, { name: 'n1' }, { metadata: { labels: { a: 'b' } } }, OURS);
    expect(api.calls.map(({ verb, what, name }) => `${verb} ${what} ${name}`)).toEqual([
      'create Node n1',
      'apply Node n1',
      'patch Node n1',
    ]);
    expect(api.writes).toEqual(['apply Node n1', 'patch Node n1 {"metadata":{"labels":{"a":"b"}}}']);
  });

  it('is when an answer comes', async () => {
    const api = new FakeApi({ kind: 'Node', ...NODE });
    const { promise, resolve } = Promise.withResolvers<undefined>();
    api.intercept = () => promise;
    const deleted = api.delete(NODES, { name: 'n1' });
    await Promise.resolve();
    expect(api.object(NODES, { name: 'n1' })).toBeDefined();
    resolve(undefined);
    await deleted;
    expect(api.object(NODES, { name: 'n1' })).toBeUndefined();
  });

  it('is each change of a kind, in order, until it is called off', async () => {
    const api = new FakeApi();
    const seen: string[] = [];
    const stop = api.watch(NODES, ({ type, object }: Change) => seen.push(`${type} ${object.metadata?.name ?? ''}`));
    await api.create(NODES, NODE);
    await api.create(CONFIG_MAPS, { metadata: { namespace: 'a', name: 'b' } });
    await api.mergePatch(NODES, { name: 'n1' }, { metadata: { labels: { a: 'b' } } }, OURS);
    await api.mergePatch(NODES, { name: 'n1' }, { metadata: { labels: { a: 'b' } } }, OURS);
    await api.delete(NODES, { name: 'n1' });
    stop();
    await api.create(NODES, NODE);
    expect(seen).toEqual(['ADDED n1', 'MODIFIED n1', 'DELETED n1']);
  });

  it('is what is kept of a write', async () => {
    const api = new FakeApi();
    api.prune = (object) => ({ ...object, data: {} });
    const at = { namespace: 'a', name: 'b' };
    expect(await api.create(CONFIG_MAPS, { metadata: at, data: { x: '1' } })).toMatchObject({ data: {} });
    expect(await api.get(CONFIG_MAPS, at)).toMatchObject({ data: {} });
  });
});

describe('overrides', () => {
  it('refuse the calls that a test chooses, also of a client that was copied', async () => {
    const api = new FakeApi({ kind: 'Node', ...NODE });
    const original: Client = api;
    const client = { ...original };
    refuseOn(api, (call) => (call.verb === 'list' ? refusal(call, 429, 'TooManyRequests') : undefined));
    await expect(client.list(NODES)).rejects.toMatchObject({ status: 429 });
    expect(await client.get(NODES, { name: 'n1' })).toMatchObject(NODE);
    expect(api.calls.map(({ verb }) => verb)).toEqual(['list', 'get']);
  });

  it('leave calls without an answer until they are aborted', async () => {
    const api = new FakeApi({ kind: 'Node', ...NODE });
    const hanging = hangOn(api, ({ name }) => name === 'n1');
    await api.create(NODES, { metadata: { name: 'n2' } });
    const end = new AbortController();
    const deleted = api.delete(NODES, { name: 'n1' }, { signal: end.signal });
    expect(hanging()).toBe(1);
    end.abort(new Error('time is over'));
    await expect(deleted).rejects.toThrow('time is over');
    expect([hanging(), api.writes]).toEqual([0, ['create Node n2']]);
    expect(api.object(NODES, { name: 'n1' })).toBeDefined();
  });
});
