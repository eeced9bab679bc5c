/** What repetitions of one measurement came to, in the unit of the samples. */
export interface Summary {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** @throws RangeError for no samples, or one that is no finite number: what was not measured is no number */
export function summarize(samples: readonly number[]): Summary {
  const sorted = ascending(samples);
  return { count: sorted.length, min: sorted[0]!, median: rank(sorted, 0.5), max: sorted.at(-1)! };
}

/**
 * The smallest sample that at least this share of all is not above (nearest rank, as Prometheus' summaries have it).
 *
 * @param share above 0, at most 1
 * @throws RangeError for no samples, or one that is no finite number
 */
export function percentile(samples: readonly number[], share: number): number {
  return rank(ascending(samples), share);
}

/**
 * How much larger samples are in the last quarter of their time than in the second, median by median: what comes in the
 * first is a start.
 *
 * @throws RangeError for fewer than four samples
 */
export function growth(samples: readonly number[]): number {
  const quarter = Math.floor(samples.length / 4);
  const median = (from: number): number => rank(ascending(samples.slice(from, from + quarter)), 0.5);
  return median(samples.length - quarter) - median(quarter);
}

function ascending(samples: readonly number[]): number[] {
  if (samples.length === 0) throw new RangeError('nothing was measured');
  if (!samples.every(Number.isFinite)) throw new RangeError(`no finite numbers: ${samples.join(', ')}`);
  return [...samples].sort((a, b) => a - b);
}

function rank(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!;
}
