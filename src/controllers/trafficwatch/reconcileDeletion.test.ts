import { describe, expect, it, vi } from 'vitest';
import { IncompleteError } from '../../runtime/client/errors.ts';
import { findCondition } from '../../runtime/controller/conditions.ts';
import { refusal, type Call } from '../../runtime/testing/fakeApi/fakeApi.ts';
import { refuseOn } from '../../runtime/testing/fakeApi/overrides.ts';
import { reconcile } from './reconcile.ts';
import { NOW } from './testing/observations.ts';
import { aScene, followWatches, writesOf, type Scene } from './testing/scene.ts';

const failing = (what: string, error: (call: Call) => Error) => (call: Call) =>
  call.verb !== 'get' && call.what === what ? error(call) : undefined;

describe('a TrafficWatch that is being deleted', () => {
  const OTHERS = 'example.com/backup';
  const deletion = async (...others: string[]) => {
    const scene = aScene();
    followWatches(scene);
    await reconcile(scene, 'shop/web');
    const { metadata, ...live } = scene.watches.get('shop/web')!;
    const finalizers = [...(metadata?.finalizers ?? []), ...others];
    scene.watches.set({ ...live, metadata: { ...metadata, deletionTimestamp: new Date(NOW), finalizers } });
    scene.api.calls.length = 0;
    scene.told.length = 0;
    return scene;
  };
  const ready = (scene: Scene) => {
    const { ready: isReady, conditions } = scene.watches.get('shop/web')?.status ?? {};
    return [isReady, findCondition(conditions, 'Ready')];
  };
  const statusWrites = (scene: Scene) => writesOf(scene).filter((write) => write === 'patch TrafficWatch/status');
  const isTerminating = (message: string): unknown[] => [
    false,
    expect.objectContaining({
      ...{ status: 'False', reason: 'Terminating' },
      message: expect.stringMatching(message) as unknown,
    }),
  ];

  it('is not Ready while a finalizer of another controller is left: written once, without an event', async () => {
    const scene = await deletion(OTHERS);
    for (let n = 0; n < 3; n++) await reconcile(scene, 'shop/web');
    expect(writesOf(scene)).toEqual(['patch Node', 'patch Node', 'patch TrafficWatch', 'patch TrafficWatch/status']);
    expect(ready(scene)).toEqual(isTerminating(`waiting for finalizer ${OTHERS}$`));
    expect(scene.told).toEqual([]);
    expect(await scene.registry.metrics()).toMatch(/trafficwatch_ready\{[^}]*"web"\} 0/);
  });

  it('gets no status if it is gone after the writes', async () => {
    const scene = await deletion();
    await reconcile(scene, 'shop/web');
    expect(writesOf(scene)).toEqual(['patch Node', 'patch Node', 'patch TrafficWatch']);
    expect(scene.watches.get('shop/web')).toBeUndefined();
  });

  it('says which label cannot be removed, once', async () => {
    const scene = await deletion();
    refuseOn(
      scene.api,
      failing('Node', (call) => refusal(call, 403, 'Forbidden', `no right for ${call.name}`)),
    );
    for (let n = 0; n < 3; n++) await expect(reconcile(scene, 'shop/web')).rejects.toThrow(IncompleteError);
    expect(ready(scene)).toEqual(isTerminating('removed from the nodes; labelling node n1: no right for n1$'));
    expect(statusWrites(scene)).toHaveLength(1);
  });

  it('is not Ready while its labels are removed, and is gone in the same reconcile', async () => {
    const scene = await deletion();
    let proceed = (): void => undefined;
    const slow = new Promise<undefined>((resolve) => (proceed = () => resolve(undefined)));
    const isSlow = ({ what, name }: Call): boolean => what === 'Node' && name === 'n2';
    scene.api.intercept = (call) => (isSlow(call) ? slow : undefined);
    const done = reconcile(scene, 'shop/web');
    await vi.waitFor(() => expect(scene.api.calls.filter(isSlow)).toHaveLength(1));
    await scene.clock.advance(20_000);
    await vi.waitFor(() => expect(ready(scene)).toEqual(isTerminating('its labels are removed from the nodes$')));
    proceed();
    await done;
    expect(statusWrites(scene)).toHaveLength(1);
    expect(scene.watches.get('shop/web')).toBeUndefined();
  });

  it('is gone also if its status cannot be written', async () => {
    const scene = await deletion();
    refuseOn(
      scene.api,
      failing('TrafficWatch/status', (call) => refusal(call, 403, 'Forbidden')),
    );
    await reconcile(scene, 'shop/web');
    expect(scene.watches.get('shop/web')).toBeUndefined();
  });
});
