import type { NodeUsage } from '../../../usage/evaluate/percent.ts';

/** A side of the threshold. Exactly the threshold is not above it. */
export type Side = 'above' | 'notAbove';

/**
 * The side of the threshold on which the node is; undefined if the pass has no figure for it.
 * @param maxPercent percent of the capacity
 */
export function sideOf(usage: Pick<NodeUsage, 'percent'> | undefined, maxPercent: number): Side | undefined {
  if (usage?.percent === undefined) return undefined;
  return usage.percent > maxPercent ? 'above' : 'notAbove';
}
