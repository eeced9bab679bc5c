import { describe, expect, it, vi } from 'vitest';
import type { TrafficWatchStatus } from '../../api/trafficwatch/schema.ts';
import { IncompleteError, NotLeaderError, WaitingError } from '../../runtime/client/errors.ts';
import { refusal, type Call } from '../../runtime/testing/fakeApi/fakeApi.ts';
import { hangOn, refuseOn } from '../../runtime/testing/fakeApi/overrides.ts';
import { DEPLOYMENTS } from '../../runtime/client/resources.ts';
import { keyOf } from '../../runtime/client/resource.ts';
import type { WatchLimits } from './observe/watchLimits.ts';
import { FINALIZER } from './names.ts';
import { reconcile } from './reconcile.ts';
import { aDeployment, aWatch, KEY, NOW, pass } from './testing/observations.ts';
import { aNode, aScene, writesOf, type Scene } from './testing/scene.ts';

const statusWrites = (scene: Scene): TrafficWatchStatus[] =>
  scene.api.calls
    .filter((call) => call.what === 'TrafficWatch/status')
    .map((call) => (call.body as { status: TrafficWatchStatus }).status);

const condition = (scene: Scene, type: string) =>
  statusWrites(scene)
    .at(-1)
    ?.conditions?.find((c) => c.type === type);

const failing = (what: string, error: (call: Call) => Error) => (call: Call) =>
  call.verb !== 'get' && call.what === what ? error(call) : undefined;

describe('reconcile', () => {
  it('writes finalizer, labels, Deployment and status in this order, and emits events', async () => {
    const scene = aScene();
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene)).toEqual([
      'patch TrafficWatch',
      'patch Node',
      'patch Node',
      'create Deployment',
      'patch Deployment',
      'apply Deployment',
      'patch TrafficWatch/status',
    ]);
    expect(statusWrites(scene)[0]).toMatchObject({ ready: true, fitNodes: 1, unfitNodes: 1, labelKey: KEY });
    expect(scene.told.map(([, reason]) => reason)).toEqual(
      expect.arrayContaining(['DeploymentCreated', 'Decided', 'NodeUnfit']),
    );
  });

  it('completes a Deployment that it has created and could not apply: that is no adoption', async () => {
    const scene = aScene();
    let isRefused = true;
    refuseOn(scene.api, (call) =>
      isRefused && call.verb === 'apply' && call.what === 'Deployment'
        ? refusal(call, 500, 'InternalError')
        : undefined,
    );
    await expect(reconcile(scene, 'shop/web')).rejects.toThrow(IncompleteError);
    isRefused = false;
    await reconcile(scene, 'shop/web');
    const reasons = scene.told.map(([, reason]) => reason).filter((reason) => reason.startsWith('Deployment'));
    expect(reasons).toEqual(['DeploymentCreated']);
    const live = scene.api.object(DEPLOYMENTS, { namespace: 'shop', name: 'web' });
    expect(live?.metadata?.managedFields).toMatchObject([{ manager: 'test', operation: 'Apply' }]);
  });

  it('in a standby writes nothing and emits no event, but records metrics', async () => {
    const scene = aScene();
    scene.leader = false;
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene)).toEqual([]);
    expect(scene.told).toEqual([]);
    expect(await scene.registry.metrics()).toMatch(/node_unfit\{.*node="n2".*\} 1/);
  });

  it('reports the missing right for the labels, and still applies the Deployment', async () => {
    const scene = aScene();
    const detail =
      'nodes "n1" is forbidden: User "x" cannot patch resource "nodes" in API group "" at the cluster scope';
    refuseOn(
      scene.api,
      failing('Node', (call) => refusal(call, 403, 'Forbidden', detail)),
    );
    await expect(reconcile(scene, 'shop/web')).rejects.toThrow(IncompleteError);
    expect(writesOf(scene)).toContain('apply Deployment');
    expect(condition(scene, 'Reconciling')).toMatchObject({ status: 'True', reason: 'Forbidden' });
    expect(condition(scene, 'Reconciling')?.message).toMatch(/cannot patch resource "nodes".*1 more/);
  });

  it('reports progress every ten seconds while labels are written, and no verdicts before the end', async () => {
    const scene = aScene();
    const before = { ready: false, conditions: [] };
    scene.watches.set(aWatch({ status: before }));
    for (const name of ['n3', 'n4']) scene.nodes.set(aNode(name));
    const percents = { n1: 1, n2: 50, n3: 1, n4: 1 };
    scene.feed.passes = [pass(2, percents), pass(1, percents)];
    const hung = hangOn(scene.api, ({ what, name }) => what === 'Node' && name === 'n4');
    const cut = new AbortController();
    const done = reconcile(scene, 'shop/web', cut.signal);
    await vi.waitFor(() => expect(hung()).toBe(1));
    await scene.clock.advance(9_000);
    expect(statusWrites(scene)).toEqual([]);
    await scene.clock.advance(1_000);
    const told = { status: 'True', reason: 'Applying', message: '3 of 4 nodes are labelled', observedGeneration: 1 };
    const expected = { conditions: [{ type: 'Reconciling', lastTransitionTime: '2026-01-01T00:10:10Z', ...told }] };
    expect(statusWrites(scene)).toEqual([expected]);
    await scene.clock.advance(10_000);
    expect(statusWrites(scene)).toHaveLength(1);
    expect(scene.told).toEqual([]);
    cut.abort(new Error('cut short'));
    await expect(done).rejects.toThrow('cut short');
    expect(scene.clock.pending).toBe(0);
  });

  it('writes no status if it loses leadership meanwhile', async () => {
    for (const what of ['TrafficWatch', 'Node', 'Deployment']) {
      const scene = aScene();
      refuseOn(
        scene.api,
        failing(what, () => new NotLeaderError()),
      );
      await expect(reconcile(scene, 'shop/web')).rejects.toThrow(NotLeaderError);
      expect(statusWrites(scene)).toEqual([]);
      expect(scene.told).toEqual([]);
    }
  });

  it('is requeued soon without an event if somebody edits the TrafficWatch meanwhile', async () => {
    for (const what of ['TrafficWatch', 'TrafficWatch/status']) {
      const scene = aScene();
      refuseOn(
        scene.api,
        failing(what, (call) => refusal(call, 409, 'Conflict')),
      );
      const overtaken = reconcile(scene, 'shop/web');
      await expect(overtaken).rejects.toThrow(WaitingError);
      await expect(overtaken).rejects.toMatchObject({ reason: 'Conflict', retryAfterMs: 1_000 });
      expect(scene.told.filter(([type]) => type === 'Warning')).toEqual([]);
      if (what === 'TrafficWatch') expect(statusWrites(scene)).toEqual([]);
    }
  });

  it('is requeued also if somebody edits the TrafficWatch during its deletion', async () => {
    const scene = aScene();
    const metadata = { deletionTimestamp: new Date(NOW), finalizers: ['traffic.example.com/node-labels'] };
    scene.watches.set(aWatch({ metadata }));
    refuseOn(
      scene.api,
      failing('TrafficWatch', (call) => refusal(call, 409, 'Conflict')),
    );
    await expect(reconcile(scene, 'shop/web')).rejects.toThrow(WaitingError);
    expect([statusWrites(scene), scene.told]).toEqual([[], []]);
  });

  it('creates the Deployment after 60 s without data', async () => {
    const scene = aScene();
    Object.assign(scene.feed, { passes: [], startedAt: NOW });
    expect(await reconcile(scene, 'shop/web')).toEqual({ requeueAfterMs: 60_000 });
    expect(writesOf(scene)).not.toContain('apply Deployment');
    await scene.clock.advance(60_000);
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene)).toContain('apply Deployment');
  });

  it('cancels every running call when it is aborted', async () => {
    for (const what of ['Deployment', 'TrafficWatch', 'Node', 'TrafficWatch/status']) {
      const scene = aScene();
      const end = new AbortController();
      const hanging = hangOn(scene.api, (call) => call.verb !== 'get' && call.what === what);
      const ended = reconcile(scene, 'shop/web', end.signal);
      ended.catch(() => undefined);
      await vi.waitFor(() => expect(hanging()).toBeGreaterThan(0));
      end.abort(new Error('time is over'));
      await expect(ended).rejects.toThrow();
      expect(hanging()).toBe(0);
      if (what !== 'TrafficWatch/status') expect(statusWrites(scene)).toEqual([]);
    }
  });

  it.each([
    ['of a Deployment that the cache does not have', false],
    ['of the managedFields of a Deployment that it takes over', true],
  ])('cancels its GET %s when it is aborted', async (_which, isCached) => {
    const scene = aScene();
    const end = new AbortController();
    if (isCached) scene.sources.deployments.wrote(aDeployment(aWatch()));
    const hanging = hangOn(scene.api, (call) => call.verb === 'get' && call.what === 'Deployment');
    const ended = reconcile(scene, 'shop/web', end.signal);
    ended.catch(() => undefined);
    await vi.waitFor(() => expect(hanging()).toBe(1));
    end.abort(new Error('time is over'));
    await expect(ended).rejects.toThrow();
    expect(hanging()).toBe(0);
  });

  it('is requeued at once after a rename wrote labels, because own writes cause no event', async () => {
    const scene = aScene();
    await expect(reconcile(scene, 'shop/web')).resolves.toBeUndefined();
    expect(writesOf(scene)).toContain('patch Node');

    const renamed = aScene();
    renamed.watches.set(aWatch({ label: 'new', status: { labelKey: KEY } }));
    await expect(reconcile(renamed, 'shop/web')).resolves.toEqual({ requeueAfterMs: 1 });
    expect(writesOf(renamed)).toContain('patch Node');
  });

  it('drops the metrics of a deleted TrafficWatch', async () => {
    const scene = aScene();
    await reconcile(scene, 'shop/web');
    scene.watches.delete(aWatch());
    await reconcile(scene, 'shop/web');
    expect(await scene.registry.metrics()).not.toContain('node="n2"');
  });
});

describe('a TrafficWatch beyond the limits', () => {
  it('costs no more than its status: nothing is read or written for it, it has no series of its own and claims no label key', async () => {
    const scene = aScene();
    const older = { name: 'older', namespace: 'shop', uid: 'uid-older', creationTimestamp: new Date(0) };
    scene.watches.set({ ...aWatch({ label: 'web' }), metadata: older });
    const isBeyond = (key: string): boolean => key === 'shop/older';
    const problemOf: WatchLimits['problemOf'] = (watch) =>
      isBeyond(keyOf(watch)) ? { reason: 'TooManyTrafficWatches', message: 'too many' } : undefined;
    const limited = { ...scene, sources: { ...scene.sources, limits: { isBeyond, problemOf } } };
    await reconcile(limited, 'shop/older');
    expect(scene.api.calls.map(({ verb, what }) => `${verb} ${what}`)).toEqual(['patch TrafficWatch/status']);
    expect(condition(scene, 'Stalled')).toMatchObject({ reason: 'TooManyTrafficWatches', message: 'too many' });
    const metrics = await scene.registry.metrics();
    expect(metrics).not.toContain('trafficwatch="older"');
    expect(metrics).toContain('trafficwatch_ready{namespace="shop",trafficwatch="(TooManyTrafficWatches)"} 0');
    await reconcile(limited, 'shop/web');
    expect(condition(scene, 'Stalled')?.status).toBe('False');
  });

  it('keeps its label key if it may have labels on nodes: no other one writes there', async () => {
    const scene = aScene();
    const older = { name: 'older', namespace: 'shop', uid: 'uid-older', creationTimestamp: new Date(0) };
    scene.watches.set({ ...aWatch({ label: 'web' }), metadata: { ...older, finalizers: [FINALIZER] } });
    const limits = { isBeyond: (key: string) => key === 'shop/older', problemOf: () => undefined };
    await reconcile({ ...scene, sources: { ...scene.sources, limits } }, 'shop/web');
    expect(condition(scene, 'Stalled')).toMatchObject({ status: 'True', reason: 'LabelKeyTaken' });
  });
});

describe('a TrafficWatch without a spec', () => {
  it('is InvalidSpec and does not affect other TrafficWatches', async () => {
    const scene = aScene();
    const bare = { metadata: { name: 'bare', namespace: 'shop', uid: 'uid-bare', generation: 1 } };
    scene.watches.set(bare as ReturnType<typeof aWatch>);
    await reconcile(scene, 'shop/bare');
    expect(writesOf(scene)).toEqual(['patch TrafficWatch/status']);
    expect(condition(scene, 'Stalled')).toMatchObject({ status: 'True', reason: 'InvalidSpec' });
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene)).toContain('apply Deployment');
  });

  it('does not claim the default label key of its name', async () => {
    const scene = aScene();
    const labelKey = 'web.traffic.example.com/unfit';
    scene.watches.set(aWatch({ status: { labelKey } }));
    const older = { name: 'web', namespace: 'other', uid: 'uid-bare', creationTimestamp: new Date(0) };
    scene.watches.set({ metadata: older, status: { ready: true, nodes: {} } } as ReturnType<typeof aWatch>);
    await reconcile(scene, 'shop/web');
    expect(condition(scene, 'Stalled')?.status).toBe('False');
  });
});
