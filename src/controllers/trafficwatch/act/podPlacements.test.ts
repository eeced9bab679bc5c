import { beforeEach, describe, expect, it, vi } from 'vitest';
import { POD_PLACEMENT_NAME, POD_PLACEMENTS, type PodPlacement } from '../../../api/podplacement/schema.ts';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { ApiError, WaitingError } from '../../../runtime/client/errors.ts';
import { refuseOn } from '../../../runtime/testing/fakeApi/overrides.ts';
import { FINALIZER } from '../names.ts';
import { reconcile } from '../reconcile.ts';
import { aForeignWatch, KEY } from '../testing/observations.ts';
import { aScene, writesOf, type Scene } from '../testing/scene.ts';

const podSelector = { matchLabels: { app: 'db' } };
const APPLY = 'apply PodPlacement';
let scene: Scene;

function aWatch(name: string, over: Partial<TrafficWatch['metadata'] & object> = {}): TrafficWatch {
  const metadata = { name, uid: name, finalizers: [FINALIZER], ...over } as object;
  return aForeignWatch({ podSelector }, { metadata, status: { labelKey: KEY, podSelector } });
}

beforeEach(() => {
  scene = aScene();
  scene.watches.set(aWatch('web'));
});

const sync = () => scene.sources.placements.sync('shop');
const stored = () =>
  scene.api.objects.get(`${POD_PLACEMENTS.kind} shop/${POD_PLACEMENT_NAME}`) as PodPlacement | undefined;
const names = () => stored()?.spec.entries?.map(({ trafficWatch }) => trafficWatch);
const placed = (name = 'web') => scene.sources.placements.placedOf(`shop/${name}`);

describe('a write of PodPlacements', () => {
  it('is not repeated while nothing differs', async () => {
    await sync();
    expect(names()).toEqual(['web']);
    expect(placed().entry).toMatchObject({ trafficWatch: 'web', labelKey: KEY });
    await sync();
    expect(writesOf(scene)).toEqual([APPLY]);
  });

  it('deletes the object with its last entry', async () => {
    await sync();
    scene.watches.delete(aWatch('web'));
    await sync();
    expect(writesOf(scene)).toEqual([APPLY, 'delete PodPlacement']);
    expect(stored()).toBeUndefined();
  });

  it('is shared by the calls during another call', async () => {
    const first = sync();
    await Promise.resolve();
    scene.watches.set(aWatch('db'));
    await Promise.all([first, ...Array.from({ length: 9 }, sync)]);
    expect(names()).toEqual(['db', 'web']);
    expect(writesOf(scene).length).toBeLessThanOrEqual(2);
  });

  it('comes at once after a pause, and at most once in two seconds while TrafficWatches change all the time', async () => {
    let isOn = true;
    const flap = async (times: number): Promise<number> => {
      const before = writesOf(scene).length;
      for (let n = 0; n < times; n++) {
        if ((isOn = !isOn)) scene.watches.set(aWatch('web'));
        else scene.watches.delete(aWatch('web'));
        await sync().catch((error: unknown) => {
          if (!(error instanceof WaitingError)) throw error;
        });
      }
      return writesOf(scene).length - before;
    };
    await sync();
    expect(await flap(60)).toBe(29);
    await scene.clock.advance(2_000);
    scene.watches.set(aWatch('db'));
    await sync();
    expect(names()).toContain('db');
    expect(await flap(30)).toBe(0);
    await expect(sync()).rejects.toMatchObject({ retryAfterMs: 2_000 });
    expect(placed('db').problem).toBeUndefined();
    await scene.clock.advance(60_000);
    expect(await flap(60)).toBe(30);
  });

  it.each<[string, number, string]>([
    ['a missing right', 403, 'writing the PodPlacement traffic-operator: '],
    ['a missing CRD', 404, 'the API server does not serve PodPlacement: helm upgrade with crds.enabled=true'],
  ])('that fails is a problem until one succeeds: %s', async (_what, status, message) => {
    const error = new ApiError({
      status,
      reason: status === 403 ? 'Forbidden' : 'NotFound',
      method: 'PATCH',
      path: '/x',
    });
    let isRefused = true;
    refuseOn(scene.api, ({ what }) => (isRefused && what === 'PodPlacement' ? error : undefined));
    await expect(sync()).rejects.toBe(error);
    const problem = { message: expect.stringContaining(message) as string };
    expect(placed()).toMatchObject({ entry: undefined, problem });
    expect(placed().problem?.isRefused ?? false).toBe(status === 403);
    isRefused = false;
    await sync();
    expect(placed().problem).toBeUndefined();
  });
});

describe('a TrafficWatch that is being deleted', () => {
  it('leaves the PodPlacement before its labels are taken off', async () => {
    scene.nodes.set({ ...scene.nodes.get('n1')!, labels: { [KEY]: 'false' }, ownedKeys: [KEY] });
    await sync();
    scene.watches.set(aWatch('web', { deletionTimestamp: new Date(0) }));
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene).slice(0, 3)).toEqual([APPLY, 'delete PodPlacement', 'patch Node']);
  });

  it('keeps its labels if the PodPlacement cannot be written', async () => {
    await sync();
    scene.watches.set(aWatch('web', { deletionTimestamp: new Date(0) }));
    refuseOn(scene.api, ({ verb }) => (verb === 'delete' ? new Error('no') : undefined));
    await expect(reconcile(scene, 'shop/web')).rejects.toThrow();
    expect(writesOf(scene)).not.toContain('patch Node');
  });
});

it('calls back for the TrafficWatches whose state changed', async () => {
  const { PodPlacements } = await import('./podPlacements.ts');
  const changed = vi.fn<(keys: readonly string[]) => void>();
  const apply = vi.fn().mockRejectedValueOnce(new Error('no')).mockResolvedValue({ written: false, object: {} });
  const placements = new PodPlacements({
    client: scene.api,
    clock: scene.clock,
    applier: { apply, isUpToDate: () => false } as never,
    watches: scene.sources.watches,
    placements: { get: () => undefined, wrote: () => undefined },
    refusal: () => undefined,
    changed,
  });
  await placements.sync('shop').catch(() => undefined);
  expect(changed.mock.calls).toEqual([[['shop/web']]]);
  await placements.sync('shop');
  await placements.sync('shop');
  expect(changed.mock.calls).toHaveLength(2);
});
