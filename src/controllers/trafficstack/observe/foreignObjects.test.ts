import type { V1ConfigMap, V1DaemonSet } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createInformer } from '../../../runtime/cache/informer.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { CONFIG_MAPS, DAEMONSETS, DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { PacedQueue } from '../../../runtime/controller/workqueue.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { FakeApi, refusal } from '../../../runtime/testing/fakeApi/fakeApi.ts';
import { hangOn, refuseOn } from '../../../runtime/testing/fakeApi/overrides.ts';
import { watchesOf, type FakeWatches } from '../../../runtime/testing/fakeApi/watches.ts';
import { ForeignObjects, type Sought } from './foreignObjects.ts';

const THEIRS = { fieldManager: 'theirs' };
/** Longer than the reflector waits before it asks again. */
const NEXT_WATCH_MS = 10_000;
let api: FakeApi;
let transport: FakeWatches;
let clock: FakeClock;
let foreignObjects: ForeignObjects;
let told: string[];
/** Receives each stack, and after which time it is enqueued: ms. */
let tell: (stack: string, ms: number) => void;
let isLeader: boolean;
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  api = new FakeApi();
  transport = watchesOf(api, [CONFIG_MAPS, DAEMONSETS, DEPLOYMENTS]);
  clock = new FakeClock();
  told = [];
  tell = (stack) => told.push(stack);
  isLeader = true;
  foreignObjects = new ForeignObjects({
    ...{ client: api, clock, isLeader: () => isLeader },
    create: (selection) => createInformer({ ...selection, transport, clock, logger: createLogger('silent') }),
    changed: new PacedQueue({ addAfter: (stack, ms) => tell(stack, ms) }, clock),
  });
  stop = new AbortController();
  running = foreignObjects.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await running;
  expect([foreignObjects.watches, transport.open, clock.pending]).toEqual([0, 0, 0]);
});

const of = (name: string) => ({ resource: DEPLOYMENTS, object: { metadata: { namespace: 'shop', name } } });
const make = (name: string) => api.apply(DEPLOYMENTS, of(name).object, THEIRS);
const remove = (name: string) => api.delete(DEPLOYMENTS, { namespace: 'shop', name });
const reads = () => api.calls.flatMap(({ verb, name }) => (verb === 'get' || verb === 'list' ? `${verb} ${name}` : []));
const isTold = (stack = 'main') => vi.waitFor(() => expect(told.splice(0)).toContain(stack));
/** One reconcile that reads these. */
async function readerFor(names: readonly string[], stack = 'main') {
  const seen = foreignObjects.readerFor(stack);
  const found = await Promise.all(names.map((name) => seen.read(of(name))));
  seen.end();
  return { names: found.map((live) => live?.metadata?.name), hasStaleWatch: seen.hasStaleWatch };
}
const isWatched = () => vi.waitFor(async () => expect(await readerFor(['db'])).toMatchObject({ hasStaleWatch: false }));

describe('an object of another owner', () => {
  it('is read before it is watched, and then from the cache: its stack gets each change', async () => {
    expect(await readerFor(['db'])).toEqual({ names: [undefined], hasStaleWatch: true });
    await isTold();
    expect(await readerFor(['db'])).toEqual({ names: [undefined], hasStaleWatch: false });
    await make('db');
    await isTold();
    expect(await readerFor(['db'])).toEqual({ names: ['db'], hasStaleWatch: false });
    await remove('db');
    await isTold();
    expect(await readerFor(['db'])).toEqual({ names: [undefined], hasStaleWatch: false });
    expect(reads()).toEqual(['get db']);
  });

  it('that changes again and again reports its stack at once, and then for the end of a second', async () => {
    await readerFor(['db']);
    await isTold();
    await clock.advance(1_000);
    const waits: number[] = [];
    tell = (_stack, ms) => waits.push(ms);
    for (let round = 0; round < 3; round += 1) {
      await make('db');
      await remove('db');
    }
    await vi.waitFor(() => expect(waits).toEqual([0, ...Array<number>(5).fill(1_000)]));
  });

  it('is watched once for all stacks, for as long as one looks at it', async () => {
    await readerFor(['db', 'cache']);
    await readerFor(['db'], 'other');
    expect(foreignObjects.watches).toBe(2);
    await isTold();
    await readerFor(['db']);
    expect(foreignObjects.watches).toBe(1);
    foreignObjects.forget('main');
    expect(foreignObjects.watches).toBe(1);
    await make('db');
    await isTold('other');
    foreignObjects.forget('other');
    expect(foreignObjects.watches).toBe(0);
  });

  it('that was deleted before its watch began is missed', async () => {
    await make('db');
    expect((await readerFor(['db'])).names).toEqual(['db']);
    await remove('db');
    await isTold();
    expect((await readerFor(['db'])).names).toEqual([undefined]);
  });

  it('is read, at most once in 5 s, while it may not be watched', async () => {
    refuseOn(api, (call) => (call.verb === 'watch' ? refusal(call, 403, 'Forbidden') : undefined));
    for (let round = 0; round < 3; round += 1) expect(await readerFor(['db'])).toMatchObject({ hasStaleWatch: true });
    await make('db');
    expect((await readerFor(['db'])).names).toEqual([undefined]);
    await clock.advance(5_000);
    expect(await readerFor(['db'])).toEqual({ names: ['db'], hasStaleWatch: true });
    expect(reads()).toEqual(['get db', 'get db']);
  });

  it('is read while its watch is refused later on', async () => {
    await readerFor(['db']);
    await isWatched();
    refuseOn(api, (call) => (call.verb === 'watch' ? refusal(call, 403, 'Forbidden') : undefined));
    transport.endAll();
    await vi.waitFor(async () => {
      await clock.advance(NEXT_WATCH_MS);
      expect(await readerFor(['db'])).toMatchObject({ hasStaleWatch: true });
    });
    await make('db');
    await clock.advance(5_000);
    expect((await readerFor(['db'])).names).toEqual(['db']);
  });

  it('is read once for stacks that ask at the same time', async () => {
    hangOn(api, ({ verb }) => verb === 'watch');
    await Promise.all([readerFor(['db']), readerFor(['db'], 'other')]);
    expect(reads()).toEqual(['get db']);
  });

  it('a read that failed is not kept', async () => {
    refuseOn(api, (call) => refusal(call, 403, 'Forbidden'));
    await expect(readerFor(['db'])).rejects.toThrow();
    refuseOn(api, () => undefined);
    expect((await readerFor(['db'])).names).toEqual([undefined]);
  });
});

describe('an object that is about to be created', () => {
  const find = async (name: string) => {
    const seen = foreignObjects.readerFor('main');
    const found = await seen.find(of(name));
    seen.end();
    return found?.metadata?.name;
  };

  it('is watched if another owner has it, and then costs nothing', async () => {
    await make('db');
    expect(await find('db')).toBe('db');
    await isTold();
    expect(await find('db')).toBe('db');
    expect(reads()).toEqual(['get db']);
    await remove('db');
    await isTold();
    expect(await find('db')).toBeUndefined();
    expect(foreignObjects.watches).toBe(0);
  });

  it('is never missing by a cache, which may be late', async () => {
    await readerFor(['db']);
    await isWatched();
    // The watch tells nothing of it.
    api.objects.set('Deployment shop/db', of('db').object);
    const seen = foreignObjects.readerFor('main');
    expect(await seen.read(of('db'))).toBeUndefined();
    expect(await seen.find(of('db'))).toMatchObject({ metadata: { name: 'db' } });
  });
});

describe('objects that are looked for', () => {
  const daemonSet = (name: string, isSought: boolean): V1DaemonSet => ({
    metadata: { namespace: 'monitoring', name, labels: { app: name } },
    spec: { selector: {}, template: { spec: { hostNetwork: isSought, containers: [] } } },
  });
  const isSought = (live: KubeObject) => (live as V1DaemonSet).spec?.template.spec?.hostNetwork === true;
  const SOUGHT: Sought = { resource: DAEMONSETS, concerns: isSought, mayConcern: isSought };
  const list = async () => {
    const seen = foreignObjects.readerFor('main');
    const found = await seen.list(SOUGHT);
    seen.end();
    return found;
  };
  const put = (name: string, is: boolean) => api.apply(DAEMONSETS, daemonSet(name, is), { ...THEIRS, force: true });

  it('are listed before they are watched, and then from the cache; of others only the name is kept', async () => {
    await put('a', true);
    await put('b', false);
    expect(await list()).toHaveLength(2);
    await isTold();
    const [a, b] = await list();
    expect(a).toMatchObject(daemonSet('a', true));
    expect(Object.keys(b ?? {}).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    expect(Object.keys(b?.metadata ?? {}).sort()).toEqual(['name', 'namespace', 'resourceVersion', 'uid']);
    expect(reads()).toEqual(['list ']);
  });

  it('only changes that matter are events', async () => {
    await list();
    await isTold();
    await put('b', false);
    await vi.waitFor(async () => expect(await list()).toHaveLength(1));
    expect(told).toEqual([]);
    await put('b', true);
    await isTold();
  });
});

it('without what nobody reads: what kubectl has applied, the content of a ConfigMap; its managed fields tell whose it is', async () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', mine: 'x' };
  const member = { resource: CONFIG_MAPS, object: { metadata: { namespace: 'shop', name: 'etc' } } };
  const map: V1ConfigMap = { metadata: { ...member.object.metadata, annotations }, data: { a: 'b' }, binaryData: {} };
  await api.apply(CONFIG_MAPS, map, THEIRS);
  let seen = foreignObjects.readerFor('main');
  await seen.read(member);
  seen.end();
  await isTold();
  seen = foreignObjects.readerFor('main');
  const live = (await seen.read(member)) as V1ConfigMap;
  expect([live.data, live.binaryData]).toEqual([undefined, undefined]);
  expect(live.metadata?.managedFields?.map(({ manager }) => manager)).toEqual([THEIRS.fieldManager]);
  expect(live.metadata?.annotations).toEqual({ mine: 'x' });
});

it('a replica that no longer leads watches nothing, and all again when it leads', async () => {
  await readerFor(['db']);
  await isTold();
  isLeader = false;
  await clock.advance(1_000);
  expect(foreignObjects.watches).toBe(0);
  isLeader = true;
  await readerFor(['db']);
  expect(foreignObjects.watches).toBe(1);
});
