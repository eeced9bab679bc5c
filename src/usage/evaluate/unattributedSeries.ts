import type { Unattributed } from '../series/seriesDecoder.ts';
import type { Snapshot } from './snapshot.ts';

/** The part of a snapshot about series that could not be assigned to exactly one node. */
export type UnattributedSeries = Pick<
  Snapshot,
  'unmatchedSeries' | 'unmatchedExamples' | 'ambiguousSeries' | 'ambiguousExamples'
>;

/** The series of one answer that belong to no node, and to several. */
export interface Strays {
  readonly unmatched: Unattributed;
  readonly ambiguous: Unattributed;
}

/** Combines the series of the rates and of the facts. Both are about the same devices: the larger number of each kind counts, not the sum. */
export function unattributedOf(rates: Strays, facts: Strays): UnattributedSeries {
  const unmatched = rates.unmatched.series >= facts.unmatched.series ? rates.unmatched : facts.unmatched;
  const ambiguous = rates.ambiguous.series >= facts.ambiguous.series ? rates.ambiguous : facts.ambiguous;
  return {
    unmatchedSeries: unmatched.series,
    unmatchedExamples: [...unmatched.examples],
    ambiguousSeries: ambiguous.series,
    ambiguousExamples: [...ambiguous.examples],
  };
}

function describe(what: string, count: number, examples: readonly string[]): string[] {
  return count === 0 ? [] : [`${what}: ${count}, such as ${examples.join(', ')}`];
}

/**
 * Describes how many series belong to no node and to several nodes, with the labels of some. If a whole cluster has no
 * figures, this shows that series exist but their labels do not match. Empty if each series belongs to one node.
 */
export function describeUnattributed(series: UnattributedSeries): string[] {
  return [
    ...describe('series that belong to no node', series.unmatchedSeries, series.unmatchedExamples),
    ...describe('series that belong to several nodes', series.ambiguousSeries, series.ambiguousExamples),
  ];
}

/**
 * True if a kind of unattributed series (unmatched or ambiguous) is present now and was absent in the previous pass.
 *
 * @param before undefined if there was no previous pass
 */
export function hasNewlyUnattributed(now: UnattributedSeries, before: UnattributedSeries | undefined): boolean {
  const isNew = (count: number, countBefore = 0): boolean => count > 0 && countBefore === 0;
  return isNew(now.unmatchedSeries, before?.unmatchedSeries) || isNew(now.ambiguousSeries, before?.ambiguousSeries);
}
