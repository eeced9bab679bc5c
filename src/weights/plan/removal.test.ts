import { expect, it } from 'vitest';
import { decideRemoval, NO_REMOVALS, UNKNOWN_REMOVALS, type HostNamespaces, type Removals } from './remaining.ts';

/** Hosts `<namespace><n>.example.org` for n below the count of each namespace. */
function hosts(counts: Readonly<Record<string, number>>): HostNamespaces {
  return new Map(
    Object.entries(counts).flatMap(([namespace, count]) =>
      Array.from({ length: count }, (_, n) => [`${namespace}${n}.example.org`, namespace] as const),
    ),
  );
}

/** The plans of a cluster: what is lost and not removed by a plan is also lost in the next. */
class Cluster {
  before: Removals = NO_REMOVALS;
  allowed: string | undefined;
  now = 0;
  readonly had: Map<string, string>;

  constructor(had: Readonly<Record<string, number>>) {
    this.had = new Map(hosts(had));
  }

  /** Plans and removes. @returns the number of hosts of each namespace that wait, and what waits */
  lose(counts: Readonly<Record<string, number>>) {
    const lost = new Map([...hosts(counts)].filter(([host]) => this.had.has(host)));
    const confirmation = { allowed: this.allowed, before: this.before, now: this.now };
    const { waits, removals } = decideRemoval(lost, () => new Map(this.had), confirmation);
    this.before = removals;
    for (const [host, namespace] of lost) if (waits?.namespaces.has(namespace) !== true) this.had.delete(host);
    return waits;
  }

  left(): Record<string, number> {
    const byNamespace = Map.groupBy(this.had.values(), (namespace) => namespace);
    return Object.fromEntries([...byNamespace].map(([namespace, all]) => [namespace, all.length]));
  }
}

it('the removals of one namespace neither need nor take the confirmation of another', () => {
  const cluster = new Cluster({ big: 60, small: 10, rest: 30 });
  const first = cluster.lose({ big: 60 });
  expect(first).toMatchObject({ of: 100, namespaces: new Map([['big', first!.confirm]]) });
  expect(first?.hosts).toHaveLength(60);
  // The other namespace is free, and does not change the value.
  expect(cluster.lose({ big: 60, small: 4 })).toEqual({ ...first });
  expect(cluster.left()).toEqual({ big: 60, small: 6, rest: 30 });
  cluster.allowed = first?.confirm;
  expect(cluster.lose({ big: 60, small: 4 })).toBeUndefined();
  expect(cluster.left()).toEqual({ small: 6, rest: 30 });
});

it('what is lost at the same moment waits together: one value for all, and one for each namespace', () => {
  const cluster = new Cluster({ a: 8, b: 2, c: 2 });
  const all = cluster.lose({ a: 8, b: 2, c: 2 });
  expect([all?.hosts.length, [...(all?.namespaces.keys() ?? [])]]).toEqual([12, ['a', 'b', 'c']]);
  const values = [...(all?.namespaces.values() ?? []), all?.confirm];
  expect(new Set(values).size).toBe(4);
  cluster.allowed = `${all?.namespaces.get('a')},${all?.namespaces.get('c')}`;
  expect([...(cluster.lose({ a: 8, b: 2, c: 2 })?.namespaces.keys() ?? [])]).toEqual(['b']);
  // The rest does not become free by becoming few.
  expect(cluster.left()).toEqual({ b: 2 });
  const [together] = [new Cluster({ a: 8, b: 2, c: 2 })];
  together.allowed = all?.confirm;
  expect(together.lose({ a: 8, b: 2, c: 2 })).toBeUndefined();
});

it('a namespace whose hosts change all the time does not take the value from another', () => {
  const cluster = new Cluster({ a: 8, b: 8 });
  const first = cluster.lose({ a: 8, b: 7 });
  const second = cluster.lose({ a: 8, b: 8 });
  expect(second?.confirm).not.toBe(first?.confirm);
  expect(second?.namespaces.get('a')).toBe(first?.namespaces.get('a'));
});

it('many small removals, one namespace after the other, wait from a quarter within an hour on', () => {
  const names = Array.from({ length: 20 }, (_, n) => `team-${n}-`);
  const cluster = new Cluster(Object.fromEntries(names.map((name) => [name, 10])));
  const lost: Record<string, number> = {};
  const waits = names.map((name) => {
    lost[name] = 2;
    cluster.now += 60_000;
    return cluster.lose(lost)?.namespaces.size ?? 0;
  });
  expect(waits.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 0));
  for (const name of names) lost[name] = 3;
  expect(cluster.lose(lost)?.namespaces.size).toBe(20);
  cluster.before = { ...cluster.before, waiting: new Set() };
  cluster.now += 3_600_000;
  expect(cluster.lose(lost)).toBeUndefined();
});

it('a namespace with very many hosts does not make the others few', () => {
  const few = { a: 3, b: 3, c: 3 };
  const cluster = new Cluster({ ...few, tenant: 4_000 });
  expect(cluster.lose(few)?.hosts).toHaveLength(9);
});

it('a removal that waits is not carried out by a restart, although less is left by then', () => {
  const cluster = new Cluster({ a: 20, b: 20, c: 20, d: 20, e: 20 });
  expect(cluster.lose({ a: 20 })).toBeUndefined();
  const waits = cluster.lose({ b: 20 });
  expect([...(waits?.namespaces.keys() ?? [])]).toEqual(['b']);
  cluster.before = UNKNOWN_REMOVALS;
  expect(cluster.lose({ b: 20 })).toEqual(waits);
  expect(cluster.lose({ b: 20 })).toEqual(waits);
  // Planned again: it no longer waits, and other removals are judged as ever.
  expect(cluster.lose({})).toBeUndefined();
  expect(cluster.lose({ c: 20 })).toBeUndefined();
  cluster.before = UNKNOWN_REMOVALS;
  cluster.allowed = waits?.confirm;
  expect(cluster.lose({ b: 20 })).toBeUndefined();
  expect(cluster.left()).toEqual({ d: 20, e: 20 });
});

it.each<[string, Record<string, number>, Record<string, number>, boolean]>([
  ['one namespace, however many hosts it has', { tenant: 4_000, a: 2, b: 2 }, { tenant: 4_000 }, false],
  ['one namespace of two', { tenant: 20, a: 2 }, { tenant: 20 }, false],
  ['two of eight', { a: 9, b: 9, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1 }, { a: 9, b: 9 }, false],
  ['two of seven', { a: 9, b: 9, c: 1, d: 1, e: 1, f: 1, g: 1 }, { a: 9, b: 9 }, true],
  ['the only one', { tenant: 4 }, { tenant: 4 }, true],
  ['all', { a: 8, b: 2, c: 2 }, { a: 8, b: 2, c: 2 }, true],
])('while the removal of %s waits, the weight of the others is held or not', (_, had, lost, held) => {
  const waits = new Cluster(had).lose(lost);
  expect([[...(waits?.namespaces.keys() ?? [])], waits?.holdsWeight]).toEqual([Object.keys(lost), held]);
});
