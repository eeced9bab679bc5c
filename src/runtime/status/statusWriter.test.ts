import { describe, expect, it, afterEach, beforeEach, vi } from 'vitest';
import {
  type Condition,
  findCondition,
  setCondition,
  conditionEvents,
  STANDARD_TYPES,
} from '../controller/conditions.ts';
import { BodyBudget } from '../cache/bodyBudget.ts';
import { ApiError, WaitingError, IncompleteError } from '../client/errors.ts';
import { StatusWriter, report } from './statusWriter.ts';
import { refuseOn } from '../testing/fakeApi/overrides.ts';
import { aGadget, GADGETS, gadgetWorld, type Gadget, type GadgetWorld } from '../testing/fakeApi/gadgets.ts';
import { Controller } from '../controller/controller.ts';
import { EventRecorder } from '../controller/events.ts';
import { FakeClock } from '../process/clock.ts';
import { createLogger } from '../process/logger.ts';
import { createFailureOf } from './writeFailures.ts';

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

  it('does not take the fields that a cache has dropped for fields that the API server has dropped', async () => {
    const world = gadgetWorld({ ...aGadget(), status: { size: 7 } });
    const dropped = new BodyBudget(0).keep(aGadget(), (gadget) => gadget);
    world.cache.set(dropped);
    const statuses = writerIn(world);
    expect(await statuses.write(dropped, { conditions: [A_CONDITION] })).toBe(true);
    world.cache.set(world.stored()!);
    expect(statuses.newest('shop/web')?.status).toEqual({ size: 7, conditions: [A_CONDITION] });
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

const failureOf = createFailureOf(GADGETS, {
  forbidden: 'Forbidden',
  refused: 'WriteRefused',
  unreachable: 'Unreachable',
  failed: 'WriteFailed',
});

/** All that a controller of another kind has to write for its report. */
async function reconcileGadget(
  { statuses, events, work }: { statuses: StatusWriter<Gadget>; events: EventRecorder; work: () => Promise<void> },
  key: string,
): Promise<undefined> {
  const about = statuses.newest(key);
  if (about === undefined) {
    statuses.forget(key);
    return;
  }
  const failures = await work().then(
    () => [],
    (error: unknown) => [failureOf('making its Deployment', error)],
  );
  const state = failures[0] ? { status: 'False' as const, ...failures[0] } : MADE;
  const before = about.status?.conditions ?? [];
  const conditions = setCondition(before, { type: 'Ready', ...state }, '2026-01-01T00:00:00Z');
  const planned = conditionEvents(before, conditions, { types: STANDARD_TYPES });
  await report({ statuses, events }, { about, status: { conditions }, events: planned });
  if (failures.length > 0) throw new IncompleteError(failures);
}
const MADE = { status: 'True', reason: 'Made', message: 'its Deployment is made' } as const;

const refusal = (status: number, reason: string, path: string) =>
  new ApiError({ status, reason, detail: 'may not', method: 'PATCH', path });
const FORBIDDEN = refusal(403, 'Forbidden', '/apis/apps/v1/namespaces/shop/deployments/web');
const OVERTAKEN = refusal(409, 'Conflict', '/apis/test.example.com/v1/namespaces/shop/gadgets/web/status');

describe('report', () => {
  it('records no event of a status that was not written, since the object is gone or has it already', async () => {
    const world = gadgetWorld(aGadget());
    const { api: client, objects } = world;
    const statuses = new StatusWriter({ client, resource: GADGETS, fieldManager: 'gadgets', objects });
    const event = vi.fn();
    const reporting = (size: number) => {
      const events = [{ type: 'Normal', reason: 'Grown', note: String(size) } as const];
      return report({ statuses, events: { event } }, { about: aGadget(), status: { size }, events });
    };
    await reporting(1);
    expect(event).toHaveBeenCalledExactlyOnceWith(aGadget(), 'Normal', 'Grown', '1');
    await reporting(1);
    refuseOn(world.api, () => refusal(404, 'NotFound', ''));
    await reporting(2);
    expect(event).toHaveBeenCalledOnce();
  });
});

describe('the report of a second controller', () => {
  let world: GadgetWorld;
  let controller: Controller;
  let clock: FakeClock;
  let problem: Error | undefined;
  let end: AbortController;
  let running: Promise<void>;

  beforeEach(() => {
    world = gadgetWorld(aGadget());
    clock = new FakeClock();
    end = new AbortController();
    problem = undefined;
    const { api: client, objects } = world;
    const logger = createLogger('silent');
    const events = new EventRecorder({ client, component: 'test/gadgets', instance: 'one', logger, clock });
    const statuses = new StatusWriter({ client, resource: GADGETS, fieldManager: 'gadgets', objects });
    const work = () => (problem ? Promise.reject(problem) : Promise.resolve());
    const reconcile = (key: string) => reconcileGadget({ statuses, events, work }, key);
    controller = new Controller({ name: 'gadgets', reconcile, logger, clock });
    running = controller.run(end.signal);
  });

  afterEach(async () => {
    end.abort();
    await running;
  });

  const ready = (): Condition | undefined => findCondition(world.stored()?.status?.conditions, 'Ready');
  const failures = (): number => controller.queue.failures('shop/web');

  it('has failures in conditions, one event a change, and backoff, though its cache is always behind', async () => {
    problem = FORBIDDEN;
    controller.queue.add('shop/web');
    await vi.waitFor(() => expect(failures()).toBe(1));
    expect(ready()).toMatchObject({ reason: 'Forbidden', message: 'making its Deployment: may not' });
    await clock.advance(1_000);
    await vi.waitFor(() => expect(failures()).toBeGreaterThan(1));
    expect([world.patches().length, world.events()]).toEqual([1, ['Forbidden']]);
    problem = undefined;
    await clock.advance(60_000);
    await vi.waitFor(() => expect(failures()).toBe(0));
    expect(ready()).toMatchObject({ status: 'True', reason: 'Made' });
    expect([world.patches().length, world.events()]).toEqual([2, ['Forbidden', 'Made']]);
    expect(world.cache.get('shop/web')?.status).toBeUndefined();
  });

  it('waits a second if another client wrote the object meanwhile, which is not a failure and not an event', async () => {
    let asked = 0;
    refuseOn(world.api, ({ verb }) => (verb === 'patch' && ++asked === 1 ? OVERTAKEN : undefined));
    controller.queue.add('shop/web');
    await vi.waitFor(() => expect(asked).toBe(1));
    await clock.advance(999);
    expect([asked, failures(), world.events()]).toEqual([1, 0, []]);
    await clock.advance(1);
    await vi.waitFor(() => expect(world.events()).toEqual(['Made']));
    expect(ready()?.reason).toBe('Made');
  });
});
