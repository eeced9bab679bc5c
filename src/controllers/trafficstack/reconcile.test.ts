import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { TrafficStack, TrafficStackStatus } from '../../api/trafficstack/trafficStack.ts';
import { BodyBudget } from '../../runtime/cache/bodyBudget.ts';
import { Store } from '../../runtime/cache/store.ts';
import { FakeClock } from '../../runtime/process/clock.ts';
import { terminatingFor } from '../../runtime/testing/terminating.ts';
import { identityOfStack } from '../contract/stackOwnership.ts';
import { Renderings } from './desired.ts';
import { createTrafficStackMetrics } from './metrics.ts';
import { FirstSeen } from './observe/firstSeen.ts';
import { errorOfWriting, reconcile, type Dependencies } from './reconcile.ts';
import { at, component, EVERYWHERE, stackOf } from './testing/stacks.ts';

/** A stack that was ready, of which nothing can be read now. */
function scene() {
  const registry = new Registry();
  const stack = stackOf([component('db')], {
    components: [
      { name: 'db', type: 'Workload', state: 'Ready', reason: 'AllAvailable', message: '', since: at(0), replicas: 2 },
    ],
  });
  const now = { stack: stack as TrafficStack | undefined, isLeader: true };
  const forgotten: string[] = [];
  const d: Dependencies = {
    client: {} as Dependencies['client'],
    writers: {} as Dependencies['writers'],
    caches: { kinds: [], pods: { refusal: { detail: 'pods may not be listed' } } } as unknown as Dependencies['caches'],
    answers: { answer: () => ({ is: 'Pending' }), requery: () => undefined },
    nodes: { get: () => undefined },
    firstSeen: new FirstSeen(new FakeClock()),
    renderings: new Renderings({ countNodes: () => 0, builtIns: [] }),
    allowed: EVERYWHERE,
    refusalOf: () => undefined,
    podReader: { read: () => Promise.resolve([]) },
    eventReader: { read: () => Promise.resolve([]) },
    foreignObjects: {
      readerFor: () => expect.fail('nothing is looked at'),
      forget: (stack) => void forgotten.push(stack),
    },
    listeners: { ask: () => Promise.reject(new Error('it is asked')) },
    probes: { proof: () => Promise.resolve({ is: 'Proven' }) },
    measurable: () => 3,
    nameFound: () => Promise.resolve(),
    stacks: {} as Dependencies['stacks'],
    statuses: { newest: () => now.stack, write: () => Promise.resolve(true), forget: () => undefined },
    events: { event: () => undefined },
    metrics: createTrafficStackMetrics(registry),
    clock: new FakeClock(),
    isLeader: () => now.isLeader,
  };
  const series = async () => (await registry.metrics()).split('\n').filter((line) => line.includes('stack="main"'));
  return { d, now, series, forgotten };
}

it('does not look healthy in the metrics while it cannot be read', async () => {
  const { d, series } = scene();
  await reconcile(d, 'main');
  const found = await series();
  expect(found).toContain('traffic_operator_stack_ready{stack="main",reason="NotRead"} 0');
  expect(found).toContain('traffic_operator_stack_component_state{stack="main",component="db",state="Unknown"} 1');
  expect(found.filter((line) => /state="Ready"} 1|pods_/.test(line))).toEqual([]);
});

describe('a stack without its body', () => {
  /** @param whole as the API server has it */
  function largeScene(whole: Partial<TrafficStack> = {}) {
    const made = scene();
    const stack = { ...made.now.stack!, ...whole };
    made.now.stack = new BodyBudget(0).keep(stack, identityOfStack);
    const written: TrafficStackStatus[] = [];
    const listed: unknown[] = [];
    const list = (_: unknown, options: unknown) => {
      listed.push(options);
      return Promise.resolve([stack]);
    };
    const write = (_: unknown, status: TrafficStackStatus) => Promise.resolve(written.push(status) > 0);
    const statuses = { ...made.d.statuses, write };
    return {
      ...made,
      written,
      listed,
      d: { ...made.d, statuses, client: { list } as unknown as Dependencies['client'] },
    };
  }

  it('is Stalled, and its status is otherwise unchanged', async () => {
    const { d, now, written, forgotten, listed } = largeScene();
    await reconcile(d, 'main');
    expect(Object.keys(written[0]!)).toEqual(['observedGeneration', 'conditions']);
    const reason = 'TooLarge';
    expect(written[0]?.conditions).toMatchObject([
      { type: 'Ready', status: 'False', reason },
      { type: 'Progressing', status: 'False', reason },
      { type: 'Degraded', status: 'Unknown', reason },
      {
        type: 'Stalled',
        status: 'True',
        reason,
        message: expect.stringMatching(/what exists is unchanged; make/) as string,
      },
    ]);
    expect([forgotten, listed]).toEqual([['main'], []]);
    // With what the cache has of this, nothing differs the next time.
    now.stack = new BodyBudget(0).keep({ ...now.stack!, status: written[0]! }, identityOfStack);
    await reconcile(d, 'main');
    expect(written[1]).toEqual(now.stack.status);
  });

  it('is read while it is being deleted: its objects are removed in the order of its inventory', async () => {
    const metadata = { name: 'main', generation: 2, deletionTimestamp: new Date(0) };
    const { d, written, listed } = largeScene({ metadata });
    await reconcile(d, 'main');
    expect(listed).toEqual([{ fieldSelector: 'metadata.name=main', limit: 1 }]);
    expect(written[0]?.components).toMatchObject([{ name: 'db', state: 'Unknown' }]);
  });
});

it('has no series after the replica has lost the Lease, and has them again when it leads', async () => {
  const { d, now, series } = scene();
  await reconcile(d, 'main');
  expect(await series()).not.toEqual([]);
  now.isLeader = false;
  await reconcile(d, 'main');
  expect(await series()).toEqual([]);
  now.isLeader = true;
  await reconcile(d, 'main');
  expect(await series()).not.toEqual([]);
});

it('is seen again by a replica that has lost the Lease and leads again', async () => {
  const { d, now } = scene();
  d.firstSeen.record('main', { available: new Map([['db', '']]), stable: new Map(), awaiting: new Map() });
  now.isLeader = false;
  await reconcile(d, 'main');
  expect(d.firstSeen.of('main').available.size).toBe(0);
});

it('reads nothing of another owner when it is gone, when the replica has lost the Lease, and when its spec is invalid', async () => {
  const { d, now, forgotten } = scene();
  await reconcile(d, 'main');
  // What cannot be read now is watched on.
  expect(forgotten).toEqual([]);
  now.isLeader = false;
  await reconcile(d, 'main');
  expect(forgotten.splice(0)).toEqual(['main']);
  now.isLeader = true;
  const { stack } = now;
  now.stack = undefined;
  await reconcile(d, 'main');
  expect(forgotten.splice(0)).toEqual(['main']);
  now.stack = stack && { ...stack, spec: { components: [component('db', { dependsOn: ['no'] })] } };
  await reconcile({ ...d, caches: { kinds: [], pods: { synced: true } } as unknown as Dependencies['caches'] }, 'main');
  expect(forgotten).toEqual(['main']);
});

it('has no series when it is gone', async () => {
  const { d, now, series } = scene();
  await reconcile(d, 'main');
  expect(await series()).not.toEqual([]);
  now.stack = undefined;
  await reconcile(d, 'main');
  expect(await series()).toEqual([]);
});

it.each([
  ['its objects are gone', 'example.com/backup'],
  ['its objects stay', 'orphan'],
])('is not Ready while it is being deleted, also after %s', async (_, finalizer) => {
  const { d, now, series } = scene();
  const ready = { type: 'Ready', status: 'True', reason: 'AllReady', message: '', lastTransitionTime: at(0) } as const;
  const { metadata, ...stack } = stackOf([], { conditions: [ready] });
  now.stack = { ...stack, metadata: { ...metadata, deletionTimestamp: new Date(0), finalizers: [finalizer] } };
  const written: unknown[] = [];
  const statuses = { ...d.statuses, write: (_: unknown, status: unknown) => Promise.resolve(written.push(status) > 0) };
  const caches = { kinds: [], pods: { synced: true, lister: new Store() } } as unknown as Dependencies['caches'];
  const foreignObjects = { ...d.foreignObjects, readerFor: () => ({ end: () => undefined }) as never };
  await reconcile({ ...d, caches, foreignObjects, statuses }, 'main');
  expect(written).toMatchObject([{ conditions: [terminatingFor(finalizer)] }]);
  expect(await series()).toContain('traffic_operator_stack_ready{stack="main",reason="Terminating"} 0');
});

it.each([
  ['after its backoff if all was tried', [], 0, { name: 'IncompleteError', retryAfterMs: 0 }],
  ['in a second if a component was not tried', ['web'], 0, { name: 'RetryError', retryAfterMs: 1_000 }],
  ['after the delay that the API server asked for', ['web'], 9_000, { name: 'IncompleteError', retryAfterMs: 9_000 }],
])('a stack with failed writes is reconciled %s', (_, open, retryAfterMs, expected) => {
  const failures = [{ component: 'db', reason: 'WriteFailed', message: 'refused', retryAfterMs }];
  expect(errorOfWriting({ failures, open: new Set(open) })).toMatchObject({ ...expected, message: 'refused' });
});
