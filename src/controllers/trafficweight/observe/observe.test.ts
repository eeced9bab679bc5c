import { expect, it } from 'vitest';
import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import { createOverlay } from '../../../runtime/cache/overlay.ts';
import { Store } from '../../../runtime/cache/store.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { INGRESSES, NAMESPACES } from '../../../runtime/client/resources.ts';
import { createLogger } from '../../../runtime/process/logger.ts';
import { FakeApi } from '../../../runtime/testing/fakeApi/fakeApi.ts';
import { watchesOf } from '../../../runtime/testing/fakeApi/watches.ts';
import type { ControllerContext } from '../../contract/context.ts';
import { BodyBudget } from '../../../runtime/cache/bodyBudget.ts';
import { identityOfGateway, toCachedGateway, toCachedListenerSet, toCachedRoute } from './cachedObjects.ts';
import { createCaches } from './caches.ts';
import { observe, type Observed } from './observe.ts';

it('leaves a route out whose Gateway is too large for the cache, and not one whose Gateway is missing', () => {
  const parentRefs = [{ name: 'public' }];
  const route = (namespace: string) =>
    toCachedRoute({
      metadata: { namespace, name: 'web' },
      spec: { parentRefs, hostnames: ['a.example.org'] },
    } as never);
  const large = toCachedGateway({ metadata: { namespace: 'fat', name: 'public' } });
  const asked = [{ kind: 'ListenerSet', name: 'set' }];
  const ofSet = toCachedRoute({ metadata: { namespace: 'sets', name: 'web' }, spec: { parentRefs: asked } } as never);
  const parentRef = { namespace: 'fat', name: 'public' };
  const set = toCachedListenerSet({ metadata: { namespace: 'sets', name: 'set' }, spec: { parentRef } } as never);
  const gateways = new Store<typeof large>();
  gateways.set(new BodyBudget(0).keep(large, identityOfGateway));
  const list = <T>(...objects: T[]) => ({ lister: { list: () => objects, get: () => undefined } });
  const { candidates } = observe(
    { metadata: { name: 'main' } } as TrafficWeight,
    {
      caches: {
        ingresses: list(),
        gatewayApi: {
          ...{ routes: list(route('fat'), route('gone'), ofSet), gateways: { lister: gateways } },
          listenerSets: { lister: { get: (key: string) => (key === 'sets/set' ? set : undefined) } },
        },
      },
      weights: new Store<TrafficWeight>(),
      endpoints: { get: () => undefined, byIndex: () => [] },
      clock: { now: () => 0 },
    } as unknown as Observed,
  );
  expect(candidates.map(({ source, isBeyond }) => [source.namespace, isBeyond])).toEqual([
    ['fat', true],
    ['gone', false],
    ['sets', true],
  ]);
});

it('leaves a route of a ListenerSet open, and says why, while the right to ListenerSets is missing', () => {
  const route = (name: string, kind: string) =>
    toCachedRoute({ metadata: { namespace: 'shop', name }, spec: { parentRefs: [{ kind, name: 'public' }] } } as never);
  const lister = (...objects: object[]) => ({ list: () => objects, get: () => objects[0] });
  const spec = { parentRef: { name: 'public' } };
  const set = toCachedListenerSet({ metadata: { namespace: 'shop', name: 'public' }, spec } as never);
  const gateway = toCachedGateway({ metadata: { namespace: 'shop', name: 'public' } });
  const refusal = new ApiError({ status: 403, reason: 'Forbidden', detail: 'no right', method: 'GET', path: '/x' });
  const { candidates } = observe(
    { metadata: { name: 'main' } } as TrafficWeight,
    {
      caches: {
        ingresses: { lister: lister() },
        namespaces: { lister: lister({ metadata: { name: 'shop' } }) },
        gatewayApi: {
          routes: { lister: lister(route('own', 'Gateway'), route('web', 'ListenerSet')) },
          gateways: { lister: lister(gateway) },
          // As it was when the right was taken away.
          listenerSets: { lister: lister(set), refusal },
        },
      },
      weights: new Store<TrafficWeight>(),
      endpoints: { get: () => undefined, byIndex: () => [] },
      clock: { now: () => 0 },
    } as unknown as Observed,
  );
  expect(candidates.map(({ open }) => open?.why)).toEqual([
    'Gateway shop/public has neither accepted nor refused it',
    'ListenerSet shop/public cannot be read: no right; give the ServiceAccount the right to list and watch listenersets',
  ]);
});

it('does not know the labels of a namespace that has more than 64 KiB of them, and keeps no annotations', async () => {
  const large = { note: 'x'.repeat(100_000) };
  const api = new FakeApi(
    { kind: 'Namespace', metadata: { name: 'small', labels: { team: 'a' }, annotations: large } },
    { kind: 'Namespace', metadata: { name: 'fat', labels: { team: 'a', ...large } } },
    { kind: 'Ingress', metadata: { namespace: 'small', name: 'web' } },
    { kind: 'Ingress', metadata: { namespace: 'fat', name: 'web' } },
  );
  const context = {
    transport: watchesOf(api, [NAMESPACES, INGRESSES]),
    logger: createLogger('silent'),
    metrics: {},
  } as unknown as ControllerContext;
  const caches = createCaches(context, { withNamespaces: true, withRoutes: false });
  const stop = new AbortController();
  const informers = [caches.namespaces!, caches.ingresses];
  const running = informers.map((informer) => informer.run(stop.signal));
  await Promise.all(informers.map((informer) => informer.whenSynced()));

  const weight = { metadata: { name: 'main' } } as TrafficWeight;
  const endpoints = createOverlay(caches.endpoints);
  const { candidates } = observe(weight, {
    caches,
    weights: new Store<TrafficWeight>(),
    endpoints,
    clock: { now: () => 0 },
  });
  const labels = candidates.map(({ source, namespaceLabels }) => [source.namespace, namespaceLabels]);
  expect(labels).toEqual([
    ['small', { team: 'a' }],
    ['fat', undefined],
  ]);
  expect(JSON.stringify(caches.namespaces?.lister.list()).length).toBeLessThan(1_000);
  stop.abort();
  await Promise.all(running);
});
