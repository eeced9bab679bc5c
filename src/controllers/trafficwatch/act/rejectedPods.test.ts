import { describe, expect, it } from 'vitest';
import { trimEndedPod } from '../observe/workload/endedPods.ts';
import { reconcile } from '../reconcile.ts';
import { rejectedPod, type PodChanges } from '../testing/endedPods.ts';
import { aForeignWatch, aWatch, KEY } from '../testing/observations.ts';
import { aNode, aScene, type Scene } from '../testing/scene.ts';

describe('PodRejections', () => {
  const told = (scene: Scene): number => scene.told.filter(([, reason]) => reason === 'PodsRejected').length;
  const aSceneWithRejection = (label: string): Scene => {
    const scene = aScene();
    scene.nodes.set(aNode('n2', { [KEY]: label }, [KEY]));
    scene.endedPods.set(trimEndedPod(rejectedPod('web-1')));
    return scene;
  };

  it('emit one event for a pod that a kubelet rejected on an unfit node', async () => {
    const scene = aSceneWithRejection('true');
    await reconcile(scene, 'shop/web');
    await reconcile(scene, 'shop/web');
    expect(told(scene)).toBe(1);
    scene.endedPods.set(trimEndedPod(rejectedPod('web-2')));
    await reconcile(scene, 'shop/web');
    expect(told(scene)).toBe(2);
  });

  it.each<[string, PodChanges, number]>([
    ['of the selected pods', { labels: { app: 'db', tier: 'x' } }, 1],
    ['not of others', { labels: { app: 'web' } }, 0],
    ['not of another namespace', { labels: { app: 'db' }, namespace: 'other' }, 0],
  ])('emit an event for a workload of others: %s', async (_, changes, count) => {
    const scene = aSceneWithRejection('true');
    scene.watches.set(aForeignWatch({ podSelector: { matchLabels: { app: 'db' } } }, { placement: 'Required' }));
    scene.endedPods.set(trimEndedPod(rejectedPod('db-1', changes)));
    await reconcile(scene, 'shop/web');
    expect(told(scene)).toBe(count);
  });

  it.each([
    [100, 1],
    [101, 0],
  ])('for a selector with %d requirements emit %d events: each is compared with each pod', async (count, events) => {
    const matchExpressions = Array.from({ length: count }, (_, n) => ({
      key: `a${n}`,
      operator: 'DoesNotExist' as const,
    }));
    const scene = aSceneWithRejection('true');
    scene.watches.set(aWatch({ deployment: { selector: { matchExpressions } } }));
    await reconcile(scene, 'shop/web');
    expect(told(scene)).toBe(events);
  });

  it('emit no event if the node is fit, or while another process leads', async () => {
    const fit = aSceneWithRejection('false');
    await reconcile(fit, 'shop/web');
    expect(told(fit)).toBe(0);
    const standby = aSceneWithRejection('true');
    standby.leader = false;
    await reconcile(standby, 'shop/web');
    expect(told(standby)).toBe(0);
    standby.leader = true;
    await reconcile(standby, 'shop/web');
    expect(told(standby)).toBe(1);
  });
});
