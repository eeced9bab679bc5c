import { describe, expect, it } from 'vitest';
import type { TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { Gateway, HttpRoute, ListenerSet } from '../../../weights/gateway/gatewayApi.ts';
import { gateway, OPEN, route, TAKEN } from '../testing/world.ts';
import { toCachedGateway, toCachedListenerSet, toCachedRoute } from './cachedObjects.ts';
import { observe, type Observed } from './observe.ts';

/** Each route has all ListenerSets as parents. */
interface Size {
  readonly routes: number;
  readonly sets: number;
  readonly listeners: number;
}

const numbered = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const keyOf = ({ metadata }: KubeObject): string => `${metadata?.namespace}/${metadata?.name}`;
const lister = (objects: readonly KubeObject[]) => {
  const byKey = new Map(objects.map((one) => [keyOf(one), one]));
  return { lister: { list: () => objects, get: (key: string) => byKey.get(key) } };
};

const listenerSet = (n: number, count: number): ListenerSet => ({
  metadata: { namespace: 'team-a', name: `set${n}`, creationTimestamp: '2020-01-01T00:00:00Z' as unknown as Date },
  spec: {
    parentRef: { namespace: 'infra', name: 'public' },
    listeners: numbered(count, (l) => ({ ...OPEN, name: `l${l}`, hostname: `l${l}.set${n}.example.org` })),
  },
});

/** A route that all ListenerSets have accepted. */
function routeTo(sets: number, over: NonNullable<Parameters<typeof route>[1]>, sectionName?: string): HttpRoute {
  const parent = { kind: 'ListenerSet', namespace: 'team-a', ...(sectionName !== undefined && { sectionName }) };
  const made = route('team-a', { ...over, asked: numbered(sets, (n) => ({ ...parent, name: `set${n}` })) });
  const parents = made.spec?.parentRefs?.map((parentRef) => ({ parentRef, conditions: TAKEN })) ?? [];
  return { ...made, status: { parents } };
}

/** Observes a cluster. @returns the candidates, and how often a field of a listener was read */
function observed(routes: readonly HttpRoute[], { sets, listeners }: Pick<Size, 'sets' | 'listeners'>) {
  let reads = 0;
  const counting = <T extends object>(listener: T): T =>
    new Proxy(listener, {
      get(target, field) {
        reads += 1;
        return Reflect.get(target, field) as unknown;
      },
    });
  const cachedSets = numbered(sets, (n) => toCachedListenerSet(listenerSet(n, listeners))).map((each) => ({
    ...each,
    set: { ...each.set, listeners: each.set.listeners.map(counting) },
  }));
  const open = gateway('public', { listeners: [] });
  const infra: Gateway = { ...open, spec: { ...open.spec, allowedListeners: { namespaces: { from: 'All' } } } };
  const { candidates } = observe(
    { metadata: { name: 'main' } } as TrafficWeight,
    {
      caches: {
        ingresses: lister([]),
        namespaces: { lister: { get: (name: string) => ({ metadata: { name } }) } },
        gatewayApi: {
          routes: lister(routes.map(toCachedRoute)),
          gateways: lister([toCachedGateway(infra)]),
          listenerSets: lister(cachedSets),
        },
      },
      clock: { now: () => 0 },
      weights: { list: () => [] },
      endpoints: { get: () => undefined, byIndex: () => [] },
    } as unknown as Observed,
  );
  return { candidates, reads };
}

describe('many routes with many ListenerSets', () => {
  it.each([
    ['all listeners', ['l1.set1.example.org'], undefined],
    ['listeners by their names', ['l1.set1.example.org'], 'l1'],
    ['all listeners, and a wildcard', ['*.set1.example.org'], undefined],
  ])('read each listener once, not once for each route: %s', (_, hostnames, sectionName) => {
    const readsOf = ({ routes, ...of }: Size): number =>
      observed(
        numbered(routes, (n) => routeTo(of.sets, { name: `r${n}`, hostnames }, sectionName)),
        of,
      ).reads;
    const size = { routes: 4, sets: 4, listeners: 8 };
    const reads = readsOf(size);
    const perRoute = sectionName === undefined ? 0 : (readsOf({ ...size, routes: 5 }) - reads) / size.sets;
    // With its name, a route reads the one listener that it names of each ListenerSet.
    expect(perRoute).toBeLessThanOrEqual(2);
    expect(readsOf({ ...size, routes: 40 })).toBe(reads + perRoute * size.sets * 36);
    expect(readsOf({ ...size, listeners: 80 })).toBeLessThanOrEqual(10 * reads);
  });

  it('leave out the youngest routes of a namespace that would take too many hosts from listeners', () => {
    const size = { sets: 10, listeners: 100 };
    // With its Service, a route takes 2,000 of 50,000 names.
    const old = numbered(20, (n) => routeTo(size.sets, { name: `old${n}`, age: 1, hostnames: [] }));
    const young = numbered(20, (n) => routeTo(size.sets, { name: `young${n}`, age: 2, hostnames: ['*.example.org'] }));
    const named = routeTo(size.sets, { name: 'named', age: 3, hostnames: ['l1.set1.example.org'] });
    const { candidates } = observed([...young, named, ...old], size);
    const found = (is: boolean, name: string) =>
      candidates.filter(({ source, isBeyond }) => isBeyond === is && source.name.startsWith(name)).length;
    expect([found(false, 'old'), found(false, 'young'), found(true, 'young'), found(false, 'named')]).toEqual([
      20, 5, 15, 1,
    ]);
    expect(candidates.filter(({ isBeyond }) => isBeyond).flatMap(({ source }) => source.hosts)).toEqual([]);
  });
});
