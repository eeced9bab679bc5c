import type { KnownNode, NodeResolver } from '../../../nodes/nodeNames.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import type { Scope } from '../queries.ts';
import { MOST_NODES, restrictionTo } from './restriction.ts';
import type { Readings } from '../../evaluate/reading.ts';
import type { Answered, QueryRunner } from '../queryRunner.ts';
import { dropLate, NONE_LATE, type LateSamples } from '../../series/lateSamples.ts';
import { countersOf, NOTHING, readReceived, type Received } from '../receiveRates.ts';
import { readLate } from './lateReader.ts';

/** Facts and rates of macvlan or veth devices, by node. */
export interface Uplinks {
  facts: Map<string, NodeSamples>;
  /** Transmit rates. */
  rates: ReadonlyMap<string, NodeSamples>;
  received: Received;
  late: LateSamples;
}

/** The parameters of the search. */
interface Asked {
  /** Names of the nodes without series; only the first 500 are searched. */
  readonly missing: readonly string[];
  readonly nodes: ReadonlyMap<string, KnownNode>;
  /** Receive rates are read only if one of these uses them. */
  readonly readings: Readings;
}

const NONE: Uplinks = { facts: new Map(), rates: new Map(), received: NOTHING, late: NONE_LATE };

/**
 * Searches the macvlans and veths of nodes that have no other device that counts. If a node is a container, its only
 * uplink is one of these, and its name need not be eth0. The other queries exclude both kinds by name, because a node
 * has a veth for each pod.
 *
 * A node with one such device gets all samples of it. A node with several gets the counters of two, which is enough to
 * detect that they are ambiguous.
 */
export async function readUplinks(
  queries: QueryRunner,
  { missing, nodes, readings }: Asked,
  resolver: NodeResolver,
  deadline: Deadline,
): Promise<Uplinks> {
  if (missing.length === 0) return NONE;
  const found = await queries.uplinks(resolver, deadline, restrictionTo(missing.slice(0, MOST_NODES), nodes));
  const scope = soleUplinks(found, nodes);
  if (scope === undefined) return { ...NONE, facts: found.decoded.nodes };
  const [facts, rates, received, late] = await Promise.all([
    queries.facts(resolver, deadline, scope),
    queries.rates(resolver, deadline, { scope }),
    readReceived(queries, readings, resolver, deadline, { scope }),
    readLate(queries, resolver, deadline, { scope, counters: countersOf(readings) }),
  ]);
  dropLate(late, rates.decoded.nodes, received.nodes);
  for (const [name, samples] of facts.decoded.nodes) found.decoded.nodes.set(name, samples);
  // If only the receive rates failed, the nodes have a figure of what they send, and the others say what is missing.
  return { facts: found.decoded.nodes, rates: rates.decoded.nodes, received: { ...received, error: undefined }, late };
}

/** Selects the nodes that have exactly one device in the answer. */
function soleUplinks(found: Answered, nodes: ReadonlyMap<string, KnownNode>): Scope | undefined {
  const sole = [...found.decoded.nodes].filter(([, { devices }]) => devices.size === 1);
  if (sole.length === 0) return undefined;
  const devices = new Set(sole.flatMap(([, samples]) => [...samples.devices.keys()]));
  const names = sole.map(([name]) => name);
  return { kind: 'named', nodes: restrictionTo(names, nodes), devices: [...devices].sort() };
}
