import type { NodeResolver } from '../../../nodes/nodeNames.ts';
import type { Deadline } from '../../../prometheus/deadline.ts';
import { PrometheusError } from '../../../prometheus/prometheusError.ts';
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

/**
 * Of the several series of a device, leaves those that still get samples. A replaced pod of an exporter, or a restarted one under another label,
 * leaves a series whose samples are in the rate window: the node would be ambiguous until the window has passed.
 *
 * | series of the device         | result                                     |
 * |------------------------------|--------------------------------------------|
 * | one still gets samples       | its rate, once it has two samples          |
 * | several still get samples    | as they are: the node is AmbiguousSeries   |
 * | none                         | no rate                                    |
 *
 * At most MOST_NODES nodes are looked at in a pass. Without such nodes, no query is sent. If Prometheus does not answer, the rates are as before.
 * Rejects with the abort reason of the deadline, or an error that is not one of Prometheus.
 */
export async function onlyLive(
  queries: QueryRunner,
  { rates, received }: Rates,
  resolver: NodeResolver,
  deadline: Deadline,
): Promise<Rates> {
  const names = ambiguousOf(rates, received.nodes).slice(0, MOST_NODES);
  if (names.length === 0) return { rates, received };
  const scope: Scope = { kind: 'live', nodes: restrictionOf(names, [rates, received.nodes]) };
  try {
    const [sent, got] = await Promise.all([
      queries.rates(resolver, deadline, { scope, cache: new SeriesCache() }),
      received.nodes.size === 0
        ? undefined
        : queries.rates(resolver, deadline, { scope, cache: new SeriesCache(), counted: 'receive' }),
    ]);
    const receivedNow = got && { ...received, nodes: replaced(received.nodes, names, got.decoded.nodes) };
    return { rates: replaced(rates, names, sent.decoded.nodes), received: receivedNow ?? received };
  } catch (error) {
    deadline.signal.throwIfAborted();
    if (!(error instanceof PrometheusError)) throw error;
    return { rates, received };
  }
}

function ambiguousOf(...answers: readonly ReadonlyMap<string, NodeSamples>[]): string[] {
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
