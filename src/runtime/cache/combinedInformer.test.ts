import { expect, it } from 'vitest';
import { ApiError } from '../client/errors.ts';
import { keyOf, type KubeObject } from '../client/resource.ts';
import { SERVICES } from '../client/resources.ts';
import { combineInformers } from './combinedInformer.ts';
import type { Informer, InformerEvent } from './informer.ts';

const object = (name: string): KubeObject => ({ metadata: { namespace: 'op', name } });

/** An informer that has these objects. */
function informer(name: string, over: Partial<Informer<KubeObject>> = {}) {
  const listeners = new Set<(event: InformerEvent<KubeObject>) => void>();
  const all = [object(name)];
  const lister = {
    get: (key: string) => all.find((each) => keyOf(each) === key),
    list: () => all,
    byIndex: (_: string, value: string) => (value === name ? all : []),
  };
  const done = () => Promise.resolve();
  return {
    ...{ resource: SERVICES, lister, synced: true, refusal: undefined, run: done },
    ...{ whenSynced: done, whenSyncedOrRefused: done },
    subscribe(listener: (event: InformerEvent<KubeObject>) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell: () => listeners.forEach((listener) => listener({ type: 'add', object: object(name) })),
    ...over,
  };
}

it('has the objects of all, and tells their changes', () => {
  const [a, b] = [informer('a'), informer('b')];
  const both = combineInformers<KubeObject>(SERVICES, [a, b]);
  expect(both.lister.list().map(({ metadata }) => metadata?.name)).toEqual(['a', 'b']);
  expect(both.lister.get('op/b')).toEqual(object('b'));
  expect(both.lister.get('op/c')).toBeUndefined();
  expect(both.lister.byIndex('name', 'b')).toEqual([object('b')]);
  const told: (string | undefined)[] = [];
  const end = both.subscribe((event) => told.push(event.object.metadata?.name));
  a.tell();
  b.tell();
  end();
  b.tell();
  expect(told).toEqual(['a', 'b']);
});

it('is synced when all are, and refused when one is', () => {
  const refusal = new ApiError({ method: 'GET', path: '/', status: 403, reason: 'Forbidden' });
  const of = (...all: ReturnType<typeof informer>[]) => combineInformers<KubeObject>(SERVICES, all);
  expect(of(informer('a'), informer('b')).synced).toBe(true);
  expect(of(informer('a'), informer('b', { synced: false })).synced).toBe(false);
  expect(of(informer('a'), informer('b')).refusal).toBeUndefined();
  expect(of(informer('a'), informer('b', { refusal })).refusal).toBe(refusal);
});
