import { exhaustMap, filter, from, fromEvent, lastValueFrom, scan, Subject, takeUntil, tap, Observable } from 'rxjs';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { PrometheusEndpoint } from '../../prometheus/endpoint.ts';
import type { KnownNode } from '../../nodes/nodeNames.ts';
import { within } from '../../prometheus/deadline.ts';
import { UsageCollector } from './usageCollector.ts';
import { createPrometheusClient, type PrometheusClient } from '../../prometheus/prometheusClient.ts';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import { checkQuery } from './checkQuery.ts';
import type { UsageQuery } from './queries.ts';
import { QueryRunner, type Background, type UsageMetrics } from './queryRunner.ts';
import { describeUnattributed, hasNewlyUnattributed, type Snapshot } from '../evaluate/snapshot.ts';
import { History, keptPasses, NOTHING_ASKED, type ReadPast, type PassDemand } from './history.ts';

/** Before the first pass. */
const NO_PASS = { pass: 0 } as Snapshot;

/** Measures the usage of all nodes from one Prometheus endpoint, pass after pass. All subscribers share the passes. */
export interface UsageFeed {
  /** The last passes, newest first. Empty before the first pass ends. The same array until the next pass ends. */
  readonly passes: readonly Snapshot[];
  /** Length of the present rate window, milliseconds. */
  readonly windowMs: number;
  /** Start of `run`, or creation of the feed if it does not run yet. Operator's clock, milliseconds since 1970. */
  readonly startedAt: number;
  /** Emits each pass when it ends, after adding it to `passes`. Never errors. Completes when the feed is stopped. */
  readonly snapshots: Observable<Snapshot>;
  /** Reads from now on, at the start of each pass, what passes must give. Before, that is the default reading alone. */
  follow(demand: PassDemand): void;
  /** Runs passes until the signal is aborted. Never rejects. Call it once. */
  run(signal: AbortSignal): Promise<void>;
}

export interface UsageFeedOptions {
  endpoint: PrometheusEndpoint;
  /**
   * Returns the settings of the next pass. Settings that are another object than before mean another Prometheus: earlier results are
   * forgotten.
   */
  query: () => UsageQuery;
  /** Time between the starts of two passes, milliseconds. */
  intervalMs: number;
  /** Deadline of a pass, milliseconds. Default: four fifths of the interval. */
  deadlineMs?: number;
  /**
   * Returns the current nodes at the start of each pass. Do not change a map in place: while the map is the same
   * object, the feed assumes that each series still belongs to the same node.
   */
  nodes: () => ReadonlyMap<string, KnownNode>;
  clock: Clock;
  logger: Logger;
  metrics?: UsageMetrics;
  /** Replaces the client for `endpoint`. */
  client?: PrometheusClient;
}

const DEADLINE_PER_INTERVAL = 0.8;
/** Passes are slow from this part of their deadline on: before 90 %, from where on readings have no time (readingTime.ts). */
const SLOW_FROM = 0.75;
/** Slow passes are so until one takes less than this part: a message in a status must not come and go with each pass. */
const SLOW_UNTIL = 0.5;
type Outcome = Omit<Snapshot, 'pass'>;
const FAILED: Omit<Outcome, 'startedAt'> = {
  ok: false,
  nodes: new Map(),
  warnings: [],
  unmatchedSeries: 0,
  unmatchedExamples: [],
  ambiguousSeries: 0,
  ambiguousExamples: [],
};

/**
 * Creates the feed of one endpoint and query. All consumers share it, so each query is sent once per pass. If a pass is
 * still running at the next tick, that tick is skipped. Each endpoint has its own feed, so that a slow server does not
 * delay the others.
 *
 * Throws PrometheusError BadConfiguration for an invalid endpoint or query.
 */
export function createUsageFeed(options: UsageFeedOptions): UsageFeed {
  return new Feed(options);
}

class Feed implements UsageFeed {
  passes: readonly Snapshot[] = [];
  startedAt: number;
  readonly #options: UsageFeedOptions;
  readonly #client: PrometheusClient;
  readonly #deadlineMs: number;
  readonly #history: History;
  #demand: PassDemand = NOTHING_ASKED;
  /** Reads earlier passes, if the current one succeeded. */
  #readPast: ReadPast | undefined;
  #isSlow = false;
  /** Monotonic start of the current pass, milliseconds. One value is enough, because passes never overlap. */
  #passStart = 0;
  readonly #snapshots = new Subject<Snapshot>();
  readonly snapshots = this.#snapshots.asObservable();

  constructor(options: UsageFeedOptions) {
    checkQuery(options.query());
    this.#options = options;
    this.#client = options.client ?? createPrometheusClient(options.endpoint);
    this.#deadlineMs = options.deadlineMs ?? options.intervalMs * DEADLINE_PER_INTERVAL;
    this.startedAt = options.clock.now();
    this.#history = new History({ ...options, deadlineMs: this.#deadlineMs });
  }

  get windowMs(): number {
    return this.#options.query().windowSeconds * 1000;
  }

  follow(demand: PassDemand): void {
    this.#demand = demand;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs } = this.#options;
    this.startedAt = clock.now();
    const collectors = new Collectors(this.#options.query, (query) => this.#collector(query, signal));
    const done = ticks(clock, intervalMs).pipe(
      exhaustMap(() => from(this.#pass(collectors.current(), signal))),
      filter((outcome) => outcome !== undefined),
      scan((last, outcome) => ({ ...outcome, pass: last.pass + 1 }), NO_PASS),
      tap((snapshot) => {
        this.#tryTo('publishing a pass', () => this.#publish(snapshot));
        this.#tryTo('reading earlier passes', () => this.#readHistory(signal));
      }),
      takeUntil(fromEvent(signal, 'abort')),
    );
    if (!signal.aborted) await lastValueFrom(done, { defaultValue: undefined });
    this.#snapshots.complete();
    await Promise.all([collectors.settled(), this.#history.settled()]);
    this.#client.close();
  }

  #collector(query: UsageQuery, stopped: AbortSignal): UsageCollector {
    const { clock, metrics } = this.#options;
    const queries = new QueryRunner({ client: this.#client, query, clock, metrics });
    const background: Background = (work, atLeastMs = 0) =>
      within({ clock, stopped, timeoutMs: Math.max(this.#deadlineMs, atLeastMs) }, work);
    return new UsageCollector({ queries, query, clock, background });
  }

  /** Undefined if the feed was stopped during the pass. Never rejects. */
  async #pass(collector: UsageCollector, stopped: AbortSignal): Promise<Outcome | undefined> {
    const { clock, nodes } = this.#options;
    const startedAt = clock.now();
    this.#passStart = clock.monotonic();
    this.#readPast = undefined;
    try {
      const limits = { clock, stopped, timeoutMs: this.#deadlineMs };
      const known = nodes();
      const { readings } = this.#demand;
      const finding = await within(limits, (deadline) => collector.next(known, startedAt, deadline, readings));
      this.#readPast = (then, deadline, lacking) =>
        collector.past(known, then, (clock.now() - then) / 1000, deadline, lacking);
      this.#isSlow = clock.monotonic() - this.#passStart >= (this.#isSlow ? SLOW_UNTIL : SLOW_FROM) * this.#deadlineMs;
      return { startedAt, ...finding, ...(this.#isSlow && { isSlow: true }) };
    } catch (error) {
      return stopped.aborted ? undefined : { ...FAILED, startedAt, error: this.#explain(error) };
    }
  }

  #explain(error: unknown): { reason: string; message: string } {
    if (error instanceof PrometheusError) return { reason: error.reason, message: error.message };
    this.#options.logger.error({ err: error }, 'pass failed');
    return { reason: 'Internal', message: 'internal error during the pass, see the log of the operator' };
  }

  /** An error in a subscriber, a metric or the demand must not stop the feed. */
  #tryTo(what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.logger.error({ err: error }, `${what} failed`);
    }
  }

  #readHistory(stopped: AbortSignal): void {
    if (this.#readPast) this.#history.read(this.passes, this.#demand, this.#readPast, stopped);
  }

  #publish(snapshot: Snapshot): void {
    this.#logTransition(snapshot);
    this.passes = keptPasses([snapshot, ...this.#history.complete(this.passes)], this.#demand);
    this.#snapshots.next(snapshot);
    this.#options.metrics?.passEnded(snapshot, (this.#options.clock.monotonic() - this.#passStart) / 1000);
  }

  #logTransition(now: Snapshot): void {
    const { logger } = this.#options;
    const { ok, error } = now;
    const [before] = this.passes;
    if (error && error.reason !== before?.error?.reason) logger.warn({ ...error }, 'Prometheus gives no usable answer');
    if (ok && before?.ok === false) logger.info('Prometheus answers again');
    if (now.isSlow && !before?.isSlow)
      logger.warn({ deadlineMs: this.#deadlineMs }, 'passes take most of their deadline');
    if (hasNewlyUnattributed(now, before))
      logger.info({ found: describeUnattributed(now) }, 'some series do not belong to exactly one node');
  }
}

/** The collector of the present settings: after other ones, a new one, since facts and labels of one Prometheus say nothing of another. */
class Collectors {
  readonly #query: () => UsageQuery;
  readonly #create: (query: UsageQuery) => UsageCollector;
  readonly #retired: Promise<void>[] = [];
  #present: { readonly query: UsageQuery; readonly collector: UsageCollector };

  /** @param query returns the same object as long as the settings are the same */
  constructor(query: () => UsageQuery, create: (query: UsageQuery) => UsageCollector) {
    this.#query = query;
    this.#create = create;
    const first = query();
    this.#present = { query: first, collector: create(first) };
  }

  /** For the next pass. */
  current(): UsageCollector {
    const query = this.#query();
    if (query !== this.#present.query) {
      this.#retired.push(this.#present.collector.settled());
      this.#present = { query, collector: this.#create(query) };
    }
    return this.#present.collector;
  }

  /** Resolves when no background query is running. */
  async settled(): Promise<void> {
    await Promise.all([...this.#retired, this.#present.collector.settled()]);
  }
}

/** Emits at once and then every `intervalMs`, like timer(0, intervalMs) of rxjs but with an injected clock. */
function ticks(clock: Clock, intervalMs: number): Observable<void> {
  return new Observable((subscriber) => {
    const tick = (): void => {
      timer = clock.setTimeout(tick, intervalMs);
      subscriber.next();
    };
    let timer = clock.setTimeout(tick, 0);
    return () => timer.cancel();
  });
}
