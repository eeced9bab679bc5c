import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import { aWatch } from '../testing/observations.ts';
import { WatchLimits } from './watchLimits.ts';

const LIMITS = { perNamespace: 2, inCluster: 3 };

/** @param age minutes: the higher, the younger */
function watchOf(namespace: string, name: string, age: number): TrafficWatch {
  const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, age));
  return { ...aWatch(), metadata: { namespace, name, uid: `${namespace}-${name}-${age}`, creationTimestamp } };
}

function limitsOf(...watches: TrafficWatch[]): WatchLimits {
  const limits = new WatchLimits(LIMITS);
  watches.forEach((object) => limits.saw({ type: 'add', object }));
  return limits;
}

const [A1, A2, A3] = [watchOf('a', '1', 1), watchOf('a', '2', 2), watchOf('a', '3', 3)] as const;
const [B4, B5] = [watchOf('b', '4', 4), watchOf('b', '5', 5)] as const;

describe('WatchLimits', () => {
  it('has the oldest of a namespace within the limit, in whatever order they come', () => {
    expect([...limitsOf(A3, A2, A1).within].sort()).toEqual(['a/1', 'a/2']);
    expect([...limitsOf(A1, A2, A3).within].sort()).toEqual(['a/1', 'a/2']);
  });

  it('has the oldest of the cluster of those within the limits of their namespaces', () => {
    expect([...limitsOf(A1, A2, A3, B4, B5).within].sort()).toEqual(['a/1', 'a/2', 'b/4']);
  });

  it('tells which TrafficWatch a deletion lets in, and which an older one pushes out', () => {
    const limits = limitsOf(A2, A3);
    expect(limits.saw({ type: 'add', object: A1 })).toEqual({ entered: ['a/1'], left: ['a/3'] });
    expect(limits.saw({ type: 'delete', object: A2 })).toEqual({ entered: ['a/3'], left: ['a/2'] });
    expect(limits.saw({ type: 'delete', object: watchOf('a', 'unknown', 0) })).toEqual({ entered: [], left: [] });
  });

  it('knows that a TrafficWatch was made anew, and that another change of it is none', () => {
    const limits = limitsOf(A1, A2, A3);
    expect(limits.saw({ type: 'update', object: { ...A1, spec: aWatch().spec } })).toEqual({ entered: [], left: [] });
    expect(limits.saw({ type: 'update', object: watchOf('a', '1', 9) })).toEqual({ entered: ['a/3'], left: ['a/1'] });
  });

  it('says which limit a TrafficWatch is beyond, and what to do', () => {
    const limits = limitsOf(A1, A2, A3, B4, B5);
    expect(limits.problemOf(A3)).toBe(
      'namespace a has more than 2 TrafficWatches, and only its 2 oldest are decided: delete some, or raise --most-watches-per-namespace of the operator',
    );
    expect(limits.problemOf(B5)).toBe(
      'the cluster has more than 3 TrafficWatches, and only the 3 oldest are decided: delete some, or raise --most-watches of the operator',
    );
    expect([A1, B4, watchOf('c', 'unseen', 1)].map((watch) => limits.problemOf(watch))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('has after any changes what those that are left would give anew, and tells each change once', () => {
    const step = fc.record({
      namespace: fc.constantFrom('a', 'b', 'c'),
      name: fc.nat(4),
      age: fc.nat(9),
      gone: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const limits = limitsOf();
        const [left, told] = [new Map<string, TrafficWatch>(), new Set<string>()];
        for (const { namespace, name, age, gone } of steps) {
          const object = watchOf(namespace, String(name), age);
          const change = limits.saw({ type: gone ? 'delete' : 'add', object });
          if (gone) left.delete(keyOf(object));
          else left.set(keyOf(object), object);
          change.left.forEach((key) => expect(told.delete(key)).toBe(true));
          change.entered.forEach((key) => expect(told.has(key)).toBe(false));
          change.entered.forEach((key) => told.add(key));
        }
        const anew = [...limitsOf(...left.values()).within].sort();
        expect([[...limits.within].sort(), [...told].sort()]).toEqual([anew, anew]);
      }),
    );
  });
});
