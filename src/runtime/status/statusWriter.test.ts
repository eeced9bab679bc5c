import { describe, expect, it } from 'vitest';
import type { Condition } from '../controller/conditions.ts';
import { ApiError, WaitingError } from '../client/errors.ts';
import { StatusWriter } from './statusWriter.ts';
import { refuseOn } from '../testing/fakeApi/overrides.ts';
import { aGadget, GADGETS, gadgetWorld, type Gadget, type GadgetWorld } from '../testing/fakeApi/gadgets.ts';

function writerIn(world: GadgetWorld): StatusWriter<Gadget> {
  const { api: client, objects } = world;
  return new StatusWriter({ client, resource: GADGETS, fieldManager: 'test', objects });
}

function scene() {
  const world = gadgetWorld(aGadget());
  return { world, statuses: writerIn(world) };
}

const A_CONDITION: Condition = {
  type: 'Ready',
  status: 'True',
  reason: 'Decided',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

const answer = (status: number, reason: string) =>
  new ApiError({
    status,
    reason,
    method: 'PATCH',
    path: '/apis/test.example.com/v1/namespaces/shop/gadgets/web/status',
  });

describe('StatusWriter', () => {
  it('patches what differs, and nothing when nothing does, though the cache is behind', async () => {
    const { world, statuses } = scene();
    expect(await statuses.write(aGadget(), { size: 1, conditions: [] })).toBe(true);
    expect(await statuses.write(aGadget(), { size: 1, conditions: [] })).toBe(false);
    expect(await statuses.write(aGadget(), { size: 2, conditions: [] })).toBe(true);
    expect(world.patches()).toEqual([{ status: { size: 1, conditions: [] } }, { status: { size: 2 } }]);
    expect(world.cache.get('shop/web')?.status).toBeUndefined();
  });

  it('compares with the status that another client wrote meanwhile', async () => {
    const { world, statuses } = scene();
    world.cache.set({ ...aGadget({ resourceVersion: '2' }), status: { size: 5 } });
    expect(await statuses.write(aGadget(), { size: 5 })).toBe(false);
  });

  it('is overtaken by a conflict, throws any other refusal, and takes an object that is gone for done', async () => {
    const { world, statuses } = scene();
    refuseOn(world.api, () => answer(409, 'Conflict'));
    await expect(statuses.write(aGadget(), { size: 1 })).rejects.toThrow(WaitingError);
    refuseOn(world.api, () => answer(403, 'Forbidden'));
    await expect(statuses.write(aGadget(), { size: 1 })).rejects.toThrow(ApiError);
    refuseOn(world.api, () => answer(404, 'NotFound'));
    expect(await statuses.write(aGadget(), { size: 1 })).toBe(false);
  });

  it('writes nothing to an object that was deleted and created again', async () => {
    const { world, statuses } = scene();
    world.cache.set(aGadget({ uid: 'another', resourceVersion: '9' }));
    expect(await statuses.write(aGadget(), { size: 1 })).toBe(false);
    expect(world.patches()).toEqual([]);
  });
});

describe('a status of which the API server drops a field', () => {
  const dropping = () => {
    const { world, statuses } = scene();
    world.api.prune = (gadget) => {
      const { conditions } = (gadget as Gadget).status ?? {};
      return { ...gadget, status: conditions && { conditions } };
    };
    return { world, statuses };
  };

  it('is written once, and read as it was meant', async () => {
    const { world, statuses } = dropping();
    for (let pass = 0; pass < 3; pass++) {
      await statuses.write(aGadget(), { size: 1, conditions: [] });
      world.cache.set(world.stored()!);
    }
    expect(world.patches()).toHaveLength(1);
    expect(statuses.newest('shop/web')?.status).toEqual({ size: 1, conditions: [] });
    expect(world.stored()?.status).toEqual({ conditions: [] });
  });

  it('is written whole with the next change, once the API server no longer drops fields', async () => {
    const { world, statuses } = dropping();
    await statuses.write(aGadget(), { size: 1, conditions: [] });
    world.api.prune = (gadget) => gadget;
    expect(await statuses.write(aGadget(), { size: 1, conditions: [] })).toBe(false);
    expect(await statuses.write(aGadget(), { size: 1, conditions: [A_CONDITION] })).toBe(true);
    expect(world.stored()?.status).toEqual({ size: 1, conditions: [A_CONDITION] });
  });

  it('needs no write when what is left of it is what is wanted now', async () => {
    const { world, statuses } = dropping();
    await statuses.write(aGadget(), { size: 1, conditions: [] });
    expect(await statuses.write(aGadget(), { conditions: [] })).toBe(false);
    expect(statuses.newest('shop/web')?.status).toEqual({ conditions: [] });
    expect(world.patches()).toHaveLength(1);
  });

  it('is read as stored after a write by another client, for another object, and when it was forgotten', async () => {
    const { world, statuses } = dropping();
    await statuses.write(aGadget(), { size: 1, conditions: [] });
    const stored = world.stored()!;
    const others = [
      { ...stored, metadata: { ...stored.metadata, uid: 'another', resourceVersion: '9000' } },
      { ...stored, metadata: { ...stored.metadata, resourceVersion: '9001' }, status: {} },
    ];
    for (const other of others) {
      world.cache.set(other);
      expect(statuses.newest('shop/web')).toBe(other);
    }
    const same = { ...stored, metadata: { ...stored.metadata, resourceVersion: '9002' } };
    world.cache.set(same);
    expect(statuses.newest('shop/web')?.status?.size).toBe(1);
    statuses.forget('shop/web');
    expect(statuses.newest('shop/web')).toBe(same);
  });
});
