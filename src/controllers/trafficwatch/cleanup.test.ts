import { describe, expect, it } from 'vitest';
import { ApiError, RetryError } from '../../runtime/client/errors.ts';
import { refusal } from '../../runtime/testing/fakeApi/fakeApi.ts';
import { refuseOn } from '../../runtime/testing/fakeApi/overrides.ts';
import { BEHIND_MS } from './act/writeCall.ts';
import { sweepOrphans } from './cleanup.ts';
import { aWatch, KEY } from './testing/observations.ts';
import { aNode, aScene, spend, writesOf, type Scene } from './testing/scene.ts';

const ORPHAN = 'gone.traffic.example.com/unfit';

function sweptScene(): Scene {
  const scene = aScene();
  scene.nodes.set(aNode('n1', { [KEY]: 'true', [ORPHAN]: 'true' }, [KEY, ORPHAN]));
  return scene;
}

const sweep = (scene: Scene, synced = true) => sweepOrphans({ ...scene, synced: () => synced });

describe('sweepOrphans', () => {
  it('removes labels that no TrafficWatch claims', async () => {
    const scene = sweptScene();
    expect(await sweep(scene)).toBeUndefined();
    expect(scene.api.calls).toMatchObject([{ name: 'n1', body: { metadata: { labels: { [ORPHAN]: null } } } }]);
  });

  it('removes nothing before the caches are synced, and is requeued', async () => {
    const scene = sweptScene();
    scene.watches.delete(aWatch());
    expect(await sweep(scene, false)).toEqual({ requeueAfterMs: 10_000 });
    expect(writesOf(scene)).toEqual([]);
  });

  it('removes nothing in a standby', async () => {
    const scene = sweptScene();
    scene.leader = false;
    await sweep(scene);
    expect(writesOf(scene)).toEqual([]);
  });

  it('is retried after a refused write', async () => {
    const scene = sweptScene();
    refuseOn(scene.api, (call) => refusal(call, 403, 'Forbidden'));
    await expect(sweep(scene)).rejects.toThrow(RetryError);
  });

  it('says when the API server asks for the next attempt', async () => {
    const scene = sweptScene();
    const asked = { status: 429, reason: 'TooManyRequests', method: 'PATCH', path: '/', retryAfterMs: 60_000 };
    refuseOn(scene.api, () => new ApiError(asked));
    await expect(sweep(scene)).rejects.toMatchObject({ retryAfterMs: 10_000, cause: { retryAfterMs: 60_000 } });
  });

  it('removes labels from the allowance of the namespace in their key, and the others later', async () => {
    const scene = sweptScene();
    const ofShop = 'old.shop.traffic.example.com/unfit';
    const ofTeam = 'old.team.traffic.example.com/unfit';
    scene.nodes.set(aNode('n1', { [ofShop]: 'true' }, [ofShop]));
    scene.nodes.set(aNode('n2', { [ofTeam]: 'true' }, [ofTeam]));
    await spend(scene);
    expect(await sweep(scene)).toEqual({ requeueAfterMs: BEHIND_MS });
    expect(scene.api.calls).toMatchObject([{ name: 'n2', body: { metadata: { labels: { [ofTeam]: null } } } }]);
    await scene.clock.advance(60_000);
    await sweep(scene);
    expect(scene.api.calls).toContainEqual(expect.objectContaining({ name: 'n1' }));
  });

  it('works with a TrafficWatch without a spec, and keeps the key in its status', async () => {
    const scene = sweptScene();
    const kept = 'kept.traffic.example.com/unfit';
    scene.nodes.set(aNode('n2', { [kept]: 'true' }, [kept]));
    const bare = { metadata: { name: 'bare', namespace: 'shop' }, status: { labelKey: kept } };
    scene.watches.set(bare as ReturnType<typeof aWatch>);
    await sweep(scene);
    expect(scene.api.calls).toMatchObject([{ name: 'n1', body: { metadata: { labels: { [ORPHAN]: null } } } }]);
  });
});
