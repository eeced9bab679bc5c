import type { Clock } from '../../runtime/process/clock.ts';
import type { SeriesVisitor } from '../../prometheus/answer.ts';
import type { SeriesCache } from '../series/seriesCache.ts';
import type { NodeResolver } from '../../nodes/nodeNames.ts';
import type { RateTable } from '../series/rateTable.ts';
import type { Deadline } from '../../prometheus/deadline.ts';
import type { PrometheusClient } from '../../prometheus/prometheusClient.ts';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import {
  COUNTED,
  FACT_METRICS,
  factsQuery,
  fallenSpeedsQuery,
  ratesQuery,
  samplesPerWindowQuery,
  uplinksQuery,
} from './queries.ts';
import type { NodeRestriction, Scope, UsageQuery } from './queries.ts';
import { createRatesVisitor } from '../series/ratesVisitor.ts';
import { SeriesDecoder } from '../series/seriesDecoder.ts';
import type { Snapshot } from '../evaluate/snapshot.ts';

/** What a question is about: a label of the metrics. */
export type QueryKind = 'rates' | 'facts' | 'uplinks' | 'samples_per_window' | 'fallen_speeds';

/**
 * Gives a question that no pass waits for to its end a deadline of its own.
 *
 * @param atLeastMs how long it may take where a pass may take less
 */
export type Background = <T>(work: (deadline: Deadline) => Promise<T>, atLeastMs?: number) => Promise<T>;

/**
 * How long an answer about very many nodes may take that no pass waits for. Of 50,000 a part of the facts is 25 MB: a
 * server on a busy machine needs longer for it than a pass may take, also when it is asked again. Of the five minutes
 * for which facts are trusted, all parts together take half at most.
 */
export const ANSWER_OF_MANY_MS = 25_000;

/** What the feed tells of itself while it works. */
export interface UsageMetrics {
  /** @param outcome 'ok', or the reason why there is no answer */
  queryEnded(kind: QueryKind, outcome: string, seconds: number): void;
  passEnded(snapshot: Snapshot, seconds: number): void;
}

/** An answer, sorted by node and device. */
export interface Answered {
  /** Rates of a table: valid until the next answer begins. */
  decoded: SeriesDecoder;
  /** Series in the answer. */
  series: number;
  warnings: readonly string[];
  infos: readonly string[];
}

/** The questions that make a pass, asked of one Prometheus. Each throws what PrometheusClient.query throws. */
export class QueryRunner {
  readonly #client: PrometheusClient;
  readonly #query: UsageQuery;
  readonly #clock: Clock;
  readonly #metrics: UsageMetrics | undefined;

  constructor(o: { client: PrometheusClient; query: UsageQuery; clock: Clock; metrics?: UsageMetrics }) {
    this.#client = o.client;
    this.#query = o.query;
    this.#clock = o.clock;
    this.#metrics = o.metrics;
  }

  /**
   * Bytes per second of each device.
   *
   * @param table keeps the rates, over those of the answer before
   * @param cache the labels of the series of the answer before
   */
  async rates(
    resolver: NodeResolver,
    deadline: Deadline,
    { scope, table, cache }: { scope?: Scope; table?: RateTable; cache?: SeriesCache } = {},
  ): Promise<Answered> {
    const decoder = new SeriesDecoder(resolver, table ?? 'rate');
    const visitor = cache === undefined ? decoder : createRatesVisitor(decoder, cache);
    const answer = await this.#ask('rates', ratesQuery(this.#query, scope), visitor, deadline);
    decoder.end();
    return { decoded: decoder, ...answer };
  }

  /** Counters, speeds and what else there is of each device. */
  facts(resolver: NodeResolver, deadline: Deadline, scope?: Scope): Promise<Answered> {
    return this.#read('facts', factsQuery(this.#query, scope), new SeriesDecoder(resolver), deadline);
  }

  /**
   * The same, metric by metric: many times as many nodes fit into the memory that an answer needs, and into what is
   * taken for an answer at all. Nothing of it counts before all of it was read.
   *
   * @param background gives each part a deadline of its own
   */
  async factsInParts(resolver: NodeResolver, background: Background): Promise<Answered> {
    const decoder = new SeriesDecoder(resolver);
    const parts: Answered[] = [];
    for (const metric of FACT_METRICS) {
      const expression = factsQuery(this.#query, COUNTED, [metric]);
      const read = (deadline: Deadline): Promise<Answered> => this.#read('facts', expression, decoder, deadline);
      parts.push(await background(read, ANSWER_OF_MANY_MS));
    }
    return {
      decoded: decoder,
      series: parts.reduce((sum, { series }) => sum + series, 0),
      warnings: parts.flatMap(({ warnings }) => warnings),
      infos: parts.flatMap(({ infos }) => infos),
    };
  }

  /** The counters of up to two veths of each of the given nodes. */
  uplinks(resolver: NodeResolver, deadline: Deadline, nodes: NodeRestriction): Promise<Answered> {
    return this.#read('uplinks', uplinksQuery(this.#query, nodes), new SeriesDecoder(resolver), deadline);
  }

  /** Highest speeds of the last hour, bytes per second, of devices that are slower now. */
  fallenSpeeds(resolver: NodeResolver, deadline: Deadline): Promise<Answered> {
    return this.#read('fallen_speeds', fallenSpeedsQuery(this.#query), new SeriesDecoder(resolver, 'peak'), deadline);
  }

  /** Scrapes in the rate window, as most series have them; undefined where there is no series yet. */
  async samplesPerWindow(deadline: Deadline): Promise<number | undefined> {
    let samples: number | undefined;
    const visit = (series: unknown): void => {
      const { value } = series as { value?: [unknown, unknown] };
      const count = Number(value?.[1]);
      if (Number.isFinite(count)) samples = count;
    };
    await this.#ask('samples_per_window', samplesPerWindowQuery(this.#query), { visit }, deadline);
    return samples;
  }

  async #read(kind: QueryKind, expression: string, decoder: SeriesDecoder, deadline: Deadline): Promise<Answered> {
    return { decoded: decoder, ...(await this.#ask(kind, expression, decoder, deadline)) };
  }

  async #ask(kind: QueryKind, expression: string, visitor: SeriesVisitor, deadline: Deadline) {
    const start = this.#clock.monotonic();
    let outcome = 'ok';
    try {
      return await this.#client.query({ expression, visitor, ...deadline });
    } catch (error) {
      outcome = error instanceof PrometheusError ? error.reason : 'Aborted';
      throw error;
    } finally {
      this.#metrics?.queryEnded(kind, outcome, (this.#clock.monotonic() - start) / 1000);
    }
  }
}
