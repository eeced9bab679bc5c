import type { KnownNode, NodeResolver } from '../../../nodes/nodeNames.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import { bytesIn, parseStated } from '../../evaluate/capacity.ts';
import type { NodeFacts } from '../../evaluate/nodeFacts.ts';
import type { Readings } from '../../evaluate/reading.ts';
import type { CountedDevice } from '../../evaluate/devices/devices.ts';
import { highestRate } from '../../evaluate/sums.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import { ratesQuery, type Counted, type NamedScope } from '../queries.ts';
import type { QueryRunner } from '../queryRunner.ts';
import type { Received } from '../receiveRates.ts';
import { groupsForQueries, MOST_NODES, restrictionOf } from './restriction.ts';

/** The data of a pass, by node. */
interface Read {
  readonly facts: ReadonlyMap<string, NodeFacts>;
  readonly rates: ReadonlyMap<string, NodeSamples>;
  readonly received: Pick<Received, 'nodes'>;
}

interface Readers {
  readonly nodes: ReadonlyMap<string, KnownNode>;
  readonly readings: Readings;
  readonly resolver: NodeResolver;
  readonly deadline: Deadline;
  /** How long ago, by the server's clock. */
  readonly offsetSeconds?: number;
}

/**
 * With replicas, replaces each rate that no link can carry, as after a jump in the samples of one replica, with the rate of another replica. The query
 * for all devices gives the highest rate of the replicas; the query for given devices gives a rate that is possible, if a replica has one.
 *
 * At most MOST_NODES nodes are asked about in a pass, in groups for queries of 16 KiB. Without such rates, no query is sent. If Prometheus does not
 * answer within a quarter of the time of the pass, the rates do not change, and their nodes are InvalidSample. Rejects with the abort reason of the
 * deadline, or an error that is not one of Prometheus.
 */
export async function readSoundReplicas(queries: QueryRunner, read: Read, readers: Readers): Promise<void> {
  if ((queries.query.replicaLabels ?? []).length === 0) return;
  const { deadline } = readers;
  for (const [counted, rates] of [['transmit', read.rates] as const, ['receive', read.received.nodes] as const]) {
    const impossible = impossibleIn(rates, read.facts, readers);
    if (impossible.size === 0) continue;
    await queries.lookUp(deadline, (soon) =>
      replace(queries, { counted, rates, impossible }, { ...readers, deadline: soon }),
    );
  }
}

/** Returns the names of devices, by node, with a rate above their limit, also with the capacity that something states for their node. */
function impossibleIn(rates: Read['rates'], facts: Read['facts'], readers: Readers): Map<string, string[]> {
  const impossible = new Map<string, string[]>();
  for (const [node, { devices }] of facts) {
    const measured = rates.get(node)?.devices;
    const isAbove = (each: CountedDevice, stated: number): boolean =>
      (measured?.get(each.name)?.rate ?? 0) > highestRate(each, stated);
    const above = devices.counted.filter((each) => isAbove(each, 0));
    if (above.length === 0) continue;
    const stated = statedOf(node, readers);
    const names = above.flatMap((each) => (isAbove(each, stated) ? [each.name] : []));
    if (names.length > 0) impossible.set(node, names);
  }
  return impossible;
}

/** Returns the highest capacity that the Node or a TrafficWatch states for a node, bytes per second; 0 without any. */
function statedOf(node: string, { nodes, readings }: Pick<Readers, 'nodes' | 'readings'>): number {
  const stated = [nodes.get(node)?.capacity, ...[...readings.values()].map(({ capacities }) => capacities?.of(node))];
  return Math.max(...stated.map((one) => bytesIn(one && parseStated(one))));
}

/** The rates of one counter. */
interface Rates {
  readonly counted: Counted;
  readonly rates: Read['rates'];
  readonly impossible: ReadonlyMap<string, readonly string[]>;
}

async function replace(
  queries: QueryRunner,
  { counted, rates, impossible }: Rates,
  { resolver, deadline, offsetSeconds = 0 }: Omit<Readers, 'nodes' | 'readings'>,
): Promise<void> {
  const scopeOf = (names: readonly string[]): NamedScope => {
    const devices = new Set(names.flatMap((name) => impossible.get(name) ?? []));
    return { kind: 'named', nodes: restrictionOf(names, [rates]), devices: [...devices].sort() };
  };
  const queriesOf = (some: readonly string[]): string[] => [
    ratesQuery(queries.query, scopeOf(some), offsetSeconds, counted),
  ];
  for (const names of groupsForQueries([...impossible.keys()].slice(0, MOST_NODES), queriesOf)) {
    const { decoded } = await queries.rates(resolver, deadline, { scope: scopeOf(names), offsetSeconds, counted });
    // An answer after the deadline is not used.
    deadline.signal.throwIfAborted();
    for (const name of names) {
      for (const device of impossible.get(name) ?? []) {
        const [known, other] = [rates, decoded.nodes].map((answer) => answer.get(name)?.devices.get(device));
        if (known !== undefined && other?.rate !== undefined) known.rate = other.rate;
      }
    }
  }
}
