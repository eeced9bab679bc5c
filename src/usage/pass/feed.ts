import { exhaustMap, filter, from, fromEvent, lastValueFrom, scan, Subject, takeUntil, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { PrometheusEndpoint } from '../../prometheus/endpoint.ts';
import type { KnownNode } from '../../nodes/nodeNames.ts';
import { within } from '../../prometheus/deadline.ts';
import { UsageCollector } from './usageCollector.ts';
import { createPrometheusClient } from '../../prometheus/prometheusClient.ts';
import type { PrometheusClient } from '../../prometheus/prometheusClient.ts';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import { checkQuery } from './queries.ts';
import type { UsageQuery } from './queries.ts';
import { QueryRunner } from './queryRunner.ts';
import type { Background, UsageMetrics } from './queryRunner.ts';
import type { Snapshot } from '../evaluate/snapshot.ts';
import { describeUnattributed, hasNewlyUnattributed } from '../evaluate/unattributedSeries.ts';
import { ticks } from './ticks.ts';

/** How many passes are kept: a verdict compares two. */
const PASSES_KEPT = 2;

/** Before the first pass. */
const NO_PASS = { pass: 0 } as Snapshot;

/** One endpoint's usage of all nodes, pass after pass, for everybody who wants to know it. */
export interface UsageFeed {
  /** The last passes, newest first; empty before the first one has ended. The same array until the next pass ends. */
  readonly passes: readonly Snapshot[];
  /** When it began to run, by our own clock, milliseconds since 1970; before, when it was made. */
  readonly startedAt: number;
  /** Each pass as it ends, when it is the first of `passes` already. Never errs; completes when the feed is stopped. */
  readonly snapshots: Observable<Snapshot>;
  /** Asks until the signal is aborted. Never rejects. To be called once. */
  run(signal: AbortSignal): Promise<void>;
}

export interface UsageFeedOptions {
  endpoint: PrometheusEndpoint;
  query: UsageQuery;
  /** Time between the starts of two passes, milliseconds. */
  intervalMs: number;
  /** Longest time of a pass; four fifths of the interval unless told. */
  deadlineMs?: number;
  /**
   * The nodes there are, asked at the start of each pass. A map is not to change in place: as long as it is the same, a
   * series is taken to be of the node that it was of.
   */
  nodes: () => ReadonlyMap<string, KnownNode>;
  clock: Clock;
  logger: Logger;
  metrics?: UsageMetrics;
  /** Asks with this instead of a client for `endpoint`. */
  client?: PrometheusClient;
}

const DEADLINE_PER_INTERVAL = 0.8;
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
 * Makes the feed of one endpoint and query, which all that need it share: what is asked once a tick is asked once. A
 * pass that is still running when the next is due takes its place. Each endpoint has a feed of its own, so that a slow
 * server holds up no other.
 *
 * Throws PrometheusError BadConfiguration for an endpoint or a query that can't work.
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
  /** Passes never overlap: one start is enough. */
  #passStart = 0;
  readonly #snapshots = new Subject<Snapshot>();
  readonly snapshots = this.#snapshots.asObservable();

  constructor(options: UsageFeedOptions) {
    checkQuery(options.query);
    this.#options = options;
    this.#client = options.client ?? createPrometheusClient(options.endpoint);
    this.#deadlineMs = options.deadlineMs ?? options.intervalMs * DEADLINE_PER_INTERVAL;
    this.startedAt = options.clock.now();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs } = this.#options;
    this.startedAt = clock.now();
    const collector = this.#collector(signal);
    const done = ticks(clock, intervalMs).pipe(
      exhaustMap(() => from(this.#pass(collector, signal))),
      filter((outcome) => outcome !== undefined),
      scan((last, outcome) => ({ ...outcome, pass: last.pass + 1 }), NO_PASS),
      tap((snapshot) => this.#tryToPublish(snapshot)),
      takeUntil(fromEvent(signal, 'abort')),
    );
    if (!signal.aborted) await lastValueFrom(done, { defaultValue: undefined });
    this.#snapshots.complete();
    await collector.settled();
    this.#client.close();
  }

  #collector(stopped: AbortSignal): UsageCollector {
    const { query, clock, metrics } = this.#options;
    const queries = new QueryRunner({ client: this.#client, query, clock, ...(metrics && { metrics }) });
    const background: Background = (work, atLeastMs = 0) =>
      within({ clock, stopped, timeoutMs: Math.max(this.#deadlineMs, atLeastMs) }, work);
    return new UsageCollector({ queries, query, clock, background });
  }

  /** Undefined when the feed was stopped meanwhile. Never rejects. */
  async #pass(collector: UsageCollector, stopped: AbortSignal): Promise<Outcome | undefined> {
    const { clock, nodes } = this.#options;
    const startedAt = clock.now();
    this.#passStart = clock.monotonic();
    try {
      const limits = { clock, stopped, timeoutMs: this.#deadlineMs };
      return { startedAt, ...(await within(limits, (deadline) => collector.next(nodes(), startedAt, deadline))) };
    } catch (error) {
      return stopped.aborted ? undefined : { ...FAILED, startedAt, error: this.#explain(error) };
    }
  }

  #explain(error: unknown): { reason: string; message: string } {
    if (error instanceof PrometheusError) return { reason: error.reason, message: error.message };
    this.#options.logger.error({ err: error }, 'pass failed');
    return { reason: 'Internal', message: 'the pass failed for a reason of its own, see the log' };
  }

  /** What a listener to metrics throws is its own affair. */
  #tryToPublish(snapshot: Snapshot): void {
    try {
      this.#publish(snapshot);
    } catch (error) {
      this.#options.logger.error({ err: error }, 'publishing a pass failed');
    }
  }

  #publish(snapshot: Snapshot): void {
    this.#logTransition(snapshot);
    this.passes = [snapshot, ...this.passes].slice(0, PASSES_KEPT);
    this.#snapshots.next(snapshot);
    this.#options.metrics?.passEnded(snapshot, (this.#options.clock.monotonic() - this.#passStart) / 1000);
  }

  #logTransition(now: Snapshot): void {
    const { logger } = this.#options;
    const { ok, error } = now;
    const [before] = this.passes;
    if (error && error.reason !== before?.error?.reason) logger.warn({ ...error }, 'Prometheus gives no usable answer');
    if (ok && before?.ok === false) logger.info('Prometheus answers again');
    if (hasNewlyUnattributed(now, before))
      logger.info({ found: describeUnattributed(now) }, 'not every series has its node');
  }
}
