import type { V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { trimEndedPod } from '../observe/workload/endedPods.ts';
import { reconcile } from '../reconcile.ts';
import { evictedPod } from '../testing/endedPods.ts';
import { aForeignWatch, aWatch, KEY, NOW } from '../testing/observations.ts';
import { aNode, aScene, type Scene } from '../testing/scene.ts';

const WATCH = 'shop/web';

/** The node n2 is unfit. The TrafficWatch was reconciled once, so that its pods are known. */
async function aFollowed(prepare: (scene: Scene) => void = () => undefined): Promise<Scene> {
  const scene = aScene();
  scene.nodes.set(aNode('n1', { [KEY]: 'false' }, [KEY]));
  scene.nodes.set(aNode('n2', { [KEY]: 'true' }, [KEY]));
  prepare(scene);
  await reconcile(scene, WATCH);
  return scene;
}

function evict(scene: Scene, ...pods: V1Pod[]): void {
  for (const pod of pods) scene.podEvictions.saw(scene.endedPods.set(trimEndedPod(pod)), [WATCH]);
}

/** The number of events after another reconcile, when an event is due. */
async function toldLater(scene: Scene, ms = 10_000): Promise<number> {
  await scene.clock.advance(ms);
  await reconcile(scene, WATCH);
  return scene.told.filter(([, reason]) => reason === 'PodsEvicted').length;
}

describe('PodEvictions', () => {
  it('emit one event for the pods of one run of a descheduler, and one for later runs within ten minutes', async () => {
    const scene = await aFollowed();
    evict(scene, evictedPod('web-1'), evictedPod('web-2'));
    expect(await toldLater(scene)).toBe(1);
    expect(await toldLater(scene)).toBe(1);
    for (const run of [1, 2]) {
      evict(scene, evictedPod(`web-${run}-again`, { endedAt: scene.clock.now() }));
      expect(await toldLater(scene, 280_000)).toBe(1);
    }
    expect(await toldLater(scene, 60_000)).toBe(2);
    expect(await toldLater(scene, 600_000)).toBe(2);
  });

  it('count a pod once, however often it changes, and also if it is deleted at once', async () => {
    const scene = await aFollowed();
    evict(scene, evictedPod('web-1'));
    scene.endedPods.delete(trimEndedPod(evictedPod('web-1')));
    expect(await toldLater(scene)).toBe(1);
    evict(scene, evictedPod('web-2', { endedAt: scene.clock.now() }));
    expect(await toldLater(scene, 600_000)).toBe(2);
    evict(scene, evictedPod('web-2', { endedAt: scene.clock.now() }));
    expect(await toldLater(scene, 600_000)).toBe(2);
  });

  it.each<[string, V1Pod]>([
    ['ran on a fit node', evictedPod('web-1', { node: 'n1' })],
    ['ran on a node that is gone', evictedPod('web-1', { node: 'n9' })],
    ['does not belong to the workload', evictedPod('web-1', { labels: { app: 'db' } })],
    [
      'was placed by the label of another TrafficWatch',
      evictedPod('web-1', { keys: ['api.shop.traffic.example.com/unfit'] }),
    ],
    ['ended more than five minutes ago: it was reported', evictedPod('web-1', { endedAt: NOW - 300_001 })],
  ])('do not count a pod that %s', async (_, pod) => {
    const scene = await aFollowed();
    evict(scene, pod);
    expect(await toldLater(scene)).toBe(0);
  });

  it('do not count a pod while its node is emptied, as by kubectl drain', async () => {
    const scene = await aFollowed();
    scene.nodes.set({ ...aNode('n2', { [KEY]: 'true' }, [KEY]), isBeingEmptied: true });
    evict(scene, evictedPod('web-1'));
    expect(await toldLater(scene)).toBe(0);
  });

  it('count pods of a workload of others, by its selector', async () => {
    const podSelector = { matchLabels: { app: 'db' } };
    const scene = await aFollowed(({ watches }) => void watches.set(aForeignWatch({ podSelector })));
    evict(scene, evictedPod('db-1', { labels: { app: 'db' } }));
    expect(await toldLater(scene)).toBe(1);
  });

  it.each([
    [100, 1],
    [101, 0],
  ])('for a selector with %d requirements emit %d events', async (count, events) => {
    const matchExpressions = Array.from({ length: count }, (_, n) => ({ key: `a${n}`, operator: 'DoesNotExist' }));
    const scene = await aFollowed(
      ({ watches }) => void watches.set(aWatch({ deployment: { selector: { matchExpressions } } })),
    );
    evict(scene, evictedPod('web-1'));
    expect(await toldLater(scene)).toBe(events);
  });

  it('emit nothing in a standby, nor for what a standby saw', async () => {
    const scene = await aFollowed((s) => (s.leader = false));
    evict(scene, evictedPod('web-1'));
    expect(await toldLater(scene)).toBe(0);
    scene.leader = true;
    expect(await toldLater(scene)).toBe(0);
    evict(scene, evictedPod('web-2', { endedAt: scene.clock.now() }));
    expect(await toldLater(scene)).toBe(1);
  });

  it('forget a TrafficWatch that is deleted', async () => {
    const scene = await aFollowed();
    evict(scene, evictedPod('web-1'));
    scene.watches.delete(aWatch());
    expect(await toldLater(scene)).toBe(0);
    scene.watches.set(aWatch());
    expect(await toldLater(scene)).toBe(0);
  });
});
