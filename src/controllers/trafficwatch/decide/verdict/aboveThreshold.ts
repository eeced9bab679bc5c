import { describeDrop, isAboveForDrop } from '../../../../usage/evaluate/capacityDrop.ts';
import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';
import { settled, type NodeVerdict } from './nodeVerdict.ts';

/** Reason of an unfit node between recoverBandwidthPercent and maxBandwidthPercent. */
export const NOT_RECOVERED = 'NotRecovered';
const STAYS_UNFIT = settled(
  'above',
  NOT_RECOVERED,
  'not above maxBandwidthPercent, but above recoverBandwidthPercent (default: 80 % of it); it stays unfit',
);

/**
 * The verdict of an unfit node.
 *
 * | newest pass                                         | reason         |
 * |-----------------------------------------------------|----------------|
 * | at or below maxPercent                              | NotRecovered   |
 * | above, and only because the capacity of the node fell | CapacityFell: the network needs repair |
 * | above                                               | AboveThreshold |
 *
 * @param message why the node counts as above
 * @param usage the usage in the newest pass
 * @param maxPercent percent of the capacity
 */
export function aboveThreshold(message: string, usage: NodeUsage | undefined, maxPercent: number): NodeVerdict {
  if (usage?.percent !== undefined && usage.percent <= maxPercent) return STAYS_UNFIT;
  if (!usage || !isAboveForDrop(usage, maxPercent)) return settled('above', 'AboveThreshold', message);
  return settled('above', 'CapacityFell', `${message}; ${describeDrop(usage) ?? ''}`);
}
