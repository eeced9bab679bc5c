import { summarize, type Summary } from './statistics.ts';

export type Unit = 'ms' | 's' | 'MiB' | 'KiB' | 'bytes' | 'calls' | 'passes' | 'connections' | '% of a core';

/** Units of counts, which do not depend on the machine. */
export const COUNTED: ReadonlySet<Unit> = new Set(['calls', 'connections', 'KiB']);
/** For these every sample must meet its goal. For times and memory, which depend on the machine, the median must. */
const HELD_BY_THE_MOST: ReadonlySet<Unit> = new Set([...COUNTED, 'passes']);

/** One line of the report: a measurement and its goals. */
export interface Figure {
  /** Its key in the JSON: 'start.synced'. */
  readonly id: string;
  readonly what: string;
  readonly unit: Unit;
  readonly samples: readonly number[];
  /** The goal: the upper limit of the median, or of the maximum for counts. */
  readonly atMost?: number;
  /** The need of the servers for a client that discards their responses, measured in the same run. */
  readonly limit?: Limit;
}

export interface Limit {
  readonly what: string;
  readonly samples: readonly number[];
  /** The goal as a multiple of the limit. */
  readonly atMostTimes?: number;
}

/** A computed figure. */
export interface Result extends Omit<Figure, 'samples' | 'limit'> {
  readonly summary: Summary;
  readonly limit?: { readonly what: string; readonly summary: Summary; readonly atMostTimes?: number };
  /** Its median divided by the median of the limit. */
  readonly ratio?: number;
  /** Undefined without a goal. */
  readonly met?: boolean;
}

/** @throws RangeError for a figure without samples, or with one that is not a finite number */
export function resultOf({ samples, limit, ...figure }: Figure): Result {
  const summary = summarizeOf(figure.id, samples);
  const judged = HELD_BY_THE_MOST.has(figure.unit) ? summary.max : summary.median;
  if (limit === undefined) return { ...figure, summary, ...metOf(figure.atMost, judged) };
  const limits = summarizeOf(`${figure.id}, limit`, limit.samples);
  const ratio = summary.median / limits.median;
  const goals = [metOf(figure.atMost, judged), metOf(limit.atMostTimes, ratio)].flatMap(({ met }) =>
    met === undefined ? [] : [met],
  );
  return {
    ...figure,
    summary,
    limit: { what: limit.what, summary: limits, ...(limit.atMostTimes && { atMostTimes: limit.atMostTimes }) },
    ratio,
    ...(goals.length > 0 && { met: goals.every(Boolean) }),
  };
}

function summarizeOf(id: string, samples: readonly number[]): Summary {
  try {
    return summarize(samples);
  } catch (cause) {
    throw new RangeError(`${id}: ${(cause as Error).message}`, { cause });
  }
}

function metOf(atMost: number | undefined, value: number): { met?: boolean } {
  return atMost === undefined ? {} : { met: value <= atMost };
}
