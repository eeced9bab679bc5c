import type { KnownNode, NodeResolver } from '../../../nodes/nodeNames.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import { lateQuery, ratesQuery, uplinksQuery, type NamedScope } from '../queries.ts';
import { groupsForQueries, MOST_NODES, restrictionTo } from './restriction.ts';
import type { Readings } from '../../evaluate/reading.ts';
import type { QueryRunner } from '../queryRunner.ts';
import { dropLate, NONE_LATE, type LateSamples } from '../../series/lateSamples.ts';
import { countersOf, NOTHING, readReceived, type Received } from '../receiveRates.ts';
import { readLate } from './lateReader.ts';
import { onlyLive } from './liveSeries.ts';

/** Facts and rates of macvlan or veth devices, by node. */
interface Uplinks {
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

/**
 * Searches the macvlans and veths of nodes that have no other device that counts. If a node is a container, its only
 * uplink is one of these, and its name need not be eth0. The other queries exclude both kinds by name, because a node
 * has a veth for each pod.
 *
 * A node with one such device gets all samples of it. A node with several gets the counters of two, which is enough to
 * detect that they are ambiguous. Yields groups of nodes, for queries of 16 KiB. Rejects as QueryRunner.
 */
export async function* readUplinks(
  queries: QueryRunner,
  { missing, nodes, readings }: Asked,
  resolver: NodeResolver,
  deadline: Deadline,
): AsyncGenerator<Uplinks> {
  const { query } = queries;
  const restricted = (some: readonly string[]): ReturnType<typeof restrictionTo> => restrictionTo(some, nodes);
  for (const some of groupsForQueries(missing.slice(0, MOST_NODES), (names) => [
    uplinksQuery(query, restricted(names)),
  ])) {
    const { decoded } = await queries.uplinks(resolver, deadline, restricted(some));
    const sole = some.filter((name) => decoded.nodes.get(name)?.devices.size === 1);
    const several = [...decoded.nodes].filter(([, { devices }]) => devices.size !== 1);
    if (several.length > 0) yield { facts: new Map(several), rates: new Map(), received: NOTHING, late: NONE_LATE };
    const scopeOf = (names: readonly string[]): NamedScope => {
      const devices = new Set(names.flatMap((name) => [...(decoded.nodes.get(name)?.devices.keys() ?? [])]));
      return { kind: 'named', nodes: restricted(names), devices: [...devices].sort() };
    };
    const longest = (names: readonly string[]): string[] => [
      ratesQuery(query, scopeOf(names)),
      lateQuery(query, scopeOf(names)),
    ];
    for (const names of groupsForQueries(sole, longest)) {
      yield await readSole(queries, { scope: scopeOf(names), readings }, resolver, deadline);
    }
  }
}

/** The samples of devices that are the only ones of their nodes. */
async function readSole(
  queries: QueryRunner,
  { scope, readings }: { readonly scope: NamedScope; readonly readings: Readings },
  resolver: NodeResolver,
  deadline: Deadline,
): Promise<Uplinks> {
  const [facts, rates, received, late] = await Promise.all([
    queries.facts(resolver, deadline, scope),
    queries.rates(resolver, deadline, { scope }),
    readReceived(queries, readings, resolver, deadline, { scope }),
    readLate(queries, resolver, deadline, { scope, counters: countersOf(readings) }),
  ]);
  dropLate(late.transmit, rates.decoded.nodes);
  dropLate(late.receive, received.nodes);
  const read = { facts: facts.decoded.nodes, rates: rates.decoded.nodes, received, late };
  const live = await onlyLive(queries, read, (found) => Promise.resolve(found), {
    resolver,
    deadline,
    devices: scope.devices,
  });
  // If only the receive rates failed, the nodes have a figure of what they send, and the others say what is missing.
  return {
    facts: new Map(live.facts),
    rates: live.rates,
    received: { ...live.received, error: undefined },
    late,
  };
}
