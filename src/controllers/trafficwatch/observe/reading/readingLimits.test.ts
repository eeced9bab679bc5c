import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_KEY } from '../../../../usage/evaluate/reading.ts';
import type { Entry } from '../oldest.ts';
import { ReadingLimits } from './readingLimits.ts';

const MOST = { perNamespace: 8, inCluster: 14 };

/** A TrafficWatch, and its needs. */
interface Wanted {
  readonly entry: Entry;
  readonly need: { readonly key: string; readonly passes: number };
}

const wanted = fc
  .record({
    namespace: fc.constantFrom('a', 'b', 'c'),
    name: fc.nat(5),
    age: fc.nat(9),
    key: fc.constantFrom(DEFAULT_KEY, 'x', 'y', 'z'),
    passes: fc.integer({ min: 2, max: 6 }),
  })
  .map(({ namespace, name, age, key, passes }): Wanted => {
    const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, age)).toISOString();
    const entry = { namespace, key: `${namespace}/${name}`, uid: `${namespace}-${name}-${age}`, creationTimestamp };
    return { entry, need: { key, passes } };
  });

const limitsOf = (all: Iterable<Wanted>): ReadingLimits => {
  const limits = new ReadingLimits(MOST);
  for (const { entry, need } of all) limits.set(entry.key, entry, () => need);
  return limits;
};

describe('ReadingLimits', () => {
  it('has after any changes what those that are left would give, and names all that change sides', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: wanted },
      { weight: 1, arbitrary: wanted.map(({ entry }) => entry.key) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const limits = limitsOf([]);
        const left = new Map<string, Wanted>();
        const shown = new Map<string, boolean>();
        for (const each of steps) {
          const key = typeof each === 'string' ? each : each.entry.key;
          if (typeof each === 'string') left.delete(key);
          else left.set(key, each);
          const { entry, need } = left.get(key) ?? {};
          const changed = limits.set(key, entry, () => need);
          for (const other of new Set([key, ...changed])) shown.set(other, limits.beyond(other) !== undefined);
        }
        const anew = limitsOf(left.values());
        for (const key of left.keys()) {
          const isBeyond = anew.beyond(key) !== undefined;
          expect([limits.beyond(key) !== undefined, shown.get(key)]).toEqual([isBeyond, isBeyond]);
        }
      }),
    );
  });
});
