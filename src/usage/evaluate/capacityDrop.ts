import { formatCapacity } from './capacity.ts';
import type { NodeDevices } from './devices/devices.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';
import type { CapacityDrop, NodeUsage } from './percent.ts';
import { isUsable } from './speeds.ts';

/**
 * Finds the measured devices of a node that are slower than within the last hour. Devices that are gone or no longer
 * measured do not count: a slave that was removed from its bond would count twice. A peak that cannot be a speed does not
 * count either (see `isUsable`). Do not call it for a node that states its capacity.
 *
 * @param facts the current speeds
 * @param peaks highest speeds of the last hour, of the devices that were slower at the time of the query
 * @returns undefined if no device is slower, or if the capacity or the peaks are unknown
 */
export function capacityDrop(
  usage: NodeUsage,
  facts: Pick<NodeDevices, 'counted'> | undefined,
  peaks: NodeSamples | undefined,
): CapacityDrop | undefined {
  const { capacityBytesPerSecond: capacity, devices } = usage;
  if (capacity === undefined || peaks === undefined) return undefined;
  const slower = devices.flatMap((name) => {
    const speed = facts?.counted.find((device) => device.name === name)?.speed;
    const peak = peaks.devices.get(name)?.peak;
    return speed !== undefined && isUsable(peak) && peak > speed ? [{ name, lost: peak - speed }] : [];
  });
  if (slower.length === 0) return undefined;
  const fromBytesPerSecond = slower.reduce((sum, { lost }) => sum + lost, capacity);
  return { fromBytesPerSecond, devices: slower.map(({ name }) => name) };
}

/** Describes the drop: "capacity fell from 20Gbit to 10Gbit (bond0)". Undefined if there is no drop. */
export function describeDrop({ drop, capacityBytesPerSecond }: NodeUsage): string | undefined {
  if (drop === undefined || capacityBytesPerSecond === undefined) return undefined;
  const [from, to] = [drop.fromBytesPerSecond, capacityBytesPerSecond].map(formatCapacity) as [string, string];
  return `capacity fell from ${from} to ${to} (${drop.devices.join(', ')})`;
}

/** True if only the drop pushes the node above `maxPercent`: with its former capacity it would not be above. */
export function isAboveForDrop({ drop, percent, capacityBytesPerSecond }: NodeUsage, maxPercent: number): boolean {
  if (drop === undefined || percent === undefined || capacityBytesPerSecond === undefined) return false;
  return percent > maxPercent && (percent * capacityBytesPerSecond) / drop.fromBytesPerSecond <= maxPercent;
}
