import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../client/resource.ts';
import { Store } from './store.ts';
import type { InformerEvent } from './store.ts';

interface Thing extends KubeObject {
  colours?: string[];
}

const thing = (name: string, version: number, ...colours: string[]): Thing => ({
  metadata: { name, resourceVersion: String(version) },
  colours,
});
const byColour = (): Store<Thing> => new Store<Thing>({ colour: ({ colours }) => colours ?? [] });
const told = (event: InformerEvent<Thing> | undefined): string =>
  event === undefined ? 'nothing' : `${event.type} ${event.object.metadata?.name ?? ''}`;

it('returns each change', () => {
  const store = new Store<Thing>();
  const first = thing('a', 1);

  expect(store.set(first)).toEqual({ type: 'add', object: first });
  expect(store.set(thing('a', 2))).toEqual({ type: 'update', object: thing('a', 2), old: first });
  expect(store.delete(thing('a', 3))).toEqual({ type: 'delete', object: thing('a', 3) });
  expect(store.delete(thing('a', 3))).toBeUndefined();
});

describe('replace', () => {
  it('returns added, changed and removed objects, but not unchanged ones', () => {
    const store = new Store<Thing>();
    for (const name of ['same', 'changes', 'goes']) store.set(thing(name, 1));

    const events = store.replace([thing('same', 1), thing('changes', 2), thing('comes', 2)]);

    expect(events.map(told)).toEqual(['update changes', 'add comes', 'delete goes']);
    expect(store.list().map(({ metadata }) => metadata?.name)).toEqual(['same', 'changes', 'comes']);
  });

  it('has the same effect as single set and delete calls', () => {
    const names = fc.uniqueArray(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), version: fc.nat(3) }), {
      selector: ({ name }) => name,
    });
    fc.assert(
      fc.property(names, names, (before, after) => {
        const store = byColour();
        for (const { name, version } of before) store.set(thing(name, version, `v${version}`));

        const events = store.replace(after.map(({ name, version }) => thing(name, version, `v${version}`)));

        const versions = (list: readonly { name: string; version: number }[]): unknown =>
          Object.fromEntries(list.map((one) => [one.name, one.version]));
        const kept = store
          .list()
          .map(({ metadata }) => ({ name: metadata!.name!, version: Number(metadata!.resourceVersion) }));
        expect(versions(kept)).toEqual(versions(after));
        const deleted = before.filter(({ name }) => !after.some((other) => other.name === name));
        expect(events.filter(({ type }) => type === 'delete')).toHaveLength(deleted.length);
        for (const { version } of after) {
          expect(store.byIndex('colour', `v${version}`)).toHaveLength(
            after.filter((o) => o.version === version).length,
          );
        }
      }),
    );
  });
});

describe('an index', () => {
  it('is updated when the values of an object change and when it is deleted', () => {
    const store = byColour();
    store.set(thing('a', 1, 'red', 'blue'));
    store.set(thing('b', 1, 'red'));
    const names = (colour: string): unknown => store.byIndex('colour', colour).map(({ metadata }) => metadata?.name);
    expect([names('red'), names('blue'), names('green')]).toEqual([['a', 'b'], ['a'], []]);

    store.set(thing('a', 2, 'green'));
    expect([names('red'), names('blue'), names('green')]).toEqual([['b'], [], ['a']]);
    store.delete(thing('a', 3));

    expect(names('green')).toEqual([]);
  });

  it('that was not declared throws', () => {
    expect(() => byColour().byIndex('size', 'big')).toThrow(/size/);
  });

  it('whose function throws omits the object, which stays in the cache', () => {
    const store = new Store<Thing>({ colour: ({ colours }) => colours!.map((colour) => colour) });

    store.set({ metadata: { name: 'plain' } });

    expect(store.get('plain')).toBeDefined();
  });
});

it('returns the same list until a change', () => {
  const store = new Store<Thing>();
  store.set(thing('a', 1));
  const list = store.list();
  expect(store.list()).toBe(list);

  store.set(thing('b', 1));

  expect(store.list()).toHaveLength(2);
  expect(list).toHaveLength(1);
});
