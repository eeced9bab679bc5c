import { beforeEach, describe, expect, it } from 'vitest';
import type { ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import type { ApplyCall } from '../../../runtime/apply/apply.ts';
import { NotLeaderError, TransportError } from '../../../runtime/client/errors.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { FakeClock } from '../../../runtime/process/clock.ts';
import type { PlannedObject } from '../decide/plan.ts';
import type { Caches } from '../observe/caches.ts';
import { RecentCalls } from '../observe/recentCalls.ts';
import { at, component, rendered, stackOf } from '../testing/stacks.ts';
import { act, type Writers } from './act.ts';

interface Call {
  readonly signal?: AbortSignal;
}

let clock: FakeClock;
/** The objects of all stacks, by namespace and name. */
let objects: Map<string, KubeObject>;
/** Names in the order in which their writes have begun. */
let begun: string[];
/** The outcome of a write, by name; others succeed at once. */
let fates: Map<string, (signal: AbortSignal) => Promise<void>>;
/** Events. */
let told: string[];
let writers: Writers;

beforeEach(() => {
  clock = new FakeClock();
  objects = new Map();
  begun = [];
  told = [];
  fates = new Map();
  const apply = async (_: unknown, object: KubeObject, _live: unknown, { signal }: Call) => {
    const name = object.metadata?.name ?? '';
    begun.push(name);
    await fates.get(name)?.(signal!);
    return { object, written: true };
  };
  const overlay = {
    get: (key: string) => objects.get(key),
    wrote: (object: KubeObject) => objects.set(`${object.metadata?.namespace}/${object.metadata?.name}`, object),
  };
  const remove = ({ name }: { name: string }, { signal }: Call) => {
    begun.push(`delete ${name}`);
    return fates.get(name)?.(signal!) ?? Promise.resolve();
  };
  writers = {
    client: { delete: (_: unknown, ref: { name: string }, call: Call) => remove(ref, call) } as never,
    applierOf: () => ({ apply }) as never,
    caches: { kinds: [{ resource: DEPLOYMENTS, overlay, informer: {} }] } as unknown as Caches,
    ...{ applying: new Set(), deletions: new RecentCalls(clock), clock },
    events: { event: (_, type, reason, note) => void told.push(`${type} ${reason}: ${note}`) },
  };
});

/** A write that gets no answer until it is called off. */
const hangs = (signal: AbortSignal, unsent = false): Promise<void> =>
  new Promise((_, reject) => {
    const fail = (): void => reject(new TransportError('cancelled', { failure: 'aborted', unsent }));
    signal.addEventListener('abort', fail, { once: true });
  });
const takes =
  (ms: number) =>
  (signal: AbortSignal): Promise<void> =>
    Promise.race([clock.sleep(ms), hangs(signal)]);

function planned(name: string, stack = stackOf([])): PlannedObject & { hash: string; isCurrent: boolean } {
  const { resource, object } = rendered(component(name), stack).objects.at(-1)!;
  return { ...{ resource, object, component: name, live: undefined, hash: '' }, isCurrent: false };
}

const names = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`);
const planOf = (all: readonly string[]) => ({ apply: all.map((name) => planned(name)), store: [], remove: [] });
const failed = (name: string): ComponentStatus => {
  return { name, type: 'Workload', state: 'Progressing', reason: 'WriteFailed', message: '', since: at(0) };
};

/** The result, at the latest after so many seconds. */
async function within<T>(s: number, work: Promise<T>): Promise<T | undefined> {
  let result: T | undefined;
  const done = work.then((value) => (result = value));
  for (let n = 0; n < s * 10; n += 1) await clock.advance(100);
  if (result !== undefined) await done;
  return result;
}

describe('a plan whose writes hang', () => {
  it('writes the other components, and says after 10 s what has failed', async () => {
    for (const name of ['c0', 'c1', 'c2']) fates.set(name, hangs);
    const all = names(20);
    const writing = act(planOf(all), stackOf([]), writers);
    await clock.advance(0);
    expect(begun.toSorted()).toEqual(all.toSorted());
    const result = await within(10, writing);
    const message = (name: string) => `Deployment shop/${name}: no answer from the API server`;
    expect(result?.failures).toEqual(
      ['c0', 'c1', 'c2'].map((name) => ({ component: name, reason: 'WriteFailed', message: message(name) })),
    );
    expect(result?.open).toEqual(new Set());
  });

  it('leaves open what it had no time for, and begins with that the next time', async () => {
    const all = names(10);
    for (const name of all.slice(0, 8)) fates.set(name, hangs);
    const result = await within(10, act(planOf(all), stackOf([]), writers));
    expect(result?.failures.map((failure) => failure.component)).toEqual(all.slice(0, 8));
    expect(result?.open).toEqual(new Set(['c8', 'c9']));
    begun = [];
    const next = act(planOf(all), stackOf([], { components: all.slice(0, 8).map(failed) }), writers);
    await clock.advance(0);
    expect(begun.slice(0, 2)).toEqual(['c8', 'c9']);
    expect((await within(10, next))?.open).toEqual(new Set());
  });

  it('leaves open what was not sent, since writes of other stacks hang', async () => {
    fates.set('c0', (signal) => hangs(signal, true));
    const result = await within(10, act(planOf(names(2)), stackOf([]), writers));
    expect(result).toEqual({ failures: [], open: new Set(['c0']) });
  });

  it('gets through slow writes, also such as take 9 s', async () => {
    const all = names(3);
    for (const name of all) fates.set(name, takes(9_000));
    expect(await within(10, act(planOf(all), stackOf([]), writers))).toEqual({ failures: [], open: new Set() });
  });

  it('gets through slow writes that begin late: each has 10 s of its own', async () => {
    const all = names(16);
    for (const name of all.slice(0, 8)) fates.set(name, takes(4_900));
    for (const name of all.slice(8)) fates.set(name, takes(6_000));
    expect(await within(11, act(planOf(all), stackOf([]), writers))).toEqual({ failures: [], open: new Set() });
  });

  it('calls a deletion off, too', async () => {
    fates.set('gone', hangs);
    const live = { metadata: { namespace: 'shop', name: 'gone' } };
    const plan = { apply: [], store: [], remove: [{ component: 'old', resource: DEPLOYMENTS, live }] };
    const result = await within(10, act(plan, stackOf([]), writers));
    expect(result?.failures.map((failure) => failure.message)).toEqual([
      'Deployment shop/gone: no answer from the API server',
    ]);
  });
});

it('at most 8 components are written at once', async () => {
  let most = 0;
  let now = 0;
  for (const name of names(30))
    fates.set(name, async () => {
      most = Math.max(most, (now += 1));
      await clock.sleep(100);
      now -= 1;
    });
  expect((await within(2, act(planOf(names(30)), stackOf([]), writers)))?.open).toEqual(new Set());
  expect(most).toBe(8);
});

it('what is called off at the end of the operator is no failure', async () => {
  fates.set('c0', hangs);
  const stop = new AbortController();
  const writing = act(planOf(names(2)), stackOf([]), writers, stop.signal);
  await clock.advance(0);
  stop.abort(new Error('shutting down'));
  expect(await within(1, writing)).toEqual({ failures: [], open: new Set(['c0']) });
});

it('nothing more is written after the leadership is lost, and no write is left behind', async () => {
  fates.set('c0', () => Promise.reject(new NotLeaderError()));
  fates.set('c1', takes(200));
  let isOver = false;
  const writing = act(planOf(names(20)), stackOf([]), writers).finally(() => (isOver = true));
  writing.catch(() => undefined);
  await clock.advance(100);
  expect(isOver).toBe(false);
  await clock.advance(100);
  await expect(writing).rejects.toThrow(NotLeaderError);
  expect(begun.length).toBeLessThanOrEqual(8);
});

describe('two stacks that want one object', () => {
  const [one, other] = ['main', 'other'].map((name) => {
    return { ...stackOf([]), metadata: { name, uid: `uid-of-${name}`, generation: 1 } };
  });

  it.each([
    ['at the same time', 100],
    ['after the other has written it', 0],
  ])('only the first gets it: %s', async (_, ms) => {
    fates.set('c0', takes(ms));
    const plan = (stack = one!) => ({ apply: [planned('c0', stack)], store: [], remove: [] });
    const first = act(plan(), one!, writers);
    if (ms === 0) await clock.advance(0);
    const second = act(plan(other), other!, writers);
    expect(await within(1, Promise.allSettled([first, second]))).toMatchObject([
      { value: { failures: [], open: new Set() } },
      { reason: { message: 'another stack has written Deployment shop/c0 first' } },
    ]);
    expect(begun).toEqual(['c0']);
  });
});

it('deletes an object once, although a cache that is late has it still, and again if that has failed', async () => {
  const leaving = (name: string, uid: string) => {
    const live = { kind: 'Deployment', metadata: { namespace: 'shop', name, uid } };
    return { apply: [], store: [], remove: [{ component: name, resource: DEPLOYMENTS, live }] };
  };
  await act(leaving('a', '1'), stackOf([]), writers);
  await act(leaving('a', '1'), stackOf([]), writers);
  await act(leaving('a', '2'), stackOf([]), writers);
  expect(begun).toEqual(['delete a', 'delete a']);
  fates.set('b', () => Promise.reject(new Error('no')));
  await act(leaving('b', '3'), stackOf([]), writers);
  await act(leaving('b', '3'), stackOf([]), writers);
  expect(begun.slice(2)).toEqual(['delete b', 'delete b']);
});

it.each([
  [true, ['Warning DriftCorrected: Deployment shop/c0: an unknown field manager had changed .spec.replicas']],
  [false, []],
])('an Event tells what was corrected, if the write succeeds: %s', async (succeeds, events) => {
  const apply = async (_: unknown, object: KubeObject, __: unknown, call: ApplyCall<KubeObject>) => {
    await call.onDrift?.(['.spec.replicas']);
    if (!succeeds) throw new TransportError('reset', { failure: 'connection' });
    return { object, written: true };
  };
  const get = () => Promise.resolve({ metadata: { namespace: 'shop', name: 'c0' } });
  await act(planOf(['c0']), stackOf([]), {
    ...writers,
    client: { get } as never,
    applierOf: () => ({ apply }) as never,
  });
  expect(told).toEqual(events);
});
