import type { KnownNode } from '../../../nodes/nodeNames.ts';
import type { NodeRestriction } from '../queries.ts';

/** Upper limit of the nodes of one query, because it lists the name of each. */
export const MOST_NODES = 500;

/** Selects the series of these nodes. */
export function restrictionTo(names: readonly string[], nodes: ReadonlyMap<string, KnownNode>): NodeRestriction {
  const hosts = names.flatMap((name) => [name, ...(nodes.get(name)?.addresses ?? [])]);
  return { names, hosts: [...new Set(hosts)] };
}
