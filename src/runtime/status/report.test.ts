import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError, IncompleteError } from '../client/errors.ts';
import { findCondition, setCondition, type Condition } from '../controller/conditions.ts';
import { Controller } from '../controller/controller.ts';
import { EventRecorder } from '../controller/events.ts';
import { FakeClock } from '../process/clock.ts';
import { createLogger } from '../process/logger.ts';
import { conditionEvents, STANDARD_TYPES } from './conditionEvents.ts';
import { report } from './report.ts';
import { StatusWriter } from './statusWriter.ts';
import { refuseOn } from '../testing/fakeApi/overrides.ts';
import { aGadget, GADGETS, gadgetWorld, type Gadget, type GadgetWorld } from '../testing/fakeApi/gadgets.ts';
import { createFailureOf } from './writeFailures.ts';

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
