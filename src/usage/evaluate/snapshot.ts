import type { NodeUsage } from './percent.ts';

/** What one pass found. A snapshot does not change once it is published. */
export interface Snapshot {
  /** Counts from 1, one a tick. */
  pass: number;
  /** Start of the pass by our own clock, milliseconds since 1970. */
  startedAt: number;
  /** The server's time of evaluation, seconds since 1970; absent where no sample told it. */
  timeSeconds?: number;
  /** Prometheus answered. False: `error` says why not, and `nodes` is empty. */
  ok: boolean;
  error?: { reason: string; message: string };
  /** From the answers: results may be partial. At most five, shortened. */
  warnings: readonly string[];
  /** Remarks on the queries, from the answers. At most five, shortened. */
  infos?: readonly string[];
  /** Every node that was known at the start of the pass. */
  nodes: ReadonlyMap<string, NodeUsage>;
  /** Series of devices that belong to no known node. */
  unmatchedSeries: number;
  /** Series of devices whose `instance` is an address of several nodes. */
  ambiguousSeries: number;
  /** Labels of up to five of the unmatched. */
  unmatchedExamples: readonly string[];
  /** Labels of up to five of the ambiguous. */
  ambiguousExamples: readonly string[];
  /** Scrapes that the rate window holds; absent until it is known. */
  samplesPerWindow?: number;
}

/** From here on a difference between two clocks is told of: rates and deadlines bear far more, people who compare logs don't. */
const TELLING_OFFSET_SECONDS = 60;

/**
 * How far the server's clock is ahead of ours, or behind it (below 0), in whole minutes; undefined where it is less
 * than one, or not known. Nothing that is decided depends on it.
 */
export function clockOffsetMinutes({ startedAt, timeSeconds }: Snapshot): number | undefined {
  if (timeSeconds === undefined) return undefined;
  const seconds = timeSeconds - startedAt / 1000;
  return Math.abs(seconds) < TELLING_OFFSET_SECONDS ? undefined : Math.round(seconds / 60);
}

/** Below this, one missed scrape makes a rate of two samples or none. */
export const LEAST_SAMPLES_PER_WINDOW = 4;

/** True when the window is known to hold too few scrapes for a rate worth deciding on. */
export function windowIsTooShort(snapshot: Pick<Snapshot, 'samplesPerWindow'>): boolean {
  return snapshot.samplesPerWindow !== undefined && snapshot.samplesPerWindow < LEAST_SAMPLES_PER_WINDOW;
}
