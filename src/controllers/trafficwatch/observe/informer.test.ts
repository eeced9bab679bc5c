import { describe, expect, it } from 'vitest';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { BodyBudget } from '../../../runtime/cache/bodyBudget.ts';
import { FINALIZER } from '../names.ts';
import { decidePlan } from '../decide/decidePlan.ts';
import { aWatch, KEY } from '../testing/observations.ts';
import { reconcile } from '../reconcile.ts';
import { aScene, writesOf } from '../testing/scene.ts';
import { withoutSpec } from './informer.ts';
import { observe } from './observe.ts';

const LARGE = 'x'.repeat(100_000);

/** As a cache keeps it whose budget is spent. */
const beyond = (watch: TrafficWatch): TrafficWatch => new BodyBudget(0).keep(watch, withoutSpec);

function largeWatch(rest: Partial<TrafficWatch['metadata']> = {}): TrafficWatch {
  const { metadata, ...watch } = aWatch({ label: LARGE, status: { labelKey: KEY } });
  const many = { labels: { a: LARGE }, annotations: { a: LARGE }, finalizers: ['a.example.com/b', FINALIZER, LARGE] };
  return { ...watch, metadata: { ...metadata, ...many, ...rest } };
}

it('TrafficWatches beyond the limits share the view of all nodes, whatever their selectors', async () => {
  const scene = aScene();
  const problem = { reason: 'TooManyTrafficWatches', message: '' } as const;
  const limits = { problemOf: () => problem, isBeyond: () => true };
  const names = ['one', 'other'];
  for (const name of names) {
    const watch = aWatch({ nodeSelector: { matchLabels: { [name]: 'x' } } });
    scene.watches.set({ ...watch, metadata: { ...watch.metadata, name } });
  }
  const [one, other] = await Promise.all(names.map((name) => observe({ ...scene.sources, limits }, `shop/${name}`)));
  expect(one?.view).toBe(other?.view);
  expect(one?.view.outside).toEqual([]);
});

describe('a TrafficWatch whose namespace has too many bytes of them', () => {
  it('is kept with what its deletion needs, and nothing whose size a user chooses', () => {
    const kept = beyond(largeWatch());
    expect(kept).toMatchObject({ metadata: { finalizers: [FINALIZER] }, status: { labelKey: KEY } });
    expect(JSON.stringify(kept).length).toBeLessThan(1_000);
    const other = beyond({ ...largeWatch({ finalizers: ['a.example.com/b'] }), status: { labelKey: LARGE } });
    expect([other.metadata?.finalizers, other.status]).toEqual([[], undefined]);
  });

  it('is Stalled, and says what to do', async () => {
    const scene = aScene();
    scene.watches.set(beyond(largeWatch()));
    const observation = await observe(scene.sources, 'shop/web');
    expect(observation && decidePlan(observation).stall).toMatchObject({
      reason: 'TooManyTrafficWatches',
      message: expect.stringMatching(/more than 8 MiB together.*do not get its node affinity; delete some/) as string,
    });
  });

  it('is reported once, and not in each pass', async () => {
    const scene = aScene();
    scene.watches.set(beyond(largeWatch()));
    await reconcile(scene, 'shop/web');
    const [written, ...others] = scene.api.calls.filter(({ what }) => what === 'TrafficWatch/status');
    expect([written?.body, others]).toMatchObject([{ status: { ready: false } }, []]);
    const { status } = written?.body as Pick<TrafficWatch, 'status'>;
    scene.api.calls.length = 0;
    scene.watches.set(beyond({ ...largeWatch(), status: { labelKey: KEY, ...status } }));
    await scene.clock.advance(10_000);
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene)).toEqual([]);
  });

  it('lets its labels go when it is deleted', async () => {
    const scene = aScene();
    scene.watches.set(beyond(largeWatch({ deletionTimestamp: new Date(0) })));
    scene.nodes.set({ ...scene.nodes.get('n1')!, labels: { [KEY]: 'true' }, ownedKeys: [KEY] });
    const observation = await observe(scene.sources, 'shop/web');
    const plan = observation && decidePlan(observation);
    expect([plan?.finalizer, [...(plan?.labels.keys() ?? [])]]).toEqual(['Remove', ['n1']]);
  });
});
