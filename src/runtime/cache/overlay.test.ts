import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../process/clock.ts';
import type { KubeObject } from '../client/resource.ts';
import { castWatching } from '../testing/reflectorScene.ts';
import { createScene } from '../testing/scene.ts';
import type { InformerEvent } from './informer.ts';
import { BodyBudget } from './bodyBudget.ts';
import { createOverlay, OVERLAID_FOR_MS, type OverlayOptions } from './overlay.ts';
import { Store } from './store.ts';

const named = (name: string, resourceVersion: string, uid?: string): KubeObject => ({
  metadata: { name, uid, resourceVersion },
});
const at = (resourceVersion: string, uid?: string): KubeObject => named('n1', resourceVersion, uid);

/** An overlay on a cache that the test controls. */
function overlaid(options: OverlayOptions = {}, ...cached: KubeObject[]) {
  const lister = new Store<KubeObject>({ all: () => ['yes'] });
  for (const object of cached) lister.set(object);
  let tell: (event: InformerEvent<KubeObject>) => void = () => undefined;
  const subscribe = (listener: typeof tell) => {
    tell = listener;
    return () => undefined;
  };
  const overlay = createOverlay({ lister, subscribe }, options);
  const deleted = (object: KubeObject): void => {
    lister.delete(object);
    tell({ type: 'delete', object });
  };
  return { lister, overlay, deleted };
}

describe('an overlay', () => {
  it('returns what the cache has of an object without its body, before and after a write', () => {
    const identity = (version: string): KubeObject => new BodyBudget(0).keep(at(version), (object) => object);
    const { lister, overlay } = overlaid({}, identity('9'));
    overlay.wrote(at('10'));
    expect(overlay.get('n1')).toBe(lister.get('n1'));
    lister.set(at('11'));
    overlay.wrote(at('12'));
    lister.set(identity('11'));
    expect(overlay.get('n1')).toBe(lister.get('n1'));
  });

  it('returns the write until the cache has it, and compares versions as numbers', () => {
    const { lister, overlay } = overlaid({}, at('9'));
    overlay.wrote(at('10'));
    expect([overlay.get('n1'), ...overlay.list(), ...overlay.byIndex('all', 'yes')]).toEqual(
      Array.from({ length: 3 }, () => at('10')),
    );
    lister.set(at('11'));
    expect(overlay.get('n1')).toEqual(at('11'));
    expect(overlay.newest(at('9'))).toEqual(at('9'));
  });

  it('keeps the newer of two writes, in any order of their responses', () => {
    const { overlay } = overlaid({}, at('9'));
    overlay.wrote(at('12'));
    overlay.wrote(at('11'));
    expect(overlay.get('n1')).toEqual(at('12'));
  });

  it('drops an object that was deleted later, and keeps one that was created again', () => {
    const { overlay, deleted } = overlaid({ includeCreated: true });
    overlay.wrote(at('10'));
    deleted(at('11'));
    expect(overlay.get('n1')).toBeUndefined();
    overlay.wrote(at('13'));
    deleted(at('12'));
    expect(overlay.get('n1')).toEqual(at('13'));
  });

  it('drops an object that is missing in a relist, although the event has an older version', () => {
    const { overlay, deleted } = overlaid({ includeCreated: true });
    overlay.wrote(at('200', 'first'));
    deleted(at('100', 'first'));
    expect(overlay.get('n1')).toBeUndefined();
    overlay.wrote(at('300', 'second'));
    deleted(at('100', 'first'));
    expect(overlay.get('n1')).toEqual(at('300', 'second'));
  });

  it('returns the cached object again after 30 s', async () => {
    const clock = new FakeClock();
    const { overlay } = overlaid({ clock, includeCreated: true }, at('100'));
    overlay.wrote(at('200'));
    overlay.wrote(named('made', '201'));
    const seen = () => [overlay.get('n1'), overlay.get('made'), overlay.list()];
    await clock.advance(OVERLAID_FOR_MS - 1);
    expect(seen()).toEqual([at('200'), named('made', '201'), [at('200'), named('made', '201')]]);
    await clock.advance(1);
    expect(seen()).toEqual([at('100'), undefined, [at('100')]]);
  });

  it('returns no object that the cache lacks, without includeCreated: it was deleted before the response', () => {
    const { lister, overlay, deleted } = overlaid({}, at('9'), named('n2', '9'));
    deleted(at('9'));
    overlay.wrote(at('10'));
    expect(overlay.get('n1')).toBeUndefined();
    expect(overlay.list()).toBe(lister.list());
  });
});

describe('the list of an overlay', () => {
  const NODES = Array.from({ length: 10_000 }, (_, n) => named(`n${n}`, '1'));

  it("is the cache's own list while nothing is overlaid, and again once the cache has the write", () => {
    const { lister, overlay } = overlaid({}, ...NODES);
    expect(overlay.list()).toBe(lister.list());
    overlay.wrote(named('n7', '2'));
    expect(overlay.list()).not.toBe(lister.list());
    lister.set(named('n7', '2'));
    expect(overlay.list()).toBe(lister.list());
  });

  it('is one copy for all callers, until a write or a change of the cache', () => {
    const { lister, overlay } = overlaid({}, ...NODES);
    overlay.wrote(named('n7', '2'));
    const list = overlay.list();
    expect(overlay.list()).toBe(list);
    overlay.wrote(named('n8', '3'));
    expect(overlay.list().slice(7, 9)).toEqual([named('n7', '2'), named('n8', '3')]);
    lister.set(named('n9', '4'));
    expect(overlay.list().slice(7, 10)).toEqual([named('n7', '2'), named('n8', '3'), named('n9', '4')]);
  });
});

describe('an overlay on an informer', () => {
  const scene = createScene();
  afterEach(() => scene.close());

  it('receives deletions from the informer', async () => {
    const { nodes, informer } = await castWatching(scene);
    const overlay = createOverlay(informer, { includeCreated: true });
    const { uid } = informer.lister.get('a')?.metadata ?? {};
    overlay.wrote({ metadata: { name: 'a', uid, resourceVersion: '1000000' } });
    expect(overlay.get('a')?.metadata?.resourceVersion).toBe('1000000');
    nodes.delete('a');
    await vi.waitFor(() => expect(informer.lister.get('a')).toBeUndefined());
    expect(overlay.get('a')).toBeUndefined();
    expect(overlay.list()).toBe(informer.lister.list());
  });
});
