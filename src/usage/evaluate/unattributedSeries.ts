import type { Snapshot } from './snapshot.ts';

/** The part of a snapshot that tells of series which were found and are nobody's. */
export type UnattributedSeries = Pick<
  Snapshot,
  'unmatchedSeries' | 'unmatchedExamples' | 'ambiguousSeries' | 'ambiguousExamples'
>;

function describe(what: string, count: number, examples: readonly string[]): string[] {
  return count === 0 ? [] : [`${what}: ${count}, such as ${examples.join(', ')}`];
}

/**
 * How many series belong to no node and how many to several, with the labels of some: where a whole cluster has no
 * figures, they say that there are series and that their labels don't fit. Empty where each series has its node.
 */
export function describeUnattributed(series: UnattributedSeries): string[] {
  return [
    ...describe('series that belong to no node', series.unmatchedSeries, series.unmatchedExamples),
    ...describe('series that belong to several nodes', series.ambiguousSeries, series.ambiguousExamples),
  ];
}

/** True when there are stray series of a kind that the pass before, undefined when there was none, had none of. */
export function hasNewlyUnattributed(now: UnattributedSeries, before: UnattributedSeries | undefined): boolean {
  const isNew = (count: number, countBefore = 0): boolean => count > 0 && countBefore === 0;
  return isNew(now.unmatchedSeries, before?.unmatchedSeries) || isNew(now.ambiguousSeries, before?.ambiguousSeries);
}
