import type { V1ConfigMap } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS } from '../client/resources.ts';
import { FakeClock } from '../process/clock.ts';
import { createLogger } from '../process/logger.ts';
import { FakeApi, refusal } from '../testing/fakeApi/fakeApi.ts';
import { refuseOn } from '../testing/fakeApi/overrides.ts';
import { watchesOf, type FakeWatches } from '../testing/fakeApi/watches.ts';
import { account, configMap, namespace, type Group } from './testing/members.ts';
import { watchMembers, type MemberCaches } from './observe.ts';

const NEAR = configMap('x/near', { group: 'red' });
const FAR = configMap('y/far', { group: 'blue' });
const ACCOUNT = account('x/near', { group: 'red' });
const MEMBERS = [namespace('x'), NEAR, FAR, ACCOUNT];
const THEIRS = { fieldManager: 'theirs' };
/** Longer than the reflector waits between two watches, and after a refusal. */
const NEXT_WATCH_MS = 10_000;

let api: FakeApi;
let transport: FakeWatches;
let clock: FakeClock;
let end: AbortController;
let running: Promise<unknown>;

beforeEach(() => {
  api = new FakeApi();
  transport = watchesOf(api, [NAMESPACES, CONFIG_MAPS, SERVICE_ACCOUNTS]);
  clock = new FakeClock();
  end = new AbortController();
  running = Promise.resolve();
});

afterEach(async () => {
  end.abort();
  await running;
  expect([transport.open, clock.pending]).toEqual([0, 0]);
});

function start(onRefusal?: () => void): MemberCaches<Group> {
  const caches = watchMembers<Group>(MEMBERS, { transport, clock, logger: createLogger('silent'), onRefusal });
  running = Promise.all(caches.informers.map((informer) => informer.run(end.signal)));
  return caches;
}

async function started(): Promise<MemberCaches<Group>> {
  const caches = start();
  await Promise.all(caches.informers.map((informer) => informer.whenSyncedOrRefused()));
  return caches;
}

const put = (at: string, data: Record<string, string>): Promise<V1ConfigMap> => {
  const [where = '', name = ''] = at.split('/');
  return api.apply<V1ConfigMap>(CONFIG_MAPS, { metadata: { namespace: where, name }, data }, THEIRS);
};

/** Refuses watches of ConfigMaps in the namespace x. */
function refuse(detail = 'no'): void {
  refuseOn(api, (call) =>
    call.verb === 'watch' && call.what === 'ConfigMap' && call.namespace === 'x'
      ? refusal(call, 403, 'Forbidden', detail)
      : undefined,
  );
}

/** Ends the watches, and waits for the next ones. */
async function watchAgain(open: number): Promise<void> {
  transport.endAll();
  // The end of a watch may be noticed only after the time has passed.
  await vi.waitFor(async () => {
    await clock.advance(NEXT_WATCH_MS);
    expect(transport.open).toBe(open);
  });
}

describe('watchMembers', () => {
  it('watches each member by its name, in its namespace, and asks for nothing else', async () => {
    const { informers } = await started();
    expect(api.calls.map(({ verb, what, options }) => [verb, what, options])).toMatchObject([
      ['watch', 'Namespace', { fieldSelector: 'metadata.name=x' }],
      ['watch', 'ConfigMap', { namespace: 'x', fieldSelector: 'metadata.name=near' }],
      ['watch', 'ConfigMap', { namespace: 'y', fieldSelector: 'metadata.name=far' }],
      ['watch', 'ServiceAccount', { namespace: 'x', fieldSelector: 'metadata.name=near' }],
    ]);
    expect(api.calls[0]?.namespace).toBeUndefined();
    expect(informers.map(({ resource }) => resource)).toEqual(MEMBERS.map(({ resource }) => resource));
  });

  it('has the object under the name of a member, whoever made it, as it is now', async () => {
    await put('x/near', { a: '1' });
    const caches = await started();
    expect(caches.live(NEAR)).toMatchObject({ kind: 'ConfigMap', data: { a: '1' } });
    await put('x/near', { a: '2' });
    await vi.waitFor(() => expect(caches.live(NEAR)).toMatchObject({ data: { a: '2' } }));
    await api.delete(CONFIG_MAPS, { namespace: 'x', name: 'near' });
    await vi.waitFor(() => expect(caches.live(NEAR)).toBeUndefined());
  });

  it('has nothing for a member of which there is no object, and for one that it does not watch', async () => {
    await put('x/near', {});
    await put('x/other', {});
    const caches = await started();
    expect(caches.live(NEAR)).toBeDefined();
    expect([FAR, ACCOUNT, configMap('x/other')].map((member) => caches.live(member))).toEqual(Array(3).fill(undefined));
  });

  it('keeps no managed fields', async () => {
    const { metadata } = await put('x/near', { a: '1' });
    const caches = await started();
    expect(metadata?.managedFields).toHaveLength(1);
    expect(caches.live(NEAR)?.metadata).toEqual({ ...metadata, managedFields: undefined });
  });
});

describe('unknownGroups', () => {
  it('are all groups until the caches are filled, also undefined for members without a group', async () => {
    const caches = start();
    expect(caches.unknownGroups()).toEqual(new Set<Group | undefined>([undefined, 'red', 'blue']));
    await vi.waitFor(() => expect(caches.unknownGroups()).toEqual(new Set()));
  });

  it('contain the group of a member that may not be watched, though its other members are known', async () => {
    refuse();
    const caches = await started();
    expect(caches.informers.map(({ synced }) => synced)).toEqual([true, false, true, true]);
    expect(caches.unknownGroups()).toEqual(new Set(['red']));
  });

  it('contain the group of a filled cache whose watch is refused, until it is allowed', async () => {
    await put('x/near', {});
    const caches = await started();
    refuse();
    await watchAgain(3);
    expect(caches.live(NEAR)).toBeDefined();
    expect(caches.unknownGroups()).toEqual(new Set(['red']));
    refuseOn(api, () => undefined);
    await watchAgain(4);
    expect(caches.unknownGroups()).toEqual(new Set());
  });
});

describe('refusals', () => {
  it('name the object that may not be watched, in the words of the API server', async () => {
    refuse('User "x" cannot watch resource "configmaps"');
    const caches = await started();
    const message =
      'User "x" cannot watch resource "configmaps"; allow it: until then, objects that depend on it are unchanged';
    expect(caches.refusals()).toEqual([{ reason: 'Forbidden', object: 'ConfigMap x/near', message }]);
  });

  it('are none where every watch is allowed', async () => {
    expect((await started()).refusals()).toEqual([]);
  });

  it('call onRefusal when they come and go', async () => {
    const told = vi.fn();
    refuse();
    const caches = start(told);
    await vi.waitFor(() => expect(caches.refusals()).toHaveLength(1));
    expect(told).toHaveBeenCalledTimes(1);
    refuseOn(api, () => undefined);
    await watchAgain(4);
    expect(caches.refusals()).toEqual([]);
    expect(told).toHaveBeenCalledTimes(2);
  });
});
