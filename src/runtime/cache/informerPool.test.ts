import type { V1ConfigMap } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { CONFIG_MAPS } from '../client/resources.ts';
import { FakeClock } from '../process/clock.ts';
import { createLogger } from '../process/logger.ts';
import { FakeApi, refusal } from '../testing/fakeApi/fakeApi.ts';
import { refuseOn } from '../testing/fakeApi/overrides.ts';
import { watchesOf, type FakeWatches } from '../testing/fakeApi/watches.ts';
import { createInformer } from './informer.ts';
import { InformerPool, type WatchRequest } from './informerPool.ts';

let api: FakeApi;
let transport: FakeWatches;
let pool: InformerPool;
let clock: FakeClock;
/** The holders for which onChange was called, since `told` was last emptied. */
let told: string[];

beforeEach(() => {
  api = new FakeApi();
  transport = watchesOf(api, [CONFIG_MAPS]);
  clock = new FakeClock();
  told = [];
  pool = new InformerPool({
    create: (selection) => createInformer({ ...selection, transport, clock, logger: createLogger('silent') }),
    onChange: (holder) => told.push(holder),
  });
});
afterEach(async () => {
  await pool.close();
  expect([pool.size, transport.open, clock.pending]).toEqual([0, 0, 0]);
});

const named = (name: string, concerns?: WatchRequest['concerns']): WatchRequest => ({
  selection: { resource: CONFIG_MAPS, namespace: 'x', fieldSelector: `metadata.name=${name}` },
  concerns,
});
const all = (concerns?: WatchRequest['concerns']): WatchRequest => ({ selection: { resource: CONFIG_MAPS }, concerns });
const put = (name: string, value: string) =>
  api.apply<V1ConfigMap>(CONFIG_MAPS, { metadata: { namespace: 'x', name }, data: { value } }, { fieldManager: 'f' });
const valueOf = (live: V1ConfigMap | undefined): string | undefined => live?.data?.value;
const cached = (request: WatchRequest): string | undefined => valueOf(pool.find(request.selection)?.lister.get('x/a'));
const areTold = (...holders: string[]) =>
  vi.waitFor(() => expect([...new Set(told.splice(0))].sort()).toEqual(holders));

it('two holders of one object share a watch, which ends with the last of them', async () => {
  await put('a', '1');
  pool.watch('one', [named('a')]);
  pool.watch('two', [named('a'), named('a')]);
  await areTold('one', 'two');
  expect([transport.open, cached(named('a'))]).toEqual([1, '1']);
  pool.watch('one', []);
  await put('a', '2');
  await areTold('two');
  expect(cached(named('a'))).toBe('2');
  pool.watch('two', [named('b')]);
  await vi.waitFor(() => expect(transport.open).toBe(1));
  expect([pool.size, pool.find(named('a').selection)]).toEqual([1, undefined]);
});

it('a selection that stays held is not watched again', async () => {
  pool.watch('one', [named('a')]);
  await areTold('one');
  const { length } = api.calls;
  pool.watch('one', [named('a')]);
  pool.watch('one', [named('a'), named('b')]);
  await areTold('one');
  expect(api.calls.slice(length)).toMatchObject([{ verb: 'watch', options: { fieldSelector: 'metadata.name=b' } }]);
});

it('a holder gets a call after the first list, also if it is empty', async () => {
  pool.watch('one', [named('a')]);
  await areTold('one');
  expect(pool.find(named('a').selection)?.synced).toBe(true);
});

it('and when they are refused', async () => {
  refuseOn(api, (call) => refusal(call, 403, 'Forbidden'));
  pool.watch('one', [named('a')]);
  await areTold('one');
  expect(pool.find(named('a').selection)).toMatchObject({ synced: false, refusal: { status: 403 } });
});

it('a holder gets calls only for changes from or to objects that concern it', async () => {
  pool.watch('one', [all((live) => valueOf(live) === 'mine')]);
  await areTold('one');
  const change = async (value: string) => {
    await put('a', value);
    await vi.waitFor(() => expect(cached(all())).toBe(value));
    return told.splice(0);
  };
  expect(await change('other')).toEqual([]);
  expect(await change('mine')).toEqual(['one']);
  expect(await change('other')).toEqual(['one']);
  expect(await change('another')).toEqual([]);
  expect(await change('mine')).toEqual(['one']);
  await api.delete(CONFIG_MAPS, { namespace: 'x', name: 'a' });
  await areTold('one');
});

it('after it is cleared, all can be held again', async () => {
  pool.watch('one', [named('a')]);
  pool.watch('two', [all()]);
  await areTold('one', 'two');
  pool.clear();
  await vi.waitFor(() => expect(transport.open).toBe(0));
  await put('a', '1');
  expect(told).toEqual([]);
  pool.watch('one', [named('a')]);
  await areTold('one');
  expect(cached(named('a'))).toBe('1');
});

it('after it is closed, nothing is watched', async () => {
  await pool.close();
  pool.watch('one', [named('a')]);
  expect(pool.size).toBe(0);
});
