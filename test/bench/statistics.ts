/** Summary of the repetitions of a measurement, in the unit of the samples. */
export interface Summary {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** @throws RangeError for no samples, or a sample that is not a finite number: missing data never becomes a number */
export function summarize(samples: readonly number[]): Summary {
  const sorted = ascending(samples);
  return { count: sorted.length, min: sorted[0]!, median: rank(sorted, 0.5), max: sorted.at(-1)! };
}

/**
 * The smallest sample that is at least as large as this share of all samples (nearest rank, as in Prometheus
 * summaries).
 *
 * @param share above 0, at most 1
 * @throws RangeError for no samples, or a sample that is not a finite number
 */
export function percentile(samples: readonly number[], share: number): number {
  return rank(ascending(samples), share);
}

/**
 * The growth of the median from the second to the last quarter of the time. The first quarter is the start-up.
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
