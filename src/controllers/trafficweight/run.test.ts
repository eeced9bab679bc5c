import { expect, it } from 'vitest';
import { BodyBudget } from '../../runtime/cache/bodyBudget.ts';
import type { KubeObject } from '../../runtime/client/resource.ts';
import type { ReadySlice } from './observe/cachedObjects.ts';
import { hasNewLabels, needsReconcile, servicesWithNews } from './run.ts';

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
