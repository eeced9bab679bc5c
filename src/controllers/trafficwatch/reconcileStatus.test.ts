import { describe, expect, it, vi } from 'vitest';
import type { TrafficWatch, TrafficWatchStatus } from '../../api/trafficwatch/schema.ts';
import type { Call } from '../../runtime/testing/fakeApi/fakeApi.ts';
import { hangOn, refuseOn } from '../../runtime/testing/fakeApi/overrides.ts';
import { PROGRESS_EVERY_MS, reconcile } from './reconcile.ts';
import { aDeployment, aWatch, KEY, pass } from './testing/observations.ts';
import { aNode, aScene, followWatches, writesOf, type Scene } from './testing/scene.ts';

/** An API server with the CRD of PKopel/traffic-operator, which has only `ready` and the figures of nodes. */
function olderCrd(scene: Scene): void {
  scene.api.prune = (object) => {
    if (object.kind !== 'TrafficWatch') return object;
    const { ready, nodes } = (object as Partial<TrafficWatch>).status ?? {};
    return { ...object, status: { ready, nodes } };
  };
  followWatches(scene);
}

const statusWrites = (calls: readonly Call[]) => calls.filter((call) => call.what === 'TrafficWatch/status');

describe('a status of which the API server drops fields', () => {
  it('is written once, with one event', async () => {
    const scene = aScene();
    olderCrd(scene);
    for (let pass = 0; pass < 3; pass++) await reconcile(scene, 'shop/web');
    expect(statusWrites(scene.api.calls)).toHaveLength(1);
    expect(scene.told.filter(([, reason]) => reason === 'Decided')).toHaveLength(1);
    expect(scene.watches.get('shop/web')?.status).not.toHaveProperty('conditions');
  });

  it('is still the input of later decisions: a renamed label key is not forgotten', async () => {
    const scene = aScene();
    olderCrd(scene);
    await reconcile(scene, 'shop/web');
    const stored = scene.watches.get('shop/web')!;
    scene.watches.set({ ...stored, spec: { ...stored.spec, label: 'new' } });
    refuseOn(scene.api, (call) => (call.what === 'Deployment' ? new Error('not now') : undefined));
    await expect(reconcile(scene, 'shop/web')).rejects.toThrow();
    const written = statusWrites(scene.api.calls).at(-1)?.body as { status: TrafficWatchStatus };
    expect(written.status.conditions?.find((c) => c.type === 'Ready')?.status).toBe('True');
    expect(written.status.labelKey).toBe(KEY);
    expect(scene.sources.statuses.newest('shop/web')?.status?.labelKey).toBe(KEY);
  });

  it('is still the base of progress reports: they remove no dropped field', async () => {
    const scene = aScene();
    olderCrd(scene);
    await reconcile(scene, 'shop/web');
    scene.nodes.set(aNode('n3'));
    const percents = { n1: 1, n2: 50, n3: 50 };
    Object.assign(scene.feed, { passes: [pass(4, percents), pass(3, percents)] });
    const hung = hangOn(scene.api, ({ what, name }) => what === 'Node' && name === 'n3');
    const cut = new AbortController();
    const done = reconcile(scene, 'shop/web', cut.signal);
    await vi.waitFor(() => expect(hung()).toBe(1));
    await scene.clock.advance(PROGRESS_EVERY_MS);
    const written = statusWrites(scene.api.calls).at(-1)?.body as { status: object };
    expect(statusWrites(scene.api.calls)).toHaveLength(2);
    expect(written.status).toMatchObject({ conditions: expect.any(Array) as unknown, labelKey: KEY });
    expect(Object.values(written.status)).not.toContain(null);
    cut.abort(new Error('cut short'));
    await expect(done).rejects.toThrow('cut short');
  });

  it('is corrected after another client wrote it', async () => {
    const scene = aScene();
    olderCrd(scene);
    await reconcile(scene, 'shop/web');
    const stored = scene.watches.get('shop/web')!;
    scene.watches.set({ ...stored, status: { ...stored.status, ready: false } });
    await reconcile(scene, 'shop/web');
    expect(statusWrites(scene.api.calls)).toHaveLength(2);
    expect(scene.watches.get('shop/web')?.status?.ready).toBe(true);
  });

  it('is forgotten when the object is deleted', async () => {
    const scene = aScene();
    olderCrd(scene);
    await reconcile(scene, 'shop/web');
    const stored = scene.watches.get('shop/web')!;
    expect(scene.sources.statuses.newest('shop/web')?.status?.labelKey).toBe(KEY);
    scene.watches.delete(stored);
    await reconcile(scene, 'shop/web');
    scene.watches.set(stored);
    expect(scene.sources.statuses.newest('shop/web')).toEqual(stored);
  });
});

describe('a status with invalid fields, which another CRD allowed', () => {
  it.each<[string, unknown]>([
    ['text', 'x'],
    ['invalid conditions', { conditions: [null, { type: 'Ready' }], nodes: { n1: null } }],
    ['a foreign label key', { labelKey: 'kubernetes.io/hostname', ready: 'yes' }],
  ])('%s: is written again, and causes no write of another label', async (_, status) => {
    const scene = aScene();
    scene.watches.set({ ...aWatch(), status } as TrafficWatch);
    // This Deployment does not schedule by our key yet: a previous key would have to follow the verdict too.
    scene.sources.deployments.wrote(aDeployment(aWatch(), 'x'));
    await reconcile(scene, 'shop/web').catch(() => undefined);
    expect(writesOf(scene)).toContain('patch TrafficWatch/status');
    const labels = scene.api.calls
      .filter((call) => call.what === 'Node')
      .flatMap((call) => Object.keys((call.body as { metadata: { labels: object } }).metadata.labels));
    expect(new Set(labels)).toEqual(new Set([KEY]));
  });
});
