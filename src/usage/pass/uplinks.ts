import type { KnownNode, NodeResolver } from '../../nodes/nodeNames.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';
import type { Deadline } from '../../prometheus/deadline.ts';
import type { NodeRestriction, Scope } from './queries.ts';
import type { Answered, QueryRunner } from './queryRunner.ts';

/** Facts and rates of macvlan or veth devices, by node. */
export interface Uplinks {
  facts: Map<string, NodeSamples>;
  rates: ReadonlyMap<string, NodeSamples>;
}

/** Upper limit, because the query lists the name of each node. */
const MOST_NODES = 500;
const NONE: Uplinks = { facts: new Map(), rates: new Map() };

/**
 * Searches the macvlans and veths of nodes that have no other device that counts. If a node is a container, its only
 * uplink is one of these, and its name need not be eth0. The other queries exclude both kinds by name, because a node
 * has a veth for each pod.
 *
 * A node with one such device gets all samples of it. A node with several gets the counters of two, which is enough to
 * detect that they are ambiguous.
 *
 * @param missing names of these nodes; only the first 500 are searched
 */
export async function readUplinks(
  queries: QueryRunner,
  missing: readonly string[],
  nodes: ReadonlyMap<string, KnownNode>,
  resolver: NodeResolver,
  deadline: Deadline,
): Promise<Uplinks> {
  if (missing.length === 0) return NONE;
  const found = await queries.uplinks(resolver, deadline, restrictionTo(missing.slice(0, MOST_NODES), nodes));
  const scope = soleUplinks(found, nodes);
  if (scope === undefined) return { facts: found.decoded.nodes, rates: NONE.rates };
  const [facts, rates] = await Promise.all([
    queries.facts(resolver, deadline, scope),
    queries.rates(resolver, deadline, { scope }),
  ]);
  for (const [name, samples] of facts.decoded.nodes) found.decoded.nodes.set(name, samples);
  return { facts: found.decoded.nodes, rates: rates.decoded.nodes };
}

/** Selects the nodes that have exactly one device in the answer. */
function soleUplinks(found: Answered, nodes: ReadonlyMap<string, KnownNode>): Scope | undefined {
  const sole = [...found.decoded.nodes].filter(([, { devices }]) => devices.size === 1);
  if (sole.length === 0) return undefined;
  const devices = new Set(sole.flatMap(([, samples]) => [...samples.devices.keys()]));
  const names = sole.map(([name]) => name);
  return { kind: 'uplinks', nodes: restrictionTo(names, nodes), devices: [...devices].sort() };
}

function restrictionTo(names: readonly string[], nodes: ReadonlyMap<string, KnownNode>): NodeRestriction {
  const hosts = names.flatMap((name) => [name, ...(nodes.get(name)?.addresses ?? [])]);
  return { names, hosts: [...new Set(hosts)] };
}
