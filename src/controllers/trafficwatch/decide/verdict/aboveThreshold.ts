import { describeDrop, isAboveForDrop } from '../../../../usage/evaluate/capacityDrop.ts';
import type { NodeUsage } from '../../../../usage/evaluate/percent.ts';
import { settled, type NodeVerdict } from './nodeVerdict.ts';

/**
 * The verdict of a node above the threshold. The reason is CapacityFell if the node is above the threshold only because
 * its capacity fell: the network needs repair, and the traffic has not grown.
 *
 * @param message why the node counts as above
 * @param usage the usage in the newest pass
 * @param maxPercent percent of the capacity
 */
export function aboveThreshold(message: string, usage: NodeUsage | undefined, maxPercent: number): NodeVerdict {
  if (!usage || !isAboveForDrop(usage, maxPercent)) return settled('above', 'AboveThreshold', message);
  return settled('above', 'CapacityFell', `${message}; ${describeDrop(usage) ?? ''}`);
}
