import type { KnownNode, NodeResolver } from '../../nodes/nodeNames.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';
import type { Deadline } from '../../prometheus/deadline.ts';
import type { NodeRestriction, Scope } from './queries.ts';
import type { Answered, QueryRunner } from './queryRunner.ts';

/** SeriesDecoder of macvlan or veth devices, by node. */
export interface Uplinks {
  facts: Map<string, NodeSamples>;
  rates: ReadonlyMap<string, NodeSamples>;
}

/** A question names each node; more than these would make it longer than its answer is worth. */
const MOST_NODES = 500;
const NONE: Uplinks = { facts: new Map(), rates: new Map() };

/**
 * Looks for the uplinks of nodes whose devices, all but macvlans and veths, say nothing: a container's only uplink is
 * one of these, and not each is called eth0. A node with one gets all samples of it; one with more gets the counters of
 * two, which is enough to see that they are ambiguous. The other questions leave both out by their names, since a node
 * has a veth for each of its pods.
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

/** The devices that are the only ones of their nodes. */
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
