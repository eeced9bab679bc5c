import { expect, it } from 'vitest';
import { BodyBudget } from '../../runtime/cache/bodyBudget.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { KubeObject, Resource } from '../../runtime/client/resource.ts';
import { ENDPOINT_SLICES, INGRESSES } from '../../runtime/client/resources.ts';
import { GATEWAYS, HTTP_ROUTES, LISTENER_SETS } from '../../weights/gateway/gatewayApi.ts';
import { DNS_ENDPOINTS } from '../../weights/records/endpoint.ts';
import type { ReadySlice } from './observe/cachedObjects.ts';
import { problemOf, type Caches } from './observe/caches.ts';
import { hasNewLabels, needsReconcile, partsOf, servicesWithNews } from './run.ts';

const BEFORE: KubeObject = { metadata: { name: 'main', uid: 'u1', generation: 1, labels: { team: 'a' } } };
const after = (metadata: KubeObject['metadata'], rest: object = {}): KubeObject => ({
  metadata: { ...BEFORE.metadata, ...metadata },
  ...rest,
});

it.each([
  ['of the status', after({ resourceVersion: '2' }, { status: { hosts: 1 } }), false],
  ['of the spec', after({ generation: 2 }), true],
  ['to another object of that name', after({ uid: 'u2' }), true],
  ['to being deleted', after({ deletionTimestamp: new Date(0) }), true],
  ['to one whose body the cache has dropped', new BodyBudget(0).keep(BEFORE, (weight) => weight), true],
])('a change of a TrafficWeight %s needs a reconcile: %s', (_, object, wanted) => {
  expect(needsReconcile({ type: 'update', old: BEFORE, object })).toBe(wanted);
});

it('a TrafficWeight that is new or gone needs one', () => {
  expect(needsReconcile({ type: 'add', object: BEFORE })).toBe(true);
  expect(needsReconcile({ type: 'delete', object: BEFORE })).toBe(true);
});

it.each([
  ['annotations', after({ annotations: { a: 'b' } }), false],
  ['other labels', after({ labels: { team: 'b' } }), true],
  ['no labels now', { metadata: { name: 'main' } }, true],
])('a namespace with %s may be selected or not: %s', (_, object, wanted) => {
  expect(hasNewLabels({ type: 'update', old: BEFORE, object })).toBe(wanted);
});

const slice = (service: string | undefined, isReady: boolean): ReadySlice => ({ metadata: {}, service, isReady });

it.each([
  ['readiness', slice('shop/a', true), slice('shop/a', false), ['shop/a']],
  ['nothing', slice('shop/a', true), slice('shop/a', true), []],
  ['its Service', slice('shop/a', true), slice('shop/b', true), ['shop/b', 'shop/a']],
  ['to be of no Service', slice('shop/a', true), slice(undefined, true), ['shop/a']],
])('an EndpointSlice that changes %s', (_, old, object, wanted) => {
  expect(servicesWithNews({ type: 'update', old, object })).toEqual(wanted);
});

it('an EndpointSlice that is new or gone', () => {
  expect(servicesWithNews({ type: 'add', object: slice('shop/a', false) })).toEqual(['shop/a']);
  expect(servicesWithNews({ type: 'delete', object: slice('shop/a', true) })).toEqual(['shop/a']);
  expect(servicesWithNews({ type: 'add', object: slice(undefined, true) })).toEqual([]);
});

it.each<[string, Resource, number, boolean]>([
  ['a missing right to ListenerSets, as of an older version', LISTENER_SETS, 403, true],
  ['a cluster without ListenerSets', LISTENER_SETS, 404, true],
  ['a cluster without HTTPRoutes', HTTP_ROUTES, 404, true],
  ['a missing right to HTTPRoutes', HTTP_ROUTES, 403, false],
  ['a missing right to Ingresses', INGRESSES, 403, false],
])('the records are decided, and the process is ready, or neither, with %s', (_, refused, status, works) => {
  const refusal = new ApiError({ status, reason: '', detail: 'no', method: 'GET', path: '/x' });
  const cache = (resource: Resource) => ({
    resource,
    ...(resource === refused ? { synced: false, refusal } : { synced: true, refusal: undefined }),
  });
  const caches = {
    ...{ ingresses: cache(INGRESSES), slices: cache(ENDPOINT_SLICES), endpoints: cache(DNS_ENDPOINTS) },
    gatewayApi: { routes: cache(HTTP_ROUTES), gateways: cache(GATEWAYS), listenerSets: cache(LISTENER_SETS) },
  } as unknown as Caches;
  const unready = partsOf(caches).flatMap((part) => part.notReady?.() ?? []);
  expect([problemOf(caches) === undefined, unready.length === 0]).toEqual([works, works]);
});
