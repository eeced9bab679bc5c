import { systemClock, type Clock } from '../process/clock.ts';
import type { Logger } from '../process/logger.ts';

/**
 * How long Prometheus keeps a series in memory after its last sample, ms. Its head spans up to three hours, 1.5 times the two hours
 * of a block: https://prometheus.io/docs/prometheus/latest/storage/
 */
export const IN_MEMORY_MS = 3 * 3_600_000;

/** Owners that a budget has warned about within IN_MEMORY_MS, at most: a log line for each. */
const MOST_WARNINGS = 100;

/** How many different series may exist within IN_MEMORY_MS. Those that have ended meanwhile count. */
export interface SeriesLimits {
  /** The limit of one owner, such as a namespace. */
  readonly ofOwner: number;
  readonly ofAll: number;
}

/** A series, or several that begin and end together, which users name. */
export interface NamedSeries {
  /** Who chooses the name: a namespace, or the name of a cluster-wide object. Without spaces. */
  readonly owner: string;
  /** Unique for the object that shows it. */
  readonly id: string;
}

/** Where a budget reports. */
interface BudgetReports {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Receives the number of series that are left out now, whenever it changes. */
  readonly leftOut?: ((count: number) => void) | undefined;
  readonly logger?: Pick<Logger, 'warn'> | undefined;
}

/**
 * Bounds the series whose labels users choose. A user can replace objects in a loop, each with a new name. Prometheus keeps the series
 * of all of them in memory for up to three hours, so a limit of the present series bounds nothing. A budget therefore counts the
 * different series within that time:
 *
 * | A series that | gets a place |
 * |---|---|
 * | has a place, or had one within IN_MEMORY_MS | always: Prometheus has it already |
 * | is new | if its owner has fewer than `ofOwner`, and fewer than the places that are free for all |
 *
 * With the last rule one owner cannot take all places: it leaves at least as many free as it has. Each further owner that takes all it can
 * halves what is free, since no place can be taken back: names beyond have no series until places are free again.
 *
 * The work for a series does not depend on how many there are. A restart of the process loses the count.
 */
export class SeriesBudget {
  readonly #limits: SeriesLimits;
  readonly #reports: BudgetReports;
  /** The series of each object that have a place: their keys and owners. */
  readonly #shown = new Map<string, ReadonlyMap<string, string>>();
  /** The series that ended within IN_MEMORY_MS, in the order of their ends, and not shown since. */
  readonly #ended = new Map<string, { readonly owner: string; readonly at: number }>();
  /** Series of each owner that have a place, or had one within IN_MEMORY_MS. */
  readonly #counts = new Map<string, number>();
  #count = 0;
  /** Series of each object that have no place. */
  readonly #leftOut = new Map<string, number>();
  #leftOutCount = 0;
  /** When the log last named an owner, in the order of these times. */
  readonly #warnings = new Map<string, number>();

  constructor(limits: SeriesLimits, reports: BudgetReports) {
    this.#limits = limits;
    this.#reports = reports;
    this.#reports.leftOut?.(0);
  }

  /**
   * Replaces the series of an object.
   *
   * @param wanted its series, the most important first
   * @returns the ids of those that have a place
   */
  show(object: string, wanted: Iterable<NamedSeries>): ReadonlySet<string> {
    this.#expire();
    const before = this.#shown.get(object) ?? NONE;
    const now = new Map<string, string>();
    const ids = new Set<string>();
    let leftOut = 0;
    for (const { owner, id } of wanted) {
      const key = `${owner} ${object} ${id}`;
      if (now.has(key)) continue;
      if (before.has(key) || this.#takes(key, owner)) {
        now.set(key, owner);
        ids.add(id);
      } else {
        leftOut += 1;
        this.#warn(owner);
      }
    }
    const at = this.#reports.clock.monotonic();
    for (const [key, owner] of before) if (!now.has(key)) this.#ended.set(key, { owner, at });
    if (now.size > 0) this.#shown.set(object, now);
    else this.#shown.delete(object);
    this.#noteLeftOut(object, leftOut);
    return ids;
  }

  /** Ends the series of an object. */
  forget(object: string): void {
    this.show(object, []);
  }

  #takes(key: string, owner: string): boolean {
    if (this.#ended.delete(key)) return true;
    const count = this.#counts.get(owner) ?? 0;
    const { ofOwner, ofAll } = this.#limits;
    if (count >= Math.min(ofOwner, ofAll - this.#count)) return false;
    this.#counts.set(owner, count + 1);
    this.#count += 1;
    return true;
  }

  /** Frees the places of series that Prometheus no longer has in memory. */
  #expire(): void {
    const last = this.#reports.clock.monotonic() - IN_MEMORY_MS;
    for (const [key, { owner, at }] of this.#ended) {
      if (at > last) return;
      this.#ended.delete(key);
      const count = (this.#counts.get(owner) ?? 0) - 1;
      if (count > 0) this.#counts.set(owner, count);
      else this.#counts.delete(owner);
      this.#count -= 1;
    }
  }

  #noteLeftOut(object: string, count: number): void {
    const before = this.#leftOut.get(object) ?? 0;
    if (count > 0) this.#leftOut.set(object, count);
    else this.#leftOut.delete(object);
    this.#leftOutCount += count - before;
    if (count !== before) this.#reports.leftOut?.(this.#leftOutCount);
  }

  #warn(owner: string): void {
    if (this.#reports.logger === undefined) return;
    const now = this.#reports.clock.monotonic();
    for (const [earlier, at] of this.#warnings) {
      if (now - at < IN_MEMORY_MS) break;
      this.#warnings.delete(earlier);
    }
    if (this.#warnings.has(owner) || this.#warnings.size >= MOST_WARNINGS) return;
    this.#warnings.set(owner, now);
    this.#reports.logger.warn(
      { owner, limits: this.#limits },
      'series left out of the metrics: too many names are new',
    );
  }
}

const NONE: ReadonlyMap<string, string> = new Map();

/** Creates the budget of one kind of series. */
export type CreateBudget = (kind: string, limits: SeriesLimits) => SeriesBudget;

/** Creates budgets that report how many series of each kind are left out. */
export function seriesBudgets({
  clock,
  logger,
  metrics,
}: {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: { readonly seriesLeftOut: (kind: string, count: number) => void };
}): CreateBudget {
  return (kind, limits) =>
    new SeriesBudget(limits, {
      clock,
      logger: logger.child({ kind }),
      leftOut: (count) => metrics.seriesLeftOut(kind, count),
    });
}

/** Creates budgets that report nothing. */
export const silentBudgets: CreateBudget = (_kind, limits) => new SeriesBudget(limits, { clock: systemClock });
