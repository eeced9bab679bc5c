import { describe, expect, it } from 'vitest';
import { reconcile } from './reconcile.ts';
import { KEY } from './testing/observations.ts';
import { aNode, aScene, followWatches, type Scene } from './testing/scene.ts';

describe('a contention for a label', () => {
  const rival = (scene: Scene): void => {
    scene.nodes.set({
      ...aNode('n1', { [KEY]: 'true' }),
      metadata: { name: 'n1', resourceVersion: String(10_000 + scene.api.calls.length) },
      otherOwners: { [KEY]: 'robot' },
    });
    scene.sources.labelWrites.saw(scene.nodes.get('n1')!);
  };
  const pass = (scene: Scene): void => {
    const [newest] = scene.feed.passes;
    scene.feed.passes = [{ ...newest!, pass: newest!.pass + 1 }, newest!];
  };
  const written = (scene: Scene): number =>
    scene.api.calls.filter((call) => call.what === 'Node' && call.name === 'n1').length;

  it('causes no write loop, emits one event with node, key and rival, and ends when the label stays', async () => {
    const scene = aScene();
    followWatches(scene);
    await reconcile(scene, 'shop/web');
    const counts: number[] = [];
    for (let n = 0; n < 20; n++) {
      pass(scene);
      for (let turn = 0; turn < 5; turn++) {
        rival(scene);
        await reconcile(scene, 'shop/web');
      }
      counts.push(written(scene));
    }
    // The first is the verdict itself; then once a pass, then after 2, 4 and 8 passes.
    expect(counts.slice(0, 6)).toEqual([2, 3, 4, 4, 5, 5]);
    expect(counts.at(-1)).toBe(7);
    expect(scene.told.filter(([, reason]) => reason === 'LabelContested')).toEqual([['Warning', 'LabelContested']]);
    const contested = scene.sources.watches.get('shop/web')?.status?.conditions;
    expect(contested).toContainEqual(expect.objectContaining({ type: 'Reconciling', reason: 'LabelContested' }));
    const message = contested?.find((c) => c.type === 'Reconciling')?.message;
    expect(message).toContain(`label ${KEY} of node n1 (by field manager "robot")`);
    // The last rewrite, which the rival leaves alone now.
    scene.nodes.set({ ...aNode('n1', { [KEY]: 'false' }), metadata: { name: 'n1', resourceVersion: '99999' } });
    for (let n = 0; n < 12; n++) {
      pass(scene);
      await reconcile(scene, 'shop/web');
    }
    const after = scene.sources.watches.get('shop/web')?.status?.conditions;
    expect(after).toContainEqual(expect.objectContaining({ type: 'Reconciling', status: 'False' }));
    expect(scene.sources.labelWrites.of('n1')).toBeUndefined();
  });
});
