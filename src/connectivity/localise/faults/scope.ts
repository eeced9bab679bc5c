import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { Pair } from '../pairs/pair.ts';

/**
 * The part of the network that a fault affects, on one plane.
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

/**
 * The scopes, apart from links, that contain an affected pair, each with all of its pairs. In a large and healthy cluster
 * these are few; the others cannot be at fault.
 */
export function groupsOf(pairs: readonly Pair[], zones: Zones): readonly Group[] {
  // With two zones, a zone and the pair of zones are the same.
  const several = new Set(zones.values()).size > 2;
  const groups = new Map<string, OpenGroup>();
  for (const pair of pairs.filter(isAffected)) {
    for (const scope of scopesOf(pair, zones, several)) {
      const key = keyOf(scope);
      if (!groups.has(key)) groups.set(key, { key, scope, pairs: [] });
    }
  }
  if (groups.size === 0) return [];
  const add = adderTo([...groups.values()], zones);
  for (const pair of pairs) add(pair);
  return [...groups.values()];
}

type OpenGroup = Group & { readonly pairs: Pair[] };

/** Whether a pair is not Ok, or lost a datagram, even by chance. */
export function isAffected({ quality, lost }: Pair): boolean {
  return quality !== 'Ok' || lost > 0;
}

/** Adds pairs to their groups, without objects and keys for each pair: there may be 100,000. */
function adderTo(groups: readonly OpenGroup[], zones: Zones): (pair: Pair) => void {
  const named = (plane: Plane, kind: Scope['kind']) =>
    new Map(
      groups
        .filter(({ scope }) => scope.plane === plane && scope.kind === kind)
        .map((group) => [group.scope.names.join('/'), group]),
    );
  const index = (plane: Plane) => ({
    node: named(plane, 'Node'),
    nodeIn: named(plane, 'NodeIn'),
    nodeOut: named(plane, 'NodeOut'),
    zone: named(plane, 'Zone'),
    zones: named(plane, 'Zones'),
    cluster: named(plane, 'Cluster'),
  });
  const planes = { Pod: index('Pod'), Host: index('Host') };
  return (pair) => {
    const { from, to, plane } = pair;
    const { node, nodeIn, nodeOut, zone, zones: between, cluster } = planes[plane];
    node.get(from)?.pairs.push(pair);
    node.get(to)?.pairs.push(pair);
    nodeIn.get(to)?.pairs.push(pair);
    nodeOut.get(from)?.pairs.push(pair);
    cluster.get('')?.pairs.push(pair);
    const [a, b] = [zones.get(from), zones.get(to)];
    if (a === undefined || b === undefined || a === b) return;
    zone.get(a)?.pairs.push(pair);
    zone.get(b)?.pairs.push(pair);
    if (between.size > 0) between.get(a < b ? `${a}/${b}` : `${b}/${a}`)?.pairs.push(pair);
  };
}

/** The scopes that contain the pair, the most specific first. */
function scopesOf({ from, to, plane }: Pair, zones: Zones, severalZones: boolean): Scope[] {
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

/** The scopes between or of zones, among the groups, to which the nodes belong. */
export function zonesOf(groups: readonly Group[], nodes: readonly string[], zones: Zones, plane: Plane): Scope[] {
  const own = new Set(nodes.map((node) => zones.get(node)));
  if (nodes.length > 1 && own.size === 1) return [];
  return groups
    .map(({ scope }) => scope)
    .filter(({ kind, plane: at }) => at === plane && (kind === 'Zone' || kind === 'Zones'))
    .filter(({ kind, names }) =>
      // Both ends of a link are in the two zones.
      kind === 'Zones' && nodes.length > 1 ? names.every((zone) => own.has(zone)) : names.some((zone) => own.has(zone)),
    );
}

export function linkOf({ from, to, plane }: Pair): Scope {
  return { kind: 'Link', plane, names: [from, to].sort() };
}
