import { exhaustMap, filter, from, fromEvent, lastValueFrom, scan, Subject, takeUntil, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import type { Clock } from '../../runtime/process/clock.ts';
import type { Logger } from '../../runtime/process/logger.ts';
import type { PrometheusEndpoint } from '../../prometheus/endpoint.ts';
import type { KnownNode } from '../../nodes/nodeNames.ts';
import { within, type Deadline } from '../../prometheus/deadline.ts';
import { Collectors } from './collectors.ts';
import { UsageCollector } from './usageCollector.ts';
import { createPrometheusClient } from '../../prometheus/prometheusClient.ts';
import type { PrometheusClient } from '../../prometheus/prometheusClient.ts';
import { PrometheusError } from '../../prometheus/prometheusError.ts';
import { checkQuery } from './queries.ts';
import type { UsageQuery } from './queries.ts';
import { QueryRunner } from './queryRunner.ts';
import type { Background, UsageMetrics } from './queryRunner.ts';
import { NO_READINGS, type Readings } from '../evaluate/reading.ts';
import { withReadings, type Snapshot } from '../evaluate/snapshot.ts';
import { describeUnattributed, hasNewlyUnattributed } from '../evaluate/unattributedSeries.ts';
import { ticks } from './ticks.ts';

/** Number of passes that the feed keeps at least: a verdict compares two. */
const PASSES_KEPT = 2;

/** Before the first pass. */
const NO_PASS = { pass: 0 } as Snapshot;

/** What passes must give. It may change between two passes. */
export interface PassDemand {
  /**
   * How many passes to keep at least, more than two if a verdict compares more. Earlier ones that were not run, since the
   * operator was not running or kept fewer, are read from Prometheus with the next pass. A node that is measured by a veth
   * or macvlan uplink has no figure in these.
   */
  readonly passes: number;
  /**
   * The readings to evaluate, besides the default one. A reading that stays is the same object: it identifies what was
   * compiled for it. While the feed keeps more than two passes, those that lack a reading are read from Prometheus again,
   * as for `passes`. See `asRead` for the figures.
   */
  readonly readings: Readings;
}

const NO_DEMAND: PassDemand = { passes: PASSES_KEPT, readings: NO_READINGS };

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
   * Returns the settings of the next pass. Other ones than those of the pass before, by identity, are of another Prometheus: what was
   * read of it before is forgotten.
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
const FILL_AGAIN_AFTER_MS = 60_000;
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
  #demand = NO_DEMAND;
  /** The demand at the start of the current pass. */
  #asked = NO_DEMAND;
  /** When the past may be read again after a failure: monotonic milliseconds. */
  #fillAgainAt = 0;
  /** Passes that were evaluated again, by further readings: they replace those of `passes` when the current pass ends. */
  #amended = new Map<Snapshot, Snapshot>();
  /** Passes read from the past, newest first; they are added behind those of `passes` when the current pass ends. */
  #past: readonly Snapshot[] = [];
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
      tap((snapshot) => this.#tryToPublish(snapshot)),
      takeUntil(fromEvent(signal, 'abort')),
    );
    if (!signal.aborted) await lastValueFrom(done, { defaultValue: undefined });
    this.#snapshots.complete();
    await collectors.settled();
    this.#client.close();
  }

  #collector(query: UsageQuery, stopped: AbortSignal): UsageCollector {
    const { clock, metrics } = this.#options;
    const queries = new QueryRunner({ client: this.#client, query, clock, ...(metrics && { metrics }) });
    const background: Background = (work, atLeastMs = 0) =>
      within({ clock, stopped, timeoutMs: Math.max(this.#deadlineMs, atLeastMs) }, work);
    return new UsageCollector({ queries, query, clock, background });
  }

  /** Undefined if the feed was stopped during the pass. Never rejects. */
  async #pass(collector: UsageCollector, stopped: AbortSignal): Promise<Outcome | undefined> {
    const { clock, nodes } = this.#options;
    const startedAt = clock.now();
    this.#passStart = clock.monotonic();
    try {
      const limits = { clock, stopped, timeoutMs: this.#deadlineMs };
      const known = nodes();
      const { passes, readings } = this.#demand;
      this.#asked = { passes: Math.max(passes, PASSES_KEPT), readings };
      const finding = await within(limits, (deadline) => collector.next(known, startedAt, deadline, readings));
      await this.#fillHistory(collector, known, startedAt, stopped);
      return { startedAt, ...finding };
    } catch (error) {
      return stopped.aborted ? undefined : { ...FAILED, startedAt, error: this.#explain(error) };
    }
  }

  /**
   * Reads the passes that are missing for the depth that is asked for, one query each, as they would have been, and the
   * readings that kept passes lack. The figures use the present capacities. All queries together take at most as long as
   * a pass. What is missing after a failure is read a minute later, also if only the receive rates of a pass failed; until
   * then, verdicts that need more passes wait.
   */
  async #fillHistory(
    collector: UsageCollector,
    nodes: ReadonlyMap<string, KnownNode>,
    passStartedAt: number,
    stopped: AbortSignal,
  ): Promise<void> {
    const { clock, intervalMs, logger } = this.#options;
    if (this.#asked.passes === PASSES_KEPT || clock.monotonic() < this.#fillAgainAt) return;
    const unread = this.passes
      .slice(0, this.#asked.passes - 1)
      .filter((pass) => pass.ok && this.#lacking(pass).size > 0);
    if (unread.length === 0 && this.passes.length + 1 >= this.#asked.passes) return;
    const oldest = this.passes.at(-1)?.startedAt ?? passStartedAt;
    const limits = { clock, stopped, timeoutMs: this.#deadlineMs };
    const past = (startedAt: number, deadline: Deadline, readings: Readings): ReturnType<UsageCollector['past']> =>
      collector.past(nodes, startedAt, (clock.now() - startedAt) / 1000, deadline, readings);
    const fill = async (deadline: Deadline): Promise<void> => {
      for (const pass of unread) {
        const { readings } = await past(pass.startedAt, deadline, this.#lacking(pass));
        this.#amended.set(pass, withReadings(pass, succeeded(readings)));
        throwIfFailed(readings);
      }
      for (let before = 1; this.passes.length + before < this.#asked.passes; before++) {
        const startedAt = oldest - before * intervalMs;
        const finding = await past(startedAt, deadline, this.#asked.readings);
        const pass = (this.passes[0]?.pass ?? 0) - this.passes.length + 1 - before;
        const readings = succeeded(finding.readings);
        this.#past = [...this.#past, { ...finding, ...(readings && { readings }), startedAt, pass }];
        throwIfFailed(finding.readings);
      }
    };
    try {
      await within(limits, fill);
    } catch (error) {
      this.#fillAgainAt = clock.monotonic() + FILL_AGAIN_AFTER_MS;
      if (!stopped.aborted) logger.warn({ err: error }, 'earlier passes cannot be read');
    }
  }

  /** The readings that are asked for and that the pass did not evaluate. */
  #lacking({ readings }: Snapshot): Readings {
    return new Map([...this.#asked.readings].filter(([key]) => readings?.has(key) !== true));
  }

  #explain(error: unknown): { reason: string; message: string } {
    if (error instanceof PrometheusError) return { reason: error.reason, message: error.message };
    this.#options.logger.error({ err: error }, 'pass failed');
    return { reason: 'Internal', message: 'internal error during the pass, see the log of the operator' };
  }

  /** An error in a subscriber or a metric must not stop the feed. */
  #tryToPublish(snapshot: Snapshot): void {
    try {
      this.#publish(snapshot);
    } catch (error) {
      this.#options.logger.error({ err: error }, 'publishing a pass failed');
    }
  }

  #publish(snapshot: Snapshot): void {
    this.#logTransition(snapshot);
    const before = this.passes.map((pass) => this.#amended.get(pass) ?? pass);
    this.passes = [snapshot, ...before, ...this.#past].slice(0, this.#asked.passes);
    this.#past = [];
    this.#amended.clear();
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
      logger.info({ found: describeUnattributed(now) }, 'some series do not belong to exactly one node');
  }
}

type Figures = Snapshot['readings'];

/** The readings whose rates were read. */
function succeeded(readings: Figures): Figures {
  return readings && new Map([...readings].filter(([, { error }]) => error === undefined));
}

/** @throws Error if the rates of a reading could not be read */
function throwIfFailed(readings: Figures): void {
  for (const { error } of readings?.values() ?? []) {
    if (error !== undefined) throw new Error(error.message);
  }
}
