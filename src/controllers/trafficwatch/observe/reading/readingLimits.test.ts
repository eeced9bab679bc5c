import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_KEY } from '../../../../usage/evaluate/reading.ts';
import type { Entry } from '../oldest.ts';
import { ReadingLimits, costOfAll, equalShare, fitting, sharedFairly, type Wanting } from './readingLimits.ts';

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
        const fresh = limitsOf(left.values());
        for (const key of left.keys()) {
          const isBeyond = fresh.beyond(key) !== undefined;
          expect([limits.beyond(key) !== undefined, shown.get(key)]).toEqual([isBeyond, isBeyond]);
        }
      }),
    );
  });
});

const NAMESPACES = ['a', 'b', 'c', 'd'];

/** The needs of a namespace, oldest first: ages differ, and all needs of one namespace may be older than the needs of another. */
const namespaceOf = (namespace: string) =>
  fc
    .record({
      oldest: fc.nat(30),
      needs: fc.array(
        fc.record({
          key: fc.constantFrom(DEFAULT_KEY, 'shared', 'x', 'y', 'z'),
          passes: fc.integer({ min: 2, max: 9 }),
        }),
        { minLength: 1, maxLength: 6 },
      ),
    })
    .map(({ oldest, needs }) =>
      needs.map(({ key, passes }, index): Wanting => {
        const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, oldest + index)).toISOString();
        const own = key === DEFAULT_KEY || key === 'shared' ? key : `${namespace} ${key}`;
        const id = `${namespace}/${index}`;
        return { namespace, key: id, uid: id, creationTimestamp, need: { key: own, passes } };
      }),
    );

const namespaces = fc.subarray(NAMESPACES, { minLength: 1 }).chain((names) => fc.tuple(...names.map(namespaceOf)));
const most = fc.integer({ min: 4, max: 60 });
const keysOf = (wanting: Iterable<Wanting>): string[] => Array.from(wanting, ({ key }) => key).sort();

describe('the readings of the cluster', () => {
  it('are shared: none refuses a namespace within an equal share, none is left that fits, and the limit holds', () => {
    const property = fc.property(namespaces, most, (all, limit) => {
      const within = sharedFairly(all, limit);
      const cost = costOfAll([...within]);
      expect(cost).toBeLessThanOrEqual(limit);
      for (const ofNamespace of all) {
        const isFair = (_: Wanting, index: number): boolean =>
          costOfAll(ofNamespace.slice(0, index + 1)) <= limit / all.length;
        expect(keysOf(within)).toEqual(expect.arrayContaining(keysOf(ofNamespace.filter(isFair))));
      }
      for (const refused of all.flat().filter((each) => !within.has(each))) {
        expect(costOfAll([...within, refused])).toBeGreaterThan(limit);
      }
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('leave a namespace its share whatever another namespace adds, however old that one is', () => {
    const property = fc.property(namespaces, most, namespaceOf('e'), (all, limit, added) => {
      const after = keysOf(sharedFairly([added, ...all], limit));
      const share = equalShare([added, ...all].map(costOfAll), limit);
      expect(share).toBeGreaterThanOrEqual(limit / (all.length + 1));
      for (const ofNamespace of all) {
        expect(after).toEqual(expect.arrayContaining(keysOf(fitting(ofNamespace, share))));
      }
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('are the same in whatever order the namespaces come', () => {
    const property = fc.property(namespaces, most, (all, limit) => {
      expect(keysOf(sharedFairly(all.toReversed(), limit))).toEqual(keysOf(sharedFairly(all, limit)));
    });
    fc.assert(property, { numRuns: 100 });
  });
});

it.each([
  { why: 'all fit', demands: [10, 20, 30], limit: 60, share: Infinity },
  { why: 'nobody needs any', demands: [], limit: 60, share: Infinity },
  { why: 'all need more', demands: [10, 20, 30], limit: 30, share: 10 },
  { why: 'a small namespace leaves the rest to others', demands: [50, 2, 50], limit: 22, share: 10 },
  { why: 'the largest has what the others leave', demands: [5, 5, 90], limit: 40, share: 30 },
])('the equal share of $demands in $limit is $share: $why', ({ demands, limit, share }) => {
  expect(equalShare(demands, limit)).toBe(share);
});
