import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { Pair } from '../pairs/pair.ts';

/**
 * What a fault affects, on one plane.
 *
 * | kind | names | pairs |
 * |---|---|---|
 * | Cluster | none | all |
 * | Zone | zone | from or to the zone, within it none |
 * | Zones | two zones | between both |
 * | Node | node | from or to the node |
 * | NodeIn, NodeOut | node | to the node; from the node |
 * | Link | two nodes | between both |
 */
export interface Scope {
  readonly kind: 'Cluster' | 'Zone' | 'Zones' | 'Node' | 'NodeIn' | 'NodeOut' | 'Link';
  readonly plane: Plane;
  /** Sorted. */
  readonly names: readonly string[];
}

/** A scope, with all pairs in it. */
export interface Group {
  readonly key: string;
  readonly scope: Scope;
  readonly pairs: readonly Pair[];
}

/** Zones by node. A node without a label has none. */
export type Zones = ReadonlyMap<string, string>;

/** All scopes but links that have pairs. */
export function groupsOf(pairs: readonly Pair[], zones: Zones): ReadonlyMap<string, Group> {
  // With two zones, a zone and the pair of zones are the same.
  const several = new Set(zones.values()).size > 2;
  const groups = new Map<string, Group & { readonly pairs: Pair[] }>();
  for (const pair of pairs) {
    for (const scope of scopesOf(pair, zones, several)) {
      const key = keyOf(scope);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { key, scope, pairs: [pair] });
      else group.pairs.push(pair);
    }
  }
  return groups;
}

/** The scopes that contain the pair, the most specific first. */
export function scopesOf({ from, to, plane }: Pair, zones: Zones, severalZones: boolean): Scope[] {
  const scopes: Scope[] = [
    { kind: 'Node', plane, names: [from] },
    { kind: 'Node', plane, names: [to] },
    { kind: 'NodeIn', plane, names: [to] },
    { kind: 'NodeOut', plane, names: [from] },
  ];
  const [a, b] = [zones.get(from), zones.get(to)];
  if (a !== undefined && b !== undefined && a !== b) {
    scopes.push({ kind: 'Zones', plane, names: [a, b].sort() });
    if (severalZones) scopes.push({ kind: 'Zone', plane, names: [a] }, { kind: 'Zone', plane, names: [b] });
  }
  scopes.push({ kind: 'Cluster', plane, names: [] });
  return scopes;
}

export function keyOf({ kind, plane, names }: Scope): string {
  return `${kind}/${plane}/${names.join('/')}`;
}

export function linkOf({ from, to, plane }: Pair): Scope {
  return { kind: 'Link', plane, names: [from, to].sort() };
}
