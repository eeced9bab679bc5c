import type { VerdictInput } from './policy.ts';

/**
 * The percent that a pass is compared with, by the verdict that stands: hysteresis. A node becomes unfit above
 * maxBandwidthPercent, and fit again only at or below recoverBandwidthPercent.
 *
 * | label of the node | compared with           |
 * |-------------------|-------------------------|
 * | unfit             | recoverBandwidthPercent |
 * | fit, or none      | maxBandwidthPercent     |
 *
 * Between both, a node keeps its label. `recoverPercent` is undefined if both are the same.
 */
export function thresholdFor({
  maxPercent,
  recoverPercent,
  labelled,
}: Pick<VerdictInput, 'maxPercent' | 'recoverPercent' | 'labelled'>): number {
  return labelled === 'above' && recoverPercent !== undefined ? recoverPercent : maxPercent;
}
