import type { NodeResolver } from '../../nodes/nodeNames.ts';
import type { Clock } from '../../runtime/process/clock.ts';
import { windowIsTooShort, type Lag, type Snapshot } from '../evaluate/snapshot.ts';
import type { UsageQuery } from './queries.ts';
import type { Background, QueryRunner } from './queryRunner.ts';
import { Refreshed } from './refreshed.ts';

/**
 * Longest gap between two low counts, in rate windows. After a longer gap, the earlier low counts are ignored. It is
 * more than one window, because passes can be further apart than that.
 */
const LONGEST_GAP_WINDOWS = 3;

/**
 * Determines how many scrapes the rate window has, from repeated counts. Accepts a low count only if counts stay low
 * for the length of the window: after a start of the server, or after a gap in its scrapes, the window is not full yet.
 * Two low counts after two separate outages do not add up.
 */
export class WindowSamples {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #windowMs: number;
  #fewSince: number | undefined;
  #fewAt = -Infinity;
  #value: number | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>, windowSeconds: number) {
    this.#clock = clock;
    this.#windowMs = windowSeconds * 1000;
  }

  /** The number of scrapes. Undefined until it is known. */
  get value(): number | undefined {
    return this.#value;
  }

  /** True while a low count is not confirmed: count again soon. */
  get isOpen(): boolean {
    return this.#fewSince !== undefined && !windowIsTooShort({ samplesPerWindow: this.#value });
  }

  /** Records a count. @param samples undefined if there was no series to count */
  counted(samples: number | undefined): void {
    const now = this.#clock.monotonic();
    if (windowIsTooShort({ samplesPerWindow: samples })) {
      const isContinued = now - this.#fewAt <= LONGEST_GAP_WINDOWS * this.#windowMs;
      this.#fewSince = isContinued ? (this.#fewSince ?? now) : now;
      this.#fewAt = now;
      if (now - this.#fewSince < this.#windowMs) return;
    } else if (samples !== undefined) {
      this.#fewSince = undefined;
    }
    this.#value = samples;
  }
}

/** Interval of each of the two queries. */
const EVERY_MS = 60_000;

/** Asks in the background how often and how late samples reach the server. */
export class Sampling {
  readonly #queries: QueryRunner;
  readonly #query: UsageQuery;
  readonly #background: Background;
  readonly #counts: Refreshed<void>;
  readonly #lag: Refreshed<Lag>;
  readonly #samples: WindowSamples;

  constructor(o: { queries: QueryRunner; query: UsageQuery; clock: Clock; background: Background }) {
    this.#queries = o.queries;
    this.#query = o.query;
    this.#background = o.background;
    this.#counts = new Refreshed<void>(o.clock, EVERY_MS);
    this.#lag = new Refreshed<Lag>(o.clock, EVERY_MS);
    this.#samples = new WindowSamples(o.clock, o.query.windowSeconds);
  }

  /** The results so far. */
  get value(): Lag & Pick<Snapshot, 'samplesPerWindow'> {
    const { windowSeconds, scrapeIntervalSeconds: interval } = this.#query;
    const samples = interval === undefined ? this.#samples.value : Math.floor(windowSeconds / interval);
    return { ...(samples === undefined ? {} : { samplesPerWindow: samples }), ...this.#lag.value };
  }

  /** Asks again what is due. Does not count scrapes if their interval is known. */
  refresh(resolver: NodeResolver): void {
    this.#lag.refresh(() => this.#background((deadline) => this.#queries.lag(resolver, deadline)));
    if (this.#query.scrapeIntervalSeconds !== undefined) return;
    if (this.#samples.isOpen) this.#counts.expire();
    this.#counts.refresh(async () => {
      this.#samples.counted(await this.#background((deadline) => this.#queries.samplesPerWindow(deadline)));
    });
  }

  /** Resolves when no query is running. */
  async settled(): Promise<void> {
    await Promise.all([this.#counts.settled(), this.#lag.settled()]);
  }
}
