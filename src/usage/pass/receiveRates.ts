import type { Deadline } from '../../prometheus/deadline.ts';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import type { KnownNode, NodeResolver } from '../../nodes/nodeNames.ts';
import { usesReceived, type Readings } from '../evaluate/reading.ts';
import type { ReadingFigures } from '../evaluate/snapshot.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';
import { RateTable } from '../series/rateTable.ts';
import { SeriesCache } from '../series/seriesCache.ts';
import type { Counted, Scope } from './queries.ts';
import type { QueryRunner, RatesOptions } from './queryRunner.ts';

/** The receive rates of one pass, or why they could not be read. */
export interface Received extends Pick<ReadingFigures, 'warnings' | 'error'> {
  /** By node. Valid until the next pass begins. */
  readonly nodes: ReadonlyMap<string, NodeSamples>;
}

/** No receive rates. */
export const NOTHING: Received = { nodes: new Map(), warnings: [] };

/**
 * Reads the receive rates of a pass, once for all readings that use them, and not at all while there is none. It keeps
 * what makes the next answer cheap, as the transmit rates do, only while they are read.
 */
export class ReceiveRates {
  readonly #queries: QueryRunner;
  #kept: { table: RateTable; cache: SeriesCache } | undefined;

  constructor(queries: QueryRunner) {
    this.#queries = queries;
  }

  /** The receive rates of now. Rejects as readReceived. */
  async read(
    readings: Readings,
    nodes: ReadonlyMap<string, KnownNode>,
    resolver: NodeResolver,
    deadline: Deadline,
    scope: Scope,
  ): Promise<Received> {
    if (!needed(readings)) {
      this.#kept = undefined;
      return NOTHING;
    }
    this.#kept ??= { table: new RateTable(), cache: new SeriesCache() };
    this.#kept.table = this.#kept.table.next(nodes);
    return readReceived(this.#queries, readings, resolver, deadline, { ...this.#kept, scope });
  }
}

/**
 * Reads receive rates if a reading uses them. A failed query is an error of these readings, not of the pass: rejects
 * only with the abort reason of the deadline, or an error that is not one of Prometheus.
 */
export async function readReceived(
  queries: QueryRunner,
  readings: Readings,
  resolver: NodeResolver,
  deadline: Deadline,
  options: Omit<RatesOptions, 'counted'>,
): Promise<Received> {
  if (!needed(readings)) return NOTHING;
  try {
    const { decoded, warnings } = await queries.rates(resolver, deadline, { ...options, counted: 'receive' });
    return { nodes: decoded.nodes, warnings };
  } catch (error) {
    deadline.signal.throwIfAborted();
    if (!(error instanceof PrometheusError)) throw error;
    return { ...NOTHING, error: { reason: error.reason, message: `the receive rates: ${error.message}` } };
  }
}

/** The counters that the readings, and the default one, use. */
export function countersOf(readings: Readings): readonly Counted[] {
  return needed(readings) ? ['transmit', 'receive'] : ['transmit'];
}

function needed(readings: Readings): boolean {
  for (const reading of readings.values()) if (usesReceived(reading)) return true;
  return false;
}
