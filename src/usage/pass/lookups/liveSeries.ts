import type { NodeResolver } from '../../../nodes/nodeNames.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import { PrometheusError } from '../../../prometheus/prometheusError.ts';
import { lateDevices, type LateSamples } from '../../series/lateSamples.ts';
import type { NodeFacts } from '../../evaluate/nodeFacts.ts';
import type { NodeSamples } from '../../series/nodeSamples.ts';
import { SeriesCache } from '../../series/seriesCache.ts';
import type { Scope } from '../queries.ts';
import type { QueryRunner } from '../queryRunner.ts';
import type { Received } from '../receiveRates.ts';
import { MOST_NODES, restrictionOf } from './restriction.ts';

/** The rates of a pass by node. */
export interface Rates {
  /** Transmit rates. */
  readonly rates: ReadonlyMap<string, NodeSamples>;
  readonly received: Received;
}

/** What a pass has read of its nodes. */
interface Read extends Rates {
  readonly facts: ReadonlyMap<string, NodeFacts>;
}

/** Reduces the facts of nodes to what a pass needs. */
type Condense = (samples: ReadonlyMap<string, NodeSamples>) => Promise<ReadonlyMap<string, NodeFacts>>;

/** What the answers are read with. */
interface Readers {
  readonly resolver: NodeResolver;
  readonly deadline: Deadline;
}

/**
 * Of the several series of a device, leaves those that still get samples. A replaced pod of an exporter, or a restarted one under another label,
 * leaves a series whose samples are in the rate window: the node would be ambiguous until the window has passed. If nothing marks its end, a server
 * shows its last samples for five minutes: its speed would count, or the device would look late.
 *
 * | series of the device         | result                                     |
 * |------------------------------|--------------------------------------------|
 * | one still gets samples       | its rate, once it has two samples, and its facts |
 * | several still get samples    | as they are: the node is AmbiguousSeries   |
 * | none                         | no rate                                    |
 *
 * At most MOST_NODES nodes are looked at in a pass. Without such nodes, no query is sent. If Prometheus does not answer, all is as before.
 * Rejects with the abort reason of the deadline, or an error that is not one of Prometheus.
 *
 * @param rates without those of late devices: see dropLate
 */
export async function onlyLive(
  queries: QueryRunner,
  { rates, received, facts, late }: Read & { readonly late: Pick<LateSamples, 'nodes' | 'single'> },
  condense: Condense,
  { resolver, deadline }: Readers,
): Promise<Read> {
  const answers = [rates, received.nodes];
  const names = [...new Set([...ambiguousOf(answers), ...besideLate(late, answers)])].slice(0, MOST_NODES);
  if (names.length === 0) return { rates, received, facts };
  const scope: Scope = { kind: 'live', nodes: restrictionOf(names, answers) };
  try {
    const [sent, got] = await Promise.all([
      queries.rates(resolver, deadline, { scope, cache: new SeriesCache() }),
      received.nodes.size === 0
        ? undefined
        : queries.rates(resolver, deadline, { scope, cache: new SeriesCache(), counted: 'receive' }),
    ]);
    const live = sent.decoded.nodes;
    const found = await factsOf(queries, besideLate(late, [live]), live, { resolver, deadline });
    return {
      rates: replaced(rates, names, live),
      received:
        got === undefined ? received : { ...received, nodes: replaced(received.nodes, names, got.decoded.nodes) },
      facts: found.size === 0 ? facts : new Map([...facts, ...(await condense(found))]),
    };
  } catch (error) {
    deadline.signal.throwIfAborted();
    if (!(error instanceof PrometheusError)) throw error;
    return { rates, received, facts };
  }
}

/** The facts of series that still get samples. */
async function factsOf(
  queries: QueryRunner,
  names: readonly string[],
  rates: ReadonlyMap<string, NodeSamples>,
  { resolver, deadline }: Readers,
): Promise<ReadonlyMap<string, NodeSamples>> {
  if (names.length === 0) return new Map();
  const scope: Scope = { kind: 'live', nodes: restrictionOf(names, [rates]) };
  return (await queries.facts(resolver, deadline, scope)).decoded.nodes;
}

/** The nodes with a series of a late device in one of the answers. */
function besideLate(
  late: Pick<LateSamples, 'nodes' | 'single'>,
  answers: readonly ReadonlyMap<string, NodeSamples>[],
): string[] {
  return [...lateDevices(late)].flatMap(([node, devices]) => {
    const names = [...devices];
    const isIn = (answer: ReadonlyMap<string, NodeSamples>): boolean => {
      const known = answer.get(node)?.devices;
      return known !== undefined && names.some((name) => known.has(name));
    };
    return answers.some(isIn) ? [node] : [];
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
