import type { V1Node } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import type { TrafficWatchStatus } from '../../api/trafficwatch/schema.ts';
import { findCondition } from '../../runtime/controller/conditions.ts';
import { refusal } from '../../runtime/testing/fakeApi/fakeApi.ts';
import { refuseOn } from '../../runtime/testing/fakeApi/overrides.ts';
import { BEHIND_MS } from './act/writeCall.ts';
import { FINALIZER } from './names.ts';
import { reconcile } from './reconcile.ts';
import { KEY, NOW } from './testing/observations.ts';
import { aScene, followWatches, spend, writesOf } from './testing/scene.ts';

const reconciling = (status: TrafficWatchStatus | undefined) => findCondition(status?.conditions, 'Reconciling');

it('reports labels that wait for the allowance of the namespace, and writes them later', async () => {
  const scene = aScene();
  followWatches(scene);
  await spend(scene);
  expect(await reconcile(scene, 'shop/web')).toEqual({ requeueAfterMs: BEHIND_MS });
  expect(writesOf(scene)).not.toContain('patch Node');
  expect(reconciling(scene.watches.get('shop/web')?.status)).toMatchObject({
    ...{ status: 'True', reason: 'LabelsBehind' },
    message: expect.stringMatching(
      /^Some labels are not written yet: .*namespace shop .*change specs less often$/,
    ) as unknown,
  });
  await scene.clock.advance(60_000);
  expect(await reconcile(scene, 'shop/web')).toBeUndefined();
  expect(writesOf(scene).filter((write) => write === 'patch Node')).toHaveLength(2);
  expect(reconciling(scene.watches.get('shop/web')?.status)).toMatchObject({ status: 'False', reason: 'UpToDate' });
});

it('labels unfit nodes before fit ones', async () => {
  const scene = aScene();
  await reconcile(scene, 'shop/web');
  const labelled = scene.api.calls.filter(({ verb, what }) => verb === 'patch' && what === 'Node');
  expect(labelled.map(({ name, body }) => [name, (body as V1Node).metadata?.labels?.[KEY]])).toEqual([
    ['n2', 'true'],
    ['n1', 'false'],
  ]);
});

it('keeps the finalizer of a deleted TrafficWatch until its labels are removed', async () => {
  const scene = aScene();
  followWatches(scene);
  await reconcile(scene, 'shop/web');
  const { metadata, ...live } = scene.watches.get('shop/web')!;
  scene.watches.set({ ...live, metadata: { ...metadata, deletionTimestamp: new Date(NOW) } });
  await spend(scene);
  expect(await reconcile(scene, 'shop/web')).toEqual({ requeueAfterMs: BEHIND_MS });
  const left = scene.watches.get('shop/web');
  expect(left?.metadata?.finalizers).toEqual([FINALIZER]);
  expect(findCondition(left?.status?.conditions, 'Ready')?.message).toContain('Some labels are not written yet');
  await scene.clock.advance(60_000);
  await reconcile(scene, 'shop/web');
  expect(scene.watches.get('shop/web')).toBeUndefined();
});

it('reports the words of the admission policy that refuses the label', async () => {
  const scene = aScene();
  followWatches(scene);
  const detail = "ValidatingAdmissionPolicy 'p' denied request: no such labels";
  refuseOn(scene.api, (call) =>
    call.verb === 'patch' && call.what === 'Node' ? refusal(call, 422, 'Invalid', detail) : undefined,
  );
  await expect(reconcile(scene, 'shop/web')).rejects.toThrow();
  expect(reconciling(scene.watches.get('shop/web')?.status)).toMatchObject({
    ...{ status: 'True', reason: 'WriteRefused' },
    message: `labelling node n1: ${detail} (and 1 more)`,
  });
});
