import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';

/** A side of the threshold. Exactly the threshold is not above it. */
export type Side = 'above' | 'notAbove';

/**
 * On which side of the threshold a pass saw the node; undefined when the pass has no figure of it.
 * @param maxPercent percent of the capacity
 */
export function sideOf(usage: Pick<NodeUsage, 'percent'> | undefined, maxPercent: number): Side | undefined {
  if (usage?.percent === undefined) return undefined;
  return usage.percent > maxPercent ? 'above' : 'notAbove';
}
