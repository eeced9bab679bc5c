import { describe, expect, it } from 'vitest';
import { decideRemoval, NO_REMOVALS, UNKNOWN_REMOVALS, type NamespaceHosts, type Removals } from './removal.ts';

/** Hosts `<namespace><n>.example.org` for n below the count of each namespace. */
function hosts(counts: Readonly<Record<string, number>>): Map<string, Set<string>> {
  return new Map(
    Object.entries(counts).map(([namespace, count]) => [
      namespace,
      new Set(Array.from({ length: count }, (_, n) => `${namespace}${n}.example.org`)),
    ]),
  );
}

/** The plans of a cluster: what is lost and not removed by a plan is also lost in the next. */
class Cluster {
  before: Removals = NO_REMOVALS;
  allowed: string | undefined;
  now = 0;
  readonly had: Map<string, Set<string>>;

  constructor(had: Readonly<Record<string, number>>) {
    this.had = hosts(had);
  }

  /** Plans and removes the first hosts of namespaces. @returns what waits */
  lose(counts: Readonly<Record<string, number>>) {
    const lost = [...hosts(counts)].map(([name, all]) => {
      return [name, new Set([...all].filter((host) => this.had.get(name)?.has(host)))] as const;
    });
    return this.loseAll(new Map(lost.filter(([, all]) => all.size > 0)));
  }

  loseAll(lost: NamespaceHosts) {
    const confirmation = { allowed: this.allowed, before: this.before, now: this.now };
    const { waits, removals } = decideRemoval(lost, () => this.had, confirmation);
    this.before = removals;
    for (const [namespace, all] of lost) {
      const present = this.had.get(namespace) ?? new Set<string>();
      if (waits?.namespaces.has(namespace) !== true) for (const host of all) present.delete(host);
      if (present.size === 0) this.had.delete(namespace);
    }
    return waits;
  }

  left(): Record<string, number> {
    return Object.fromEntries([...this.had].map(([namespace, all]) => [namespace, all.size]));
  }
}

const namesIn = (waits: ReturnType<Cluster['lose']>): string[] => [...(waits?.namespaces.keys() ?? [])];
const confirmOf = (waits: ReturnType<Cluster['lose']>, namespace: string): string | undefined =>
  waits?.namespaces.get(namespace)?.confirm;

it('the removals of one namespace neither need nor take the confirmation of another', () => {
  const cluster = new Cluster({ big: 60, small: 10, rest: 30 });
  const first = cluster.lose({ big: 60 });
  expect(first).toMatchObject({ of: 100, namespaces: new Map([['big', { hosts: 60, confirm: first!.confirm }]]) });
  expect(first?.hosts).toHaveLength(60);
  // The other namespace is free, and does not change the value.
  expect(cluster.lose({ big: 60, small: 2 })).toEqual({ ...first });
  expect(cluster.left()).toEqual({ big: 60, small: 8, rest: 30 });
  cluster.allowed = first?.confirm;
  expect(cluster.lose({ big: 60, small: 2 })).toBeUndefined();
  expect(cluster.left()).toEqual({ small: 8, rest: 30 });
});

it('what is lost at the same moment waits together: one value for all, and one for each namespace', () => {
  const cluster = new Cluster({ a: 8, b: 2, c: 2 });
  const all = cluster.lose({ a: 8, b: 2, c: 2 });
  expect([all?.hosts.length, namesIn(all)]).toEqual([12, ['a', 'b', 'c']]);
  const values = [...['a', 'b', 'c'].map((name) => confirmOf(all, name)), all?.confirm];
  expect(new Set(values).size).toBe(4);
  cluster.allowed = `${confirmOf(all, 'a')},${confirmOf(all, 'c')}`;
  expect(namesIn(cluster.lose({ a: 8, b: 2, c: 2 }))).toEqual(['b']);
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
  expect(confirmOf(second, 'a')).toBe(confirmOf(first, 'a'));
});

it('many small removals of one namespace wait from a quarter within an hour on', () => {
  const cluster = new Cluster({ shop: 10, team: 100 });
  for (const count of [1, 2]) {
    cluster.now += 60_000;
    expect(cluster.lose({ shop: count })).toBeUndefined();
  }
  expect(cluster.lose({ shop: 3 })?.hosts).toEqual(['shop2.example.org']);
  cluster.before = { ...cluster.before, waiting: new Set() };
  cluster.now += 3_600_000;
  expect(cluster.lose({ shop: 3 })).toBeUndefined();
});

describe('the removal of a namespace is not decided by other namespaces', () => {
  it('that have lost hosts within the hour', () => {
    const cluster = new Cluster({ shop: 10, tenant: 1, other: 1 });
    expect(cluster.lose({ tenant: 1 })).toBeUndefined();
    expect(cluster.lose({ other: 1 })).toBeUndefined();
    expect(cluster.lose({ shop: 2 })).toBeUndefined();
    expect(cluster.left()).toEqual({ shop: 8 });
  });

  it('that take the same host out again and again, also at its moment', () => {
    const cluster = new Cluster({ shop: 1, tenant: 1, rest: 10 });
    expect(cluster.lose({ tenant: 1 })).toBeUndefined();
    cluster.had.set('tenant', new Set(['tenant0.example.org']));
    expect(cluster.lose({ tenant: 1, shop: 1 })).toBeUndefined();
  });

  it('that have very many hosts', () => {
    const few = { a: 3, b: 3, c: 3 };
    expect(new Cluster({ ...few, tenant: 4_000 }).lose(few)?.hosts).toHaveLength(9);
    expect(namesIn(new Cluster({ shop: 4, tenant: 4_000 }).lose({ shop: 2 }))).toEqual(['shop']);
  });

  it('that have lost very many hosts', () => {
    const cluster = new Cluster({ shop: 10, tenant: 40 });
    cluster.allowed = 'Any';
    cluster.lose({ tenant: 40 });
    cluster.allowed = undefined;
    expect(cluster.lose({ shop: 2 })).toBeUndefined();
  });

  it('whose DNSEndpoints have its hosts, too', () => {
    const cluster = new Cluster({ shop: 4, tenant: 1 });
    const shop = cluster.had.get('shop')!;
    cluster.had.set('tenant', new Set(shop));
    const two = new Set([...shop].slice(0, 2));
    expect(cluster.loseAll(new Map([['shop', two]]))).toMatchObject({ of: 4, hosts: [...two] });
    cluster.allowed = confirmOf(cluster.loseAll(new Map([['shop', two]])), 'shop');
    cluster.loseAll(new Map([['shop', two]]));
    // The confirmation of one namespace is none for the same hosts of another.
    expect(
      namesIn(
        cluster.loseAll(
          new Map([
            ['shop', two],
            ['tenant', two],
          ]),
        ),
      ),
    ).toEqual(['tenant']);
  });
});

it.each([
  ['each its only host: a mistake of the spec', { a: 1, b: 1, c: 1, d: 1, rest: 9 }, { a: 1, b: 1 }, ['a', 'b']],
  ['and few others do', { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1 }, { a: 1, b: 1 }, []],
  ['and one a few of many', { a: 1, b: 1, rest: 9 }, { a: 1, b: 1, rest: 1 }, ['a', 'b', 'rest']],
])('namespaces that lose at once %s', (_, had, lost, waits) => {
  expect(namesIn(new Cluster(had).lose(lost))).toEqual(waits);
});

it('a removal that waits is not carried out by a restart, although less is left by then', () => {
  const cluster = new Cluster({ a: 20, b: 20, c: 20, d: 20, e: 20 });
  const waits = cluster.lose({ b: 20 });
  expect(namesIn(waits)).toEqual(['b']);
  cluster.before = UNKNOWN_REMOVALS;
  expect(cluster.lose({ b: 20 })).toEqual(waits);
  expect(cluster.lose({ b: 20 })).toEqual(waits);
  // Planned again: it no longer waits, and other removals are judged as ever.
  expect(cluster.lose({})).toBeUndefined();
  expect(cluster.lose({ c: 1 })).toBeUndefined();
  cluster.before = UNKNOWN_REMOVALS;
  cluster.allowed = waits?.confirm;
  expect(cluster.lose({ b: 20 })).toBeUndefined();
  expect(cluster.left()).toEqual({ a: 20, c: 19, d: 20, e: 20 });
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
  expect([namesIn(waits), waits?.holdsWeight]).toEqual([Object.keys(lost), held]);
});
