import { beforeEach, describe, expect, it, vi } from 'vitest';
import { POD_PLACEMENT_NAME, type PodPlacement } from '../../../api/podplacement/schema.ts';
import { refuseOn } from '../../../runtime/testing/fakeApi/overrides.ts';
import { FINALIZER } from '../names.ts';
import { reconcile } from '../reconcile.ts';
import { aForeignWatch, pass } from '../testing/observations.ts';
import { aScene, followWatches, writesOf, type Scene } from '../testing/scene.ts';
import { NAMES_PRECEDE_LABELS_MS } from './act.ts';

const STATUS = 'patch TrafficWatch/status';
const NODE = 'patch Node';
const PLACEMENT = 'apply PodPlacement';
let scene: Scene;

/** n1 is fit and n2 unfit; no node has a label. */
beforeEach(() => {
  scene = aScene();
  followWatches(scene);
  const changes = { placement: 'AtCreation' as const, metadata: { finalizers: [FINALIZER] } };
  scene.watches.set(aForeignWatch({ podSelector: { matchLabels: { app: 'db' } } }, changes));
});

/** Reconciles once; the clock moves on once the names are written. */
async function reconciled(): Promise<void> {
  const done = reconcile(scene, 'shop/web');
  await vi.waitFor(() => expect(scene.clock.pending).toBeGreaterThan(1));
  await scene.clock.advance(NAMES_PRECEDE_LABELS_MS);
  await done;
  // As the controller of PodPlacements does after the status.
  await scene.writers.placements.sync('shop');
}

const namesNow = () => scene.watches.get('shop/web')?.status?.avoidedNodes;
const writesSince = (count: number) => writesOf(scene).slice(count);

describe('with AtCreation', () => {
  it('the names of nodes that turn unfit precede their labels', async () => {
    const done = reconcile(scene, 'shop/web');
    await vi.waitFor(() => expect(namesNow()).toEqual(['n2']));
    await scene.clock.advance(NAMES_PRECEDE_LABELS_MS - 1);
    expect(writesOf(scene)).toEqual([STATUS]);
    await scene.clock.advance(1);
    await done;
    expect(writesOf(scene)).toEqual([STATUS, NODE, NODE, STATUS]);
  });

  it('the label of a node that turns fit precedes the loss of its name, without a pause', async () => {
    await reconciled();
    const before = writesOf(scene).length;
    Object.assign(scene.feed, { passes: [pass(4, { n1: 1, n2: 1 }), pass(3, { n1: 1, n2: 1 })] });
    await reconcile(scene, 'shop/web');
    expect(writesSince(before)).toEqual([NODE, STATUS]);
    expect(namesNow()).toBeUndefined();
  });

  it('the names of further nodes are in the PodPlacement before their labels', async () => {
    await reconciled();
    const before = writesOf(scene).length;
    Object.assign(scene.feed, { passes: [pass(4, { n1: 50, n2: 50 }), pass(3, { n1: 50, n2: 50 })] });
    await reconciled();
    expect(writesSince(before).slice(0, 3)).toEqual([STATUS, PLACEMENT, NODE]);
    const placement = scene.api.objects.get(`PodPlacement shop/${POD_PLACEMENT_NAME}`) as PodPlacement;
    expect(placement.spec.entries?.[0]?.avoidedNodes).toEqual(['n1', 'n2']);
  });

  it('nothing is written again', async () => {
    await reconciled();
    // The condition about the PodPlacement.
    await reconcile(scene, 'shop/web');
    const before = writesOf(scene).length;
    await reconcile(scene, 'shop/web');
    expect(writesSince(before)).toEqual([]);
  });

  it('labels do not wait for names that cannot be written', async () => {
    let refused = 0;
    refuseOn(scene.api, ({ what }) =>
      what === 'TrafficWatch/status' && refused++ === 0 ? new Error('no') : undefined,
    );
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene).slice(-3)).toEqual([NODE, NODE, STATUS]);
    expect(namesNow()).toEqual(['n2']);
  });
});
