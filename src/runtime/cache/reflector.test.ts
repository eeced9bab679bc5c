import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { errorLine } from '../testing/collection.ts';
import { castReflector, castWatching, refusing, until } from '../testing/reflectorScene.ts';
import type { CastOptions, ReflectorCast } from '../testing/reflectorScene.ts';
import { createScene } from '../testing/scene.ts';
import type { Scene } from '../testing/scene.ts';

let scene: Scene;
beforeAll(() => {
  scene = createScene();
});
afterEach(() => scene.close());

const watching = (options?: CastOptions): Promise<ReflectorCast> => castWatching(scene, options);
const namesOf = ({ informer }: ReflectorCast): string[] =>
  informer.lister.list().map(({ metadata }) => metadata?.name ?? '');
const watchesStarted = (cast: ReflectorCast): number => cast.metrics.watchStarted.mock.calls.length;

describe('the beginning', () => {
  it('is a watch-list, which continues as the watch: one request in total', async () => {
    const cast = await watching();
    cast.nodes.set('c');
    await vi.waitFor(() => expect(cast.told).toEqual(['add a', 'add b', 'add c']));

    expect(cast.asked()).toEqual(['watch-list']);
    expect(Object.fromEntries(cast.server.requests[0]!.query)).toMatchObject({
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
      watch: 'true',
    });
    expect(cast.metrics.listed).toHaveBeenCalledWith('nodes', 'watch-list');
  });

  it.each([400, 422])('is a list in pages, then a watch, if watch-lists are rejected with %i', async (status) => {
    const cast = await watching({
      prepare(nodes) {
        nodes.behaviour.refuseWatchList = status;
        for (let n = 0; n < 1_100; n += 1) nodes.set(`n${n}`);
      },
    });

    expect(cast.asked()).toEqual(['watch-list', 'list', 'page 500', 'page 1000', 'watch from 1112']);
    expect(cast.informer.lister.list()).toHaveLength(1_102);
    expect(cast.informer.lister.get('a')).toMatchObject({ kind: 'Node', apiVersion: 'v1' });
  });

  it('is a list in pages if the initial events do not end, as before Kubernetes 1.27', async () => {
    const cast = await castReflector(scene, {
      prepare(nodes) {
        nodes.set('a');
        nodes.behaviour.ignoreWatchList = true;
      },
    });
    await vi.waitFor(() => expect(cast.nodes.openWatches).toBe(1));
    await vi.waitFor(async () => {
      await cast.clock.advance(10_000);
      expect(cast.informer.synced).toBe(true);
    });

    expect(cast.told).toEqual(['add a']);
    expect(cast.asked().slice(0, 2)).toEqual(['watch-list', 'list']);
  });

  it('reads all objects in one response if the pages expire', async () => {
    const cast = await castReflector(scene, {
      prepare(nodes) {
        for (const name of ['a', 'b', 'c']) nodes.set(name);
        Object.assign(nodes.behaviour, { refuseWatchList: 422, pageSize: 2 });
        const pass: (typeof nodes.behaviour.next)[number] = (reply, request) => nodes.answer(request, reply);
        nodes.behaviour.next = [pass, pass, refusing(410)];
      },
    });
    await until(cast, () => expect(cast.informer.synced).toBe(true));

    expect(cast.told).toEqual(['add a', 'add b', 'add c']);
    expect(cast.asked().slice(0, 4)).toEqual(['watch-list', 'list', 'page 2', 'whole list']);
  });

  it('sets a timeout of 5 to 10 minutes, and ends a watch that the server does not end', async () => {
    const cast = await watching();
    const seconds = Number(cast.server.requests[0]?.query.get('timeoutSeconds'));
    expect(seconds).toBeGreaterThanOrEqual(300);
    expect(seconds).toBeLessThanOrEqual(600);

    await cast.clock.advance((seconds + 31) * 1_000);
    await until(cast, () => expect(cast.asked()).toHaveLength(2));

    expect(cast.asked()[1]).toBe('watch from 12');
  });

  it('requests only metadata, and accepts whole objects from a server that does not support it', async () => {
    const cast = await watching({ metadataOnly: true });

    expect(cast.server.requests[0]?.headers.accept).toBe(
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
    );
    expect(Object.keys(cast.informer.lister.get('a') ?? {}).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    expect(cast.informer.lister.get('a')).toMatchObject({ kind: 'Node', apiVersion: 'v1' });
  });

  it('sends the selectors and the namespace', async () => {
    const cast = await castReflector(scene, { labelSelector: 'a=b', fieldSelector: 'metadata.name=a' });
    await cast.informer.whenSynced();

    expect(Object.fromEntries(cast.server.requests[0]!.query)).toMatchObject({
      labelSelector: 'a=b',
      fieldSelector: 'metadata.name=a',
    });
  });
});

describe('a watch that ends', () => {
  it('resumes from the last version, without a list and without duplicate events', async () => {
    const cast = await watching();
    cast.nodes.set('c');
    await vi.waitFor(() => expect(cast.told).toHaveLength(3));
    cast.nodes.endAll();
    cast.nodes.set('d');
    await until(cast, () => expect(cast.told).toHaveLength(4));

    expect(cast.asked()).toEqual(['watch-list', 'watch from 13']);
    expect(cast.told).toEqual(['add a', 'add b', 'add c', 'add d']);
  });

  it('resumes from a bookmark, which may be much newer than the last change', async () => {
    const cast = await watching();
    cast.nodes.bookmark();
    cast.nodes.endAll();
    await until(cast, () => expect(cast.asked()).toHaveLength(2));

    expect(cast.asked()[1]).toBe('watch from 13');
  });

  it('is followed by at most one watch per second', async () => {
    const cast = await watching();
    for (let second = 0; second < 5; second += 1) {
      cast.nodes.endAll();
      await vi.waitFor(() => expect(cast.metrics.watchEnded).toHaveBeenCalledTimes(second + 1));
      await cast.clock.advance(999);
      expect(watchesStarted(cast)).toBe(second + 1);
      await cast.clock.advance(1);
      await vi.waitFor(() => expect(cast.nodes.openWatches).toBe(1));
    }
  });

  it('because of a lost connection resumes as soon as the server responds, without a pause', async () => {
    const cast = await watching();
    cast.server.cut();
    cast.nodes.endAll();
    cast.nodes.set('c');
    await until(cast, () => expect(cast.told).toContain('add c'));

    expect(cast.asked()).toEqual(['watch-list', 'watch from 12']);
    expect(cast.metrics.watchEnded).toHaveBeenCalledWith('nodes', 'unreachable');
  });
});

describe('410', () => {
  it.each([
    ['as the status of a watch', (cast: ReflectorCast) => cast.nodes.endAll()],
    ['as an event', (cast: ReflectorCast) => cast.nodes.endAll(errorLine(410, 'Expired'))],
  ])('%s causes exactly one list, and delivers only actual changes', async (_, lose) => {
    const cast = await watching();
    cast.nodes.set('keeps');
    cast.nodes.set('changes');
    cast.nodes.set('goes');
    await vi.waitFor(() => expect(cast.told).toHaveLength(5));
    cast.told.length = 0;

    lose(cast);
    cast.nodes.delete('goes');
    cast.nodes.set('changes', { x: 'y' });
    cast.nodes.set('comes');
    cast.nodes.compact();
    await until(cast, () => expect(cast.told).toHaveLength(3));

    expect(cast.told.sort()).toEqual(['add comes', 'delete goes', 'update changes']);
    expect(cast.asked().filter((asked) => asked === 'watch-list')).toHaveLength(2);
    expect(namesOf(cast).sort()).toEqual(['a', 'b', 'changes', 'comes', 'keeps']);
  });

  it('deletes no object before the new list is complete', async () => {
    const cast = await watching();
    cast.told.length = 0;
    cast.nodes.behaviour.next = [
      (reply) => {
        const half = reply.open();
        half.write(
          `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'a', resourceVersion: '11' } } })}\n`,
        );
        setTimeout(() => half.end(), 50);
      },
      refusing(500),
    ];
    cast.nodes.endAll(errorLine(410, 'Expired'));
    await until(cast, () => expect(cast.metrics.watchEnded).toHaveBeenCalledTimes(3));
    expect(namesOf(cast)).toEqual(['a', 'b']);
    expect(cast.informer.synced).toBe(true);
    await until(cast, () => expect(cast.metrics.listed).toHaveBeenCalledTimes(2));

    expect(cast.told).toEqual([]);
  });

  it('is followed by a list at a random time within a second, because it ends all watches at once', async () => {
    const cast = await watching();
    await cast.clock.advance(10_000);
    const begun = cast.clock.monotonic();
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.7);
    onTestFinished(() => random.mockRestore());
    cast.nodes.endAll(errorLine(410, 'Expired'));
    await vi.waitFor(() => expect(cast.metrics.watchEnded).toHaveBeenCalledWith('nodes', 'gone'));
    await until(cast, () => expect(cast.metrics.listed).toHaveBeenCalledTimes(2), 50);

    expect(cast.clock.monotonic() - begun).toBeGreaterThanOrEqual(700);
  });

  it('several times in a row causes pauses', async () => {
    const cast = await watching();
    cast.nodes.behaviour.next = Array.from({ length: 6 }, () => refusing(410));
    cast.nodes.endAll();
    await until(cast, () => expect(cast.metrics.watchEnded).toHaveBeenCalledTimes(5), 100);

    // Twice the minimum of 1 s between watches, then at least half of 2 s and half of 4 s.
    expect(cast.clock.monotonic()).toBeGreaterThanOrEqual(5_000);
  });
});
