import type { Clock } from '../../runtime/process/clock.ts';
import type { SeriesVisitor, ResultType } from '../../prometheus/answer.ts';
import { sortLate, type LateRates, type LateSamples } from '../series/lateSamples.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';
import type { SeriesCache } from '../series/seriesCache.ts';
import type { NodeResolver } from '../../nodes/nodeNames.ts';
import type { RateTable } from '../series/rateTable.ts';
import { within, type Deadline } from '../../prometheus/deadline.ts';
import type { PrometheusClient } from '../../prometheus/prometheusClient.ts';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import {
  factQuery,
  fallenSpeedsQuery,
  lagQuery,
  lateQuery,
  ratesQuery,
  samplesPerWindowQuery,
  samplesQueries,
  standingQuery,
  totalsQuery,
  uplinksQuery,
  windowStartAt,
  zerosQuery,
} from './queries.ts';
import type { Counted, NamedScope, NodeRestriction, Scope, UsageQuery } from './queries.ts';
import { FACT_METRICS, type FactMetric } from '../series/factMetrics.ts';
import { createRatesVisitor, SeriesDecoder } from '../series/seriesDecoder.ts';
import type { Lag, Snapshot } from '../evaluate/snapshot.ts';

/** The kind of a query: a label of the metrics. */
export type QueryKind =
  | 'rates'
  | 'receive_rates'
  | 'late'
  | 'fallen'
  | 'standing'
  | 'totals'
  | 'facts'
  | 'uplinks'
  | 'samples_per_window'
  | 'lag'
  | 'fallen_speeds';

/**
 * Runs a query in the background, with its own deadline: as long as the deadline of a pass, or `atLeastMs` if that is longer.
 *
 * @param atLeastMs lower limit of the deadline, milliseconds
 */
export type Background = <T>(work: (deadline: Deadline) => Promise<T>, atLeastMs?: number) => Promise<T>;

/**
 * Deadline of a background query for a large cluster. With 50,000 nodes, one part of the facts is 25 MB, and a busy
 * server needs more time for it than the deadline of a pass, at each attempt. All six parts together take at most half
 * of the five minutes for which facts are valid.
 */
export const ANSWER_OF_MANY_MS = 25_000;

/** Receives measurements of the feed itself. */
export interface UsageMetrics {
  /** @param outcome 'ok', or the reason of the failure */
  queryEnded(kind: QueryKind, outcome: string, seconds: number): void;
  passEnded(snapshot: Snapshot, seconds: number): void;
}

/** A decoded answer. */
export interface Answered {
  /** The samples by node and device. If they are kept in a RateTable, they are valid until the next answer begins. */
  decoded: SeriesDecoder;
  /** Number of series in the answer. */
  series: number;
  warnings: readonly string[];
  infos: readonly string[];
}

/** An answer without its series. */
type Part = Omit<Answered, 'decoded'>;

function together(decoded: SeriesDecoder, parts: readonly Part[]): Answered {
  return {
    decoded,
    series: parts.reduce((sum, { series }) => sum + series, 0),
    warnings: parts.flatMap(({ warnings }) => warnings),
    infos: parts.flatMap(({ infos }) => infos),
  };
}

/** Which rates a query asks for, and where they are stored. */
export interface RatesOptions {
  readonly scope?: Scope;
  readonly table?: RateTable;
  readonly cache?: SeriesCache;
  readonly offsetSeconds?: number;
  readonly counted?: Counted;
}

/** Which samples a query asks for: see samplesQueries. */
type SamplesOptions = Required<Pick<RatesOptions, 'offsetSeconds' | 'counted'>> & {
  readonly scope: NamedScope;
  readonly behindSeconds: number;
};

/** The results of a lateQuery. */
export interface AskedLate extends LateRates, Pick<LateSamples, 'fell' | 'warnings' | 'infos'> {
  /** All nodes of the answer, with the labels of their series. */
  readonly found: ReadonlyMap<string, NodeSamples>;
  /** The start of the rate window, with the margin of FALL_MARGIN_SECONDS, seconds since 1970. */
  readonly windowStart: number;
}

/** Sends the queries of a pass to one Prometheus. Each method throws what PrometheusClient.query throws. */
export class QueryRunner {
  readonly #client: PrometheusClient;
  /** The settings of the queries. */
  readonly query: UsageQuery;
  readonly #clock: Clock;
  readonly #metrics: UsageMetrics | undefined;

  constructor(o: { client: PrometheusClient; query: UsageQuery; clock: Clock; metrics?: UsageMetrics }) {
    this.#client = o.client;
    this.query = o.query;
    this.#clock = o.clock;
    this.#metrics = o.metrics;
  }

  /**
   * Bytes per second of each device.
   *
   * @param table stores the rates, and overwrites the rates of the previous answer
   * @param cache the labels of the series of the previous answer
   * @param offsetSeconds how long ago; 0 by default
   * @param counted sent bytes by default
   */
  async rates(
    resolver: NodeResolver,
    deadline: Deadline,
    { scope, table, cache, offsetSeconds, counted = 'transmit' }: RatesOptions = {},
  ): Promise<Answered> {
    const decoder = new SeriesDecoder(resolver, table ?? 'rate');
    const visitor = cache === undefined ? decoder : createRatesVisitor(decoder, cache);
    const kind = counted === 'transmit' ? 'rates' : 'receive_rates';
    const answer = await this.#ask(kind, ratesQuery(this.query, scope, offsetSeconds, counted), visitor, deadline);
    decoder.end();
    return { decoded: decoder, ...answer };
  }

  /** The devices whose rates of a counter may be wrong or of the past. */
  async late(
    resolver: NodeResolver,
    deadline: Deadline,
    { scope, offsetSeconds = 0, counted }: Omit<RatesOptions, 'table' | 'cache'> = {},
  ): Promise<AskedLate> {
    const expression = lateQuery(this.query, scope, offsetSeconds, counted);
    const decoder = new SeriesDecoder(resolver, 'newest');
    const { warnings, infos } = await this.#ask('late', expression, decoder, deadline);
    const found = decoder.nodes;
    const windowStart = windowStartAt((decoder.timeSeconds ?? 0) - offsetSeconds, this.query);
    return { ...sortLate(found), found, windowStart, warnings, infos };
  }

  /** The nodes whose counters have stood still for some seconds, although they get samples. */
  async standing(visitor: SeriesVisitor, deadline: Deadline, seconds: number): Promise<void> {
    await this.#ask('standing', standingQuery(this.query, seconds), visitor, deadline);
  }

  /** The bytes that each node has sent. */
  async totals(visitor: SeriesVisitor, deadline: Deadline): Promise<void> {
    await this.#ask('totals', totalsQuery(this.query), visitor, deadline);
  }

  /** The devices with a sample of 0 in the window, of those that have counted more than so many bytes. */
  async zeros(
    resolver: NodeResolver,
    deadline: Deadline,
    { counted, leastBytes }: { counted: Counted; leastBytes: number },
  ): Promise<{ found: ReadonlyMap<string, NodeSamples>; windowStart: number }> {
    const decoder = new SeriesDecoder(resolver, 'newest');
    await this.#ask('fallen', zerosQuery(this.query, counted, leastBytes), decoder, deadline);
    return { found: decoder.nodes, windowStart: windowStartAt(decoder.timeSeconds ?? Infinity, this.query) };
  }

  /**
   * How long before the time in its answers the server evaluates an expression, seconds. VictoriaMetrics does so 30 s before (-search.latencyOffset), but
   * reads the samples of a bare range up to that time: https://docs.victoriametrics.com/victoriametrics/keyconcepts/#query-latency
   */
  async behind(deadline: Deadline): Promise<number> {
    let seconds = NaN;
    const visit = (series: unknown): void => {
      const { value: [answered, evaluated] = [] } = series as { value?: [unknown?, unknown?] };
      seconds = Number(answered) - Number(evaluated);
    };
    await this.#ask('fallen', 'vector(time())', { visit }, deadline);
    if (Number.isNaN(seconds)) throw new PrometheusError('BadAnswer', 'Prometheus does not tell its time');
    return Math.max(0, seconds);
  }

  /** The samples of some counters within the rate window. */
  async samples(
    visitor: SeriesVisitor,
    deadline: Deadline,
    { scope, offsetSeconds, counted, behindSeconds }: SamplesOptions,
  ): Promise<void> {
    for (const expression of samplesQueries(this.query, scope, offsetSeconds, counted, behindSeconds)) {
      await this.#ask('fallen', expression, visitor, deadline, 'matrix');
    }
  }

  /**
   * Limits queries that a pass does not need to a quarter of its time, so that a slow or failed answer does not fail the pass: the work ends there,
   * and keeps what it has read. Rejects with the abort reason of the deadline, or an error that is not one of Prometheus.
   */
  async lookUp({ signal, timeoutMs }: Deadline, work: (soon: Deadline) => Promise<unknown>): Promise<void> {
    try {
      await within({ clock: this.#clock, timeoutMs: timeoutMs / 4, stopped: signal }, work);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PrometheusError)) throw error;
    }
  }

  /** Counters, speeds and the other facts of each device, with one query for each metric at the same time. Throws if any fails. */
  async facts(resolver: NodeResolver, deadline: Deadline, scope?: Scope): Promise<Answered> {
    const decoder = new SeriesDecoder(resolver, 'facts');
    return together(
      decoder,
      await Promise.all(FACT_METRICS.map((metric) => this.#fact(decoder, metric, deadline, scope))),
    );
  }

  /**
   * The same facts, one query after the other: for far more nodes, since only one answer is read at a time.
   *
   * @param background gives each part its own deadline
   */
  async factsInTurn(resolver: NodeResolver, background: Background): Promise<Answered> {
    const decoder = new SeriesDecoder(resolver, 'facts');
    const parts: Part[] = [];
    for (const metric of FACT_METRICS) {
      parts.push(await background((deadline) => this.#fact(decoder, metric, deadline), ANSWER_OF_MANY_MS));
    }
    return together(decoder, parts);
  }

  #fact(decoder: SeriesDecoder, metric: FactMetric, deadline: Deadline, scope?: Scope): Promise<Part> {
    return this.#ask('facts', factQuery(this.query, metric, scope), decoder.ofMetric(metric), deadline);
  }

  /** The counters of up to two macvlans or veths of each given node. */
  async uplinks(resolver: NodeResolver, deadline: Deadline, nodes: NodeRestriction): Promise<Answered> {
    const decoder = new SeriesDecoder(resolver, 'facts');
    const visitor = decoder.ofMetric('node_network_transmit_bytes_total');
    return { decoded: decoder, ...(await this.#ask('uplinks', uplinksQuery(this.query, nodes), visitor, deadline)) };
  }

  /** The highest speeds of the last hour, bytes per second, of devices that are slower now. */
  async fallenSpeeds(resolver: NodeResolver, deadline: Deadline): Promise<Answered> {
    const decoder = new SeriesDecoder(resolver, 'peak');
    const expression = fallenSpeedsQuery(this.query);
    return { decoded: decoder, ...(await this.#ask('fallen_speeds', expression, decoder, deadline)) };
  }

  /** Median number of scrapes in the rate window. Undefined if there is no series yet. */
  async samplesPerWindow(deadline: Deadline): Promise<number | undefined> {
    let number: number | undefined;
    const visit = (series: unknown): void => void (number = numberIn(series) ?? number);
    await this.#ask('samples_per_window', samplesPerWindowQuery(this.query), { visit }, deadline);
    return number;
  }

  /** How late samples reach the server: see Snapshot. Without `lagSeconds` if there is no series yet. */
  async lag(resolver: NodeResolver, deadline: Deadline): Promise<Lag> {
    const lateNodes = new Set<string>();
    let lagSeconds: number | undefined;
    const visit = (series: unknown): void => {
      const { node, instance } = (series as { metric?: Record<string, string> }).metric ?? {};
      const name = resolver.resolve(node, instance);
      if (typeof name === 'string') lateNodes.add(name);
      else if (node === undefined && instance === undefined) lagSeconds = numberIn(series);
    };
    await this.#ask('lag', lagQuery(this.query), { visit }, deadline);
    return { ...(lagSeconds !== undefined && { lagSeconds }), lateNodes };
  }

  async #ask(
    kind: QueryKind,
    expression: string,
    visitor: SeriesVisitor,
    deadline: Deadline,
    type: ResultType = 'vector',
  ): Promise<Part> {
    const start = this.#clock.monotonic();
    let outcome = 'ok';
    try {
      return await this.#client.query({ expression, type, visitor, ...deadline });
    } catch (error) {
      outcome = error instanceof PrometheusError ? error.reason : 'Aborted';
      throw error;
    } finally {
      this.#metrics?.queryEnded(kind, outcome, (this.#clock.monotonic() - start) / 1000);
    }
  }
}

/** The number of a series, undefined if it is none. */
function numberIn(series: unknown): number | undefined {
  const { value } = series as { value?: [unknown, unknown] };
  const found = Number(value?.[1]);
  return Number.isFinite(found) ? found : undefined;
}
