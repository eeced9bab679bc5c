import type { V1Node } from '@kubernetes/client-node';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { withoutManagedFields } from './informer.ts';
import { cachePart, optionalCachePart, unneededCachePart } from '../manager/manager.ts';
import type { InformerEvent } from './informer.ts';
import { castReflector, castWatching, refusing, until } from '../testing/reflectorScene.ts';
import { createScene } from '../testing/scene.ts';
import type { Scene } from '../testing/scene.ts';

let scene: Scene;
beforeAll(() => {
  scene = createScene();
});
afterEach(() => scene.close());

it('is synced once all initial objects are cached and were delivered, not before', async () => {
  let open = (): void => undefined;
  const cast = await castReflector(scene, {
    prepare(nodes) {
      nodes.set('a');
      nodes.behaviour.next = [(reply, request) => void (open = () => nodes.answer(request, reply))];
    },
  });
  const seenAtSync: string[][] = [];
  const synced = cast.informer.whenSynced().then(() => seenAtSync.push([...cast.told]));
  await vi.waitFor(() => expect(cast.asked()).toEqual(['watch-list']));
  expect(cast.informer.synced).toBe(false);

  open();
  await synced;

  expect(cast.informer.synced).toBe(true);
  expect(seenAtSync).toEqual([['add a']]);
  await cast.informer.whenSynced();
});

it('ends whenSynced() when its signal is aborted', async () => {
  const cast = await castReflector(scene, {
    prepare(nodes) {
      nodes.behaviour.next = Array.from({ length: 100 }, () => refusing(500));
    },
  });
  const abort = new AbortController();
  const waiting = cast.informer.whenSynced(abort.signal);
  abort.abort();
  await waiting;

  expect(cast.informer.synced).toBe(false);
});

it('is synced without events if there are no objects', async () => {
  const cast = await castReflector(scene);
  await cast.informer.whenSynced();

  expect(cast.told).toEqual([]);
});

it('delivers the cached objects to a late subscriber, then the changes, until it unsubscribes', async () => {
  const cast = await castWatching(scene);
  const late: string[] = [];
  const end = cast.informer.subscribe(({ type, object }) => late.push(`${type} ${object.metadata?.name ?? ''}`));
  expect(late).toEqual(['add a', 'add b']);
  cast.nodes.set('c');
  await vi.waitFor(() => expect(late).toContain('add c'));

  end();
  cast.nodes.set('d');
  await vi.waitFor(() => expect(cast.told).toContain('add d'));

  expect(late).not.toContain('add d');
});

it('counts a subscriber that throws, delivers to the others, and delivers again without a new request', async () => {
  const cast = await castWatching(scene);
  let throwing = true;
  const taken: string[] = [];
  cast.informer.subscribe(({ type, object }) => {
    if (throwing && object.metadata?.name === 'c') throw new Error('not today');
    taken.push(`${type} ${object.metadata?.name ?? ''}`);
  });
  const after = vi.fn();
  cast.informer.subscribe(after);
  cast.nodes.set('c');
  cast.nodes.set('d');
  await vi.waitFor(() => expect(after).toHaveBeenCalledTimes(4));
  expect(taken).toEqual(['add a', 'add b', 'add d']);
  expect(cast.metrics.listenerFailed.mock.calls).toEqual([['nodes']]);

  throwing = false;
  await cast.clock.advance(1_000);

  expect(taken).toEqual(['add a', 'add b', 'add d', 'add c']);
  expect(after).toHaveBeenCalledTimes(4);
  expect(cast.metrics.listenerFailed).toHaveBeenCalledTimes(1);
  expect(cast.asked()).toEqual(['watch-list']);
});

it('delivers nothing again once it was stopped', async () => {
  const cast = await castWatching(scene);
  const throwing = vi.fn(() => {
    throw new Error('not today');
  });
  cast.informer.subscribe(throwing);
  await cast.stop();
  await cast.clock.advance(60_000);

  expect(throwing).toHaveBeenCalledTimes(2);
});

it('changes its cache before it delivers the event', async () => {
  const cast = await castWatching(scene);
  const seen: (string | undefined)[] = [];
  cast.informer.subscribe((event: InformerEvent<V1Node>) => {
    if (event.type === 'update')
      seen.push(cast.informer.lister.get('a')?.metadata?.labels?.x, event.old?.metadata?.labels?.x);
    if (event.type === 'delete') seen.push(cast.informer.lister.get('a')?.kind);
  });

  cast.nodes.set('a', { x: 'new' });
  cast.nodes.delete('a');
  await vi.waitFor(() => expect(seen).toHaveLength(3));

  expect(seen).toEqual(['new', undefined, undefined]);
});

it('stores transformed objects, from lists and watches, and indexes them', async () => {
  const cast = await castWatching(scene, {
    transform: (node) => ({ ...node, spec: undefined }),
    indexes: { label: (node) => Object.keys(node.metadata?.labels ?? {}) },
  });
  cast.nodes.set('c', { x: 'y' });
  await vi.waitFor(() => expect(cast.told).toContain('add c'));

  expect(cast.informer.lister.list().map(({ spec }) => spec)).toEqual([undefined, undefined, undefined]);
  expect(cast.informer.lister.byIndex('label', 'x').map(({ metadata }) => metadata?.name)).toEqual(['c']);
});

it('stores the whole object if the transform throws', async () => {
  const cast = await castWatching(scene, {
    transform: () => {
      throw new Error('not today');
    },
  });

  expect(cast.informer.lister.get('a')?.spec).toBeDefined();
});

it('reports the number of objects to its metrics', async () => {
  const cast = await castWatching(scene);
  cast.nodes.delete('a');
  await vi.waitFor(() => expect(cast.told).toContain('delete a'));

  expect(cast.metrics.objects.mock.calls).toEqual([
    ['nodes', 2],
    ['nodes', 1],
  ]);
});

it('withoutManagedFields drops metadata.managedFields', () => {
  const node: V1Node = { metadata: { name: 'a', managedFields: [{ manager: 'kubelet' }] } };

  expect(withoutManagedFields(node)).toEqual({ metadata: { name: 'a' } });
  expect(withoutManagedFields({})).toEqual({});
});

it('reports a refusal with the message of the API server, until a request succeeds', async () => {
  const onRefusal = vi.fn();
  const cast = await castReflector(scene, {
    onRefusal,
    prepare(nodes) {
      nodes.set('a');
      nodes.behaviour.next = [refusing(403), refusing(403)];
    },
  });
  await cast.informer.whenSyncedOrRefused();
  expect(cast.informer.synced).toBe(false);
  expect(cast.informer.refusal).toMatchObject({ status: 403, detail: 'no' });

  await until(cast, () => expect(cast.informer.synced).toBe(true));
  await vi.waitFor(() => expect(cast.informer.refusal).toBeUndefined());
  expect(cast.asked()).toHaveLength(3);
  expect(onRefusal).toHaveBeenCalledTimes(2);
});

it('keeps its objects if it is refused after the sync, and reports the refusal until a complete list', async () => {
  const sizes: number[] = [];
  const cast = await castWatching(scene, { onRefusal: () => void sizes.push(cast.informer.lister.list().length) });
  cast.nodes.behaviour.next = Array.from({ length: 3 }, () => refusing(403));
  cast.nodes.endAll();
  await until(cast, () => expect(cast.informer.refusal).toBeDefined());
  cast.nodes.delete('b');
  expect(cast.informer.synced).toBe(true);

  await until(cast, () => expect(cast.informer.refusal).toBeUndefined());
  // After three refusals in a row it lists again. The refusal ends when the list is complete, not when the watch opens.
  expect(cast.asked().at(-1)).toBe('watch-list');
  expect(sizes).toEqual([2, 1]);
});

it('blocks the start while it is refused as a required part, but not as an optional part', async () => {
  const cast = await castReflector(scene, {
    prepare(nodes) {
      nodes.behaviour.next = Array.from({ length: 100 }, () => refusing(403));
    },
  });
  const { signal } = new AbortController();
  const settled: string[] = [];
  void cachePart(cast.informer)
    .whenReady?.(signal)
    .then(() => settled.push('needed'));
  await optionalCachePart(cast.informer)
    .whenReady?.(signal)
    .then(() => settled.push('optional'));
  expect(settled).toEqual(['optional']);
  expect(optionalCachePart(cast.informer).notReady?.()).toBe('not synced: no');
  expect(cachePart(cast.informer).notReady?.()).toBe('not synced: no');
  // Nothing needs it: the rights of an older version are enough.
  expect(unneededCachePart(cast.informer).notReady?.()).toBeUndefined();
});

it('names the resource that the API server does not serve in the readiness of its part', async () => {
  const cast = await castReflector(scene, {
    prepare(nodes) {
      nodes.behaviour.next = [refusing(404)];
    },
  });
  await cast.informer.whenSyncedOrRefused();
  expect(cachePart(cast.informer).notReady?.()).toMatch(/^not synced: the API server does not serve \w+$/);

  await until(cast, () => expect(cast.informer.synced).toBe(true));
  await vi.waitFor(() => expect(cast.informer.refusal).toBeUndefined());
});
