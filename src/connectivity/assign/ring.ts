/** A node in a ring of nodes that probe each other. */
export interface RingNode {
  readonly name: string;
  readonly zone?: string | undefined;
}

/**
 * The order of nodes in their ring: by zone, then by name. The nodes of a zone are neighbours, so that the offsets 1 and
 * n-1 stay in the zone, and larger ones leave it. Nodes without a zone form one.
 */
export function ringOf(nodes: readonly RingNode[]): string[] {
  const keyed = nodes.map(({ name, zone = '' }) => ({ name, zone }));
  keyed.sort((a, b) => compare(a.zone, b.zone) || compare(a.name, b.name));
  return keyed.map(({ name }) => name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
