import type { NodeResolver } from '../../../nodes/nodeNames.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import { lateDevices, type LateRates, type LateSamples } from '../../series/lateSamples.ts';
import type { NodeFacts } from '../../evaluate/nodeFacts.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import { SeriesCache } from '../../series/seriesCache.ts';
import { ratesQuery, type Counted, type Scope } from '../queries.ts';
import type { QueryRunner } from '../queryRunner.ts';
import type { Received } from '../receiveRates.ts';
import { groupsForQueries, MOST_NODES, restrictionOf } from './restriction.ts';

/** The rates of a pass by node. */
interface Rates {
  /** Transmit rates. */
  readonly rates: ReadonlyMap<string, NodeSamples>;
  readonly received: Received;
}

/** The data of nodes that a pass has read. */
interface Read<Facts> extends Rates {
  readonly facts: ReadonlyMap<string, Facts>;
}

type Late = Pick<LateSamples, 'transmit' | 'receive'>;

/** Reduces the facts of nodes to what a pass needs. */
type Condense<Facts> = (samples: ReadonlyMap<string, NodeSamples>) => Promise<ReadonlyMap<string, Facts>>;

/** The parameters of the further queries. */
interface Readers {
  readonly resolver: NodeResolver;
  readonly deadline: Deadline;
  /** The devices to look at. Default: all that are not excluded. */
  readonly devices?: readonly string[];
}

/**
 * Keeps only the series that still get samples if a device has several. A replaced pod of an exporter, or a restarted pod with other labels,
 * leaves a series with samples in the rate window: the node would be ambiguous until the window has passed. If nothing marks the end of the series,
 * a server shows its last samples for five minutes: its speed would count, or the device would look late.
 *
 * | series of the device         | result                                     |
 * |------------------------------|--------------------------------------------|
 * | one still gets samples       | its rate, once it has two samples, and its facts |
 * | several still get samples    | as they are: the node is AmbiguousSeries   |
 * | none                         | no rate                                    |
 *
 * At most MOST_NODES nodes are looked at in a pass, in groups for queries of 16 KiB. Without such nodes, no query is sent. Nodes about which Prometheus
 * does not answer within a quarter of the time of the pass are as before. Rejects with the abort reason of the deadline, or an error that is not one of
 * Prometheus.
 *
 * @param rates without the rates of late devices: see dropLate
 */
export async function onlyLive<Facts = NodeFacts>(
  queries: QueryRunner,
  { rates, received, facts, late }: Read<Facts> & { readonly late: Late },
  condense: Condense<Facts>,
  { resolver, deadline, devices }: Readers,
): Promise<Read<Facts>> {
  const answers = [rates, received.nodes];
  const nextToLate = [...besideLate(late.transmit, rates), ...besideLate(late.receive, received.nodes)];
  const names = [...new Set([...ambiguousOf(answers), ...nextToLate])].slice(0, MOST_NODES);
  if (names.length === 0) return { rates, received, facts };
  const live: Live = { names: [], rates: new Map(), received: new Map(), facts: new Map() };
  const scopeOf = (some: readonly string[]): Scope => ({ kind: 'live', nodes: restrictionOf(some, answers), devices });
  const groups = groupsForQueries(names, (some) => [ratesQuery(queries.query, scopeOf(some))]);
  await queries.lookUp(deadline, async (soon) => {
    for (const some of groups) {
      const counted = received.nodes.size === 0 ? SENT_ONLY : BOTH;
      await readLive(
        queries,
        { some, scope: scopeOf(some), counted, late },
        { resolver, deadline: soon, devices },
        live,
      );
    }
  });
  return {
    rates: replaced(rates, live.names, live.rates),
    received:
      received.nodes.size === 0
        ? received
        : { ...received, nodes: replaced(received.nodes, live.names, live.received) },
    facts: live.facts.size === 0 ? facts : new Map([...facts, ...(await condense(live.facts))]),
  };
}

const SENT_ONLY: readonly Counted[] = ['transmit'];
const BOTH: readonly Counted[] = ['transmit', 'receive'];

/** Rates and facts of the series that still get samples. */
interface Live {
  /** The nodes that were asked about. */
  readonly names: string[];
  readonly rates: Map<string, NodeSamples>;
  readonly received: Map<string, NodeSamples>;
  readonly facts: Map<string, NodeSamples>;
}

/** Adds what is read of some nodes, all of it or nothing. Rejects as QueryRunner. */
async function readLive(
  queries: QueryRunner,
  asked: {
    some: readonly string[];
    scope: Scope;
    counted: readonly Counted[];
    late: Late;
  },
  { resolver, deadline, devices }: Readers,
  live: Live,
): Promise<void> {
  const { some, scope, late } = asked;
  const [sent = NONE, got = NONE] = await Promise.all(
    asked.counted.map(async (counted) => {
      const { decoded } = await queries.rates(resolver, deadline, { scope, cache: new SeriesCache(), counted });
      return decoded.nodes;
    }),
  );
  const found = await factsOf(queries, besideLate(late.transmit, sent), sent, { resolver, deadline, devices });
  // An answer after the deadline is not used.
  deadline.signal.throwIfAborted();
  live.names.push(...some);
  addAll(live.rates, sent);
  addAll(live.received, got);
  addAll(live.facts, found);
}

const NONE: ReadonlyMap<string, NodeSamples> = new Map();

function addAll(all: Map<string, NodeSamples>, some: ReadonlyMap<string, NodeSamples>): void {
  for (const [name, samples] of some) all.set(name, samples);
}

/** The facts of series that still get samples. */
async function factsOf(
  queries: QueryRunner,
  names: readonly string[],
  rates: ReadonlyMap<string, NodeSamples>,
  { resolver, deadline, devices }: Readers,
): Promise<ReadonlyMap<string, NodeSamples>> {
  if (names.length === 0) return new Map();
  const scope: Scope = { kind: 'live', nodes: restrictionOf(names, [rates]), devices };
  return (await queries.facts(resolver, deadline, scope)).decoded.nodes;
}

/** The nodes with a series of a late device in the answer with the rates of the same counter. */
function besideLate(late: LateRates, rates: ReadonlyMap<string, NodeSamples>): string[] {
  return [...lateDevices(late)].flatMap(([node, devices]) => {
    const known = rates.get(node)?.devices;
    return known !== undefined && [...devices].some((name) => known.has(name)) ? [node] : [];
  });
}

function ambiguousOf(answers: readonly ReadonlyMap<string, NodeSamples>[]): string[] {
  const names = new Set<string>();
  for (const answer of answers) {
    for (const [name, samples] of answer) {
      if (samples.duplicate !== undefined || samples.soleInstance === undefined) names.add(name);
    }
  }
  return [...names];
}

function replaced(
  all: ReadonlyMap<string, NodeSamples>,
  names: readonly string[],
  live: ReadonlyMap<string, NodeSamples>,
): ReadonlyMap<string, NodeSamples> {
  const result = new Map(all);
  for (const name of names) {
    const samples = live.get(name);
    if (samples === undefined) result.delete(name);
    else result.set(name, samples);
  }
  return result;
}
