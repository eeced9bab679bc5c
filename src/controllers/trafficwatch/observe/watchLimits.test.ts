import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TrafficWatch, TrafficWatchSpec } from '../../../api/trafficwatch/schema.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import { aWatch } from '../testing/observations.ts';
import { readingNeedOf } from './reading/readingOf.ts';
import { WatchLimits, type LimitChange } from './watchLimits.ts';

const READINGS = { perNamespace: 100, inCluster: 400 };
const LIMITS = { perNamespace: 2, inCluster: 3, readings: READINGS, heapBytes: 1e12 };

/** @param age minutes: the higher, the younger */
function watchOf(namespace: string, name: string, age: number): TrafficWatch {
  const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, age));
  return { ...aWatch(), metadata: { namespace, name, uid: `${namespace}-${name}-${age}`, creationTimestamp } };
}

function limitsOf(...watches: TrafficWatch[]): WatchLimits {
  const limits = new WatchLimits(LIMITS, () => undefined);
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

  it('knows that a TrafficWatch was created again, and that another change of it is none', () => {
    const limits = limitsOf(A1, A2, A3);
    expect(limits.saw({ type: 'update', object: { ...A1, spec: aWatch().spec } })).toEqual({ entered: [], left: [] });
    expect(limits.saw({ type: 'update', object: watchOf('a', '1', 9) })).toEqual({ entered: ['a/3'], left: ['a/1'] });
  });

  it('says which limit a TrafficWatch is beyond, and what to do', () => {
    const limits = limitsOf(A1, A2, A3, B4, B5);
    const messageOf = (watch: TrafficWatch): string | undefined => limits.problemOf(watch)?.message;
    expect(limits.problemOf(A3)?.reason).toBe('TooManyTrafficWatches');
    expect(messageOf(A3)).toBe(
      'namespace a has more than 2 TrafficWatches, and only its 2 oldest are decided: delete some, or raise --most-watches-per-namespace of the operator',
    );
    expect(messageOf(B5)).toBe(
      'the cluster has more than 3 TrafficWatches, and only the 3 oldest are decided: delete some, or raise --most-watches of the operator',
    );
    expect([A1, B4, watchOf('c', 'unseen', 1)].map((watch) => limits.problemOf(watch))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('has after any changes the result for the remaining ones, and sends each change once', () => {
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
        const fresh = [...limitsOf(...left.values()).within].sort();
        expect([[...limits.within].sort(), [...told].sort()]).toEqual([fresh, fresh]);
      }),
    );
  });
});

describe('the readings of TrafficWatches', () => {
  /** TrafficWatches as a cache has them. */
  class Cluster {
    readonly #watches = new Map<string, TrafficWatch>();
    readonly limits: WatchLimits;

    constructor(perNamespace: number, inCluster: number, { heapBytes = 1e12, watches = 200 } = {}) {
      const limits = { perNamespace: watches, inCluster: 2_000, readings: { perNamespace, inCluster }, heapBytes };
      this.limits = new WatchLimits(limits, (key) => {
        const watch = this.#watches.get(key);
        return watch && readingNeedOf(watch, () => undefined);
      });
    }

    /** @param name namespace/name; the later, the younger */
    set(name: string, age: number, spec: Partial<TrafficWatchSpec>): LimitChange {
      const [namespace = '', own = ''] = name.split('/');
      const watch = { ...watchOf(namespace, own, age), spec: { ...aWatch().spec, ...spec } };
      const type = this.#watches.has(name) ? 'update' : 'add';
      this.#watches.set(name, watch);
      return this.limits.saw({ type, object: watch });
    }

    delete(name: string): LimitChange {
      const object = this.#watches.get(name)!;
      this.#watches.delete(name);
      return this.limits.saw({ type: 'delete', object });
    }

    get beyond(): string[] {
      return [...this.#watches.keys()].filter((key) => this.limits.isBeyond(key));
    }

    problem(name: string) {
      return this.limits.problemOf(this.#watches.get(name)!);
    }
  }

  const without = (device: string, unfit?: number): Partial<TrafficWatchSpec> => ({
    devices: { exclude: device },
    ...(unfit !== undefined && { passes: { unfit } }),
  });

  it('count once for each pass that is kept, and the youngest of a namespace are beyond its limit', () => {
    const cluster = new Cluster(6, 100);
    cluster.set('a/young', 9, without('eth0'));
    cluster.set('a/30', 3, without('eth1', 4));
    cluster.set('b/other', 10, without('eth2', 6));
    expect(cluster.beyond).toEqual([]);
    expect(cluster.set('a/old', 1, without('eth3'))).toEqual({ entered: ['a/old'], left: ['a/young'] });
    expect(cluster.problem('a/young')).toEqual({
      reason: 'TooManyReadings',
      message:
        'this TrafficWatch needs 2 readings (its direction, measure, devices and capacity, once for each pass of spec.passes), and the older ones of namespace a leave fewer of 6: use the same direction, measure, devices and capacity in several TrafficWatches, lower spec.passes, or raise --most-readings-per-namespace and the memory of the operator',
    });
    expect(cluster.delete('a/30')).toEqual({ entered: ['a/young'], left: ['a/30'] });
  });

  it('keep out a TrafficWatch, whose key is given when an older one also moves it beyond the number of TrafficWatches', () => {
    const cluster = new Cluster(4, 100, { watches: 2 });
    cluster.set('a/2', 2, without('eth0', 4));
    cluster.set('a/3', 3, without('eth1'));
    expect(cluster.problem('a/3')?.reason).toBe('TooManyReadings');
    expect(cluster.set('a/1', 1, without('eth0'))).toEqual({ entered: ['a/1'], left: [], moved: ['a/3'] });
    expect(cluster.problem('a/3')?.reason).toBe('TooManyTrafficWatches');
  });

  it('that an older TrafficWatch has cost only further passes, and the default one those beyond two', () => {
    const cluster = new Cluster(6, 100);
    cluster.set('a/1', 1, without('eth0'));
    cluster.set('a/2', 2, without('eth0', 4));
    cluster.set('a/3', 3, without('eth0', 3));
    cluster.set('a/4', 4, { passes: { fit: 4 } });
    cluster.set('a/5', 5, { passes: { fit: 5 } });
    cluster.set('a/6', 6, {});
    expect(cluster.beyond).toEqual(['a/5']);
  });

  it('of one namespace have a limit even if others need none', () => {
    const cluster = new Cluster(6, 9);
    for (let n = 0; n < 20; n++) cluster.set(`a/${n}`, n, without(`eth${n}`, 3));
    expect(cluster.beyond).toHaveLength(18);
  });

  it('of the cluster are shared by its namespaces: an older one takes nothing from a younger one by an edit', () => {
    const cluster = new Cluster(20, 20);
    cluster.set('a/1', 1, {});
    cluster.set('a/2', 2, without('eth0'));
    cluster.set('b/1', 31, without('eth0', 4));
    cluster.set('b/2', 32, without('eth1', 6));
    expect(cluster.set('a/2', 2, without('eth0', 8))).toEqual({ entered: [], left: [] });
    expect(cluster.set('a/1', 1, without('eth2', 12))).toEqual({ entered: [], left: ['a/1'] });
    expect(cluster.problem('a/1')).toEqual({
      reason: 'TooManyReadings',
      message:
        'this TrafficWatch needs 12 readings (its direction, measure, devices and capacity, once for each pass of spec.passes), and namespace a has too little left of its share of the 20 readings of the cluster: use the same direction, measure, devices and capacity in several TrafficWatches, lower spec.passes, or raise --most-readings and the memory of the operator',
    });
    expect(cluster.delete('b/2')).toEqual({ entered: ['a/1'], left: ['b/2'] });
  });

  it('are looked at again when a spec changes', () => {
    const cluster = new Cluster(6, 100);
    cluster.set('a/1', 1, {});
    cluster.set('a/2', 2, without('eth0'));
    expect(cluster.set('a/1', 1, without('eth1', 6))).toEqual({ entered: [], left: ['a/2'] });
    expect(cluster.set('a/1', 1, without('eth1', 7))).toEqual({ entered: ['a/2'], left: ['a/1'] });
    expect(cluster.set('a/1', 1, {})).toEqual({ entered: ['a/1'], left: [] });
  });

  it('are as many as a quarter of the heap holds: fewer with more nodes, and a few in any case', () => {
    const cluster = new Cluster(50, 100, { heapBytes: 4 * 250 * 1_024 * 16 });
    for (let n = 0; n < 50; n++) cluster.set(`${n % 5}/${n}`, n, without(`eth${n}`));
    const within = (nodes: number): number => {
      cluster.limits.sawNodes(nodes);
      return 50 - cluster.beyond.length;
    };
    expect([1, 100, 1_000, 1_025, 1_000, 300, 100_000, 10].map(within)).toEqual([50, 50, 8, 4, 4, 16, 2, 50]);
  });
});
