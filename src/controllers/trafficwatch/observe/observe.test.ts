import { describe, expect, it } from 'vitest';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { OVERLAID_FOR_MS } from '../../../runtime/cache/overlay.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { claimedKeys } from '../model/labelKeys.ts';
import { reconcile } from '../reconcile.ts';
import { aWatch, KEY } from '../testing/observations.ts';
import { aScene, writesOf, type Scene } from '../testing/scene.ts';

const OLD = 'old.traffic.example.com/unfit';
const questions = (scene: Scene): number => scene.api.calls.filter((call) => call.verb === 'get').length;
const applies = (scene: Scene): number => writesOf(scene).filter((write) => write === 'apply Deployment').length;

describe('claimedKeys', () => {
  it('are the key of the spec and, in a rename, the key in use', () => {
    expect(claimedKeys(aWatch())).toEqual([KEY]);
    expect(claimedKeys(aWatch({ status: { labelKey: KEY } }))).toEqual([KEY]);
    expect(claimedKeys(aWatch({ status: { labelKey: OLD } }))).toEqual([KEY, OLD]);
  });

  it('are only the key of the status if there is no spec', () => {
    const metadata = { name: 'web', namespace: 'shop' };
    const stored = [{ metadata }, { metadata, spec: null }, { metadata, spec: { label: { toString: 1 } } }];
    for (const watch of stored as unknown as TrafficWatch[]) {
      expect(claimedKeys(watch)).toEqual([]);
      expect(claimedKeys({ ...watch, status: { labelKey: OLD } })).toEqual([OLD]);
    }
  });
});

describe('a Deployment that was written but never appeared in the cache', () => {
  it('is read with a GET when the cache should have caught up, and created again if it is deleted', async () => {
    const scene = aScene();
    await reconcile(scene, 'shop/web');
    await reconcile(scene, 'shop/web');
    expect([questions(scene), applies(scene)]).toEqual([1, 1]);
    await scene.api.delete(DEPLOYMENTS, { namespace: 'shop', name: 'web' });
    await scene.clock.advance(OVERLAID_FOR_MS);
    await reconcile(scene, 'shop/web');
    expect([questions(scene), applies(scene)]).toEqual([2, 2]);
  });
});
