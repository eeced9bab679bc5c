import { DEFAULT_KEY, readingKey, type Reading, type Readings } from '../../../usage/evaluate/reading.ts';
import { asRead, type Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { hasFigure } from './passViews.ts';

/** The readings for which passes are remembered. */
interface MemoryDemand {
  /**
   * Readings whose outages are followed, besides the default reading: receive rates can be missing while transmit rates
   * exist.
   */
  readonly readings: Pick<Readings, 'keys'>;
  /**
   * The keys of the readings for which the time since nodes have had no figure is remembered. The next pass drops the times of
   * other readings.
   */
  readonly missing: Iterable<string>;
}

/** Remembers results of passes that the feed no longer keeps. A new process starts without them. */
export class PassMemory {
  readonly #windowMs: () => number;
  readonly #demand: MemoryDemand;
  /** By the key of the reading: a node may have a figure for one reading and none for another. */
  #missing: ReadonlyMap<string, MissingNodes> = new Map();
  #outages: ReadonlyMap<string, Outages> = new Map([[DEFAULT_KEY, NO_OUTAGE]]);

  /**
   * @param windowMs length of the present rate window
   * @param demand read with each pass
   */
  constructor(windowMs: () => number, demand: MemoryDemand) {
    this.#windowMs = windowMs;
    this.#demand = demand;
  }

  /**
   * Call with each pass, in their order.
   * @param notMeasurable the nodes that could not be measured before the pass, by name. Of a node that has just returned,
   * the pass counts no time yet.
   */
  saw(pass: Snapshot, notMeasurable: ReadonlyMap<string, unknown>): void {
    // A reading that is new begins with what is known of the default one.
    const outagesBefore = (key: string): Outages =>
      this.#outages.get(key) ?? this.#outages.get(DEFAULT_KEY) ?? NO_OUTAGE;
    const outages = (key: string): Outages => nextOutages(outagesBefore(key), asRead(pass, key), this.#windowMs());
    const followed = [DEFAULT_KEY, ...this.#demand.readings.keys()];
    this.#outages = new Map(followed.map((key) => [key, outages(key)]));
    const next = (key: string): MissingNodes =>
      // A pass that did not evaluate the reading has a figure of no node then: it says nothing of any.
      nextMissing(this.#missing.get(key) ?? NOTHING_MISSING, asRead(pass, key), notMeasurable);
    this.#missing = new Map([...this.#demand.missing].map((key) => [key, next(key)]));
  }

  /** Whether the rate window of the reading in the newest pass is only partly filled after an outage. */
  isWindowFilling(newest: Snapshot | undefined, reading: Reading): boolean {
    const outages = this.#outages.get(readingKey(reading)) ?? this.#outages.get(DEFAULT_KEY) ?? NO_OUTAGE;
    return isWindowFilling(outages, newest, this.#windowMs());
  }

  /**
   * Node name -> since when it has no figure for the reading: ms since the epoch by our clock. Never changed in place.
   * Empty for a reading that is not tracked.
   */
  missingSince(reading: Reading): ReadonlyMap<string, number> {
    return (this.#missing.get(readingKey(reading)) ?? NOTHING_MISSING).since;
  }
}

/** The outages of the measurement that the passes show, for one reading. */
export interface Outages {
  /** Start of the last pass with a figure of any node: ms since the epoch by our clock. Undefined before the first. */
  readonly lastPassAt: number | undefined;
  /** The outage that goes on; undefined if the last pass had figures. */
  readonly current: { readonly since: number; readonly passes: number; readonly lostData: boolean } | undefined;
  /** When figures were back after the last outage: the start of that pass. Undefined without an outage. */
  readonly backAt: number | undefined;
}

/** Before the first pass. */
export const NO_OUTAGE: Outages = { lastPassAt: undefined, current: undefined, backAt: undefined };

/** A single pass that fails is no outage: with a slow Prometheus every third pass may, and verdicts must still come. */
const LEAST_FAILED_PASSES = 2;

/**
 * The outages after another pass. After an outage the rate window is only partly filled, and its rates are of few scrapes.
 * Figures are rates here: a node without a known capacity has one, and spec.capacity may make a percent of it.
 *
 * | pass                          | before it                                              | then                   |
 * |-------------------------------|--------------------------------------------------------|------------------------|
 * | did not evaluate the reading  | any                                                    | as before              |
 * | failed                        | any                                                    | an outage goes on      |
 * | has a figure of no node       | any                                                    | an outage goes on: the scrapes in the window are lost |
 * | has figures                   | no outage                                              | none                   |
 * | has figures                   | scrapes were lost                                      | figures are back now   |
 * | has figures                   | two passes or more failed, for more than half a window | figures are back now   |
 * | has figures                   | a shorter outage                                       | none: the window has scrapes from before |
 * | no nodes                      | any                                                    | as before              |
 *
 * The length of an outage is from the last pass with figures to the next one. Before the first one it is from the first
 * pass of the process.
 */
export function nextOutages(before: Outages, pass: Snapshot, windowMs: number): Outages {
  if (hasRate(pass)) {
    const isOver = before.current !== undefined && counts(before.current, pass, windowMs);
    return { lastPassAt: pass.startedAt, current: undefined, backAt: isOver ? pass.startedAt : before.backAt };
  }
  if (pass.unread !== undefined || (pass.ok && pass.nodes.size === 0)) return before;
  const { since = before.lastPassAt ?? pass.startedAt, passes = 0, lostData = false } = before.current ?? {};
  return { ...before, current: { since, passes: passes + 1, lostData: lostData || pass.ok } };
}

function hasRate({ ok, nodes }: Snapshot): boolean {
  if (!ok) return false;
  for (const { percent, bytesPerSecond } of nodes.values()) {
    if (percent !== undefined || bytesPerSecond !== undefined) return true;
  }
  return false;
}

function counts(
  { since, passes, lostData }: NonNullable<Outages['current']>,
  back: Snapshot,
  windowMs: number,
): boolean {
  return lostData || (passes >= LEAST_FAILED_PASSES && back.startedAt - since > windowMs / 2);
}

/** Whether the rate window has been filling since the last outage: less than one window has passed since figures are back. */
export function isWindowFilling(
  { backAt }: Pick<Outages, 'backAt'>,
  newest: Snapshot | undefined,
  windowMs: number,
): boolean {
  if (backAt === undefined || newest === undefined) return false;
  const elapsed = newest.startedAt - backAt;
  return elapsed >= 0 && elapsed < windowMs;
}

/** Since when nodes have no figure, as far as the passes of this process show. */
export interface MissingNodes {
  /** Node name -> the start of the first pass without a figure of it: ms since the epoch by our clock. */
  readonly since: ReadonlyMap<string, number>;
  /** Start of the last pass that had a figure of any node and no warning; undefined if there was none. */
  readonly lastPassAt: number | undefined;
  /** True if later passes were not like that. */
  readonly isInterrupted: boolean;
}

/** The state before the first pass: a start of the operator resets the time without a figure. */
export const NOTHING_MISSING: MissingNodes = { since: new Map(), lastPassAt: undefined, isInterrupted: false };

/**
 * Returns the nodes without a figure after a further pass.
 *
 * | pass                              | node                       | without a figure since                       |
 * |-----------------------------------|----------------------------|----------------------------------------------|
 * | failed, or has no figure for any node | any                    | as before: such a pass says nothing of a node |
 * | has figures                       | has one, or is gone        | not listed                                   |
 * | has figures                       | cannot be measured         | not listed: the time restarts when it can    |
 * | has figures, and a warning: may be partial | has none          | as before                                    |
 * | has figures                       | has none, was not listed   | the start of the pass                        |
 * | has figures                       | has none, was listed       | as before                                    |
 * | the first whole one after failed or partial ones | has none, was listed | later by the time without figures: an outage of Prometheus does not count |
 *
 * @param notMeasurable the nodes that cannot be measured, by name
 */
export function nextMissing(
  before: MissingNodes,
  pass: Snapshot,
  notMeasurable: ReadonlyMap<string, unknown>,
): MissingNodes {
  if (!hasFigure(pass)) return { ...before, isInterrupted: true };
  const { lastPassAt = pass.startedAt } = before;
  // Such as a Thanos whose store does not answer: the nodes that the pass lacks may well have figures.
  const isPartial = pass.warnings.length > 0;
  const outageMs = before.isInterrupted && !isPartial ? Math.max(pass.startedAt - lastPassAt, 0) : 0;
  const since = new Map<string, number>();
  for (const { node, percent } of pass.nodes.values()) {
    if (percent !== undefined || notMeasurable.has(node)) continue;
    const was = before.since.get(node);
    if (was !== undefined) since.set(node, was + outageMs);
    else if (!isPartial) since.set(node, pass.startedAt);
  }
  if (isPartial) return { ...before, since, isInterrupted: true };
  return { since, lastPassAt: pass.startedAt, isInterrupted: false };
}
