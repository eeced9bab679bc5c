import { formatCapacity } from './capacity.ts';
import type { NodeDevices } from './nodeFacts.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';
import type { CapacityDrop, NodeUsage } from './percent.ts';

/**
 * Tells whether the capacity of a measured node has fallen. Devices that are gone or not measured any more don't count:
 * a slave that was taken out of its bond would be counted twice. Nor does a capacity that a person has annotated.
 *
 * @param facts what the exporter says now
 * @param peaks highest speeds of the last hour, of devices that were slower when Prometheus was asked
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
    return speed !== undefined && peak !== undefined && peak > speed ? [{ name, lost: peak - speed }] : [];
  });
  if (slower.length === 0) return undefined;
  const fromBytesPerSecond = slower.reduce((sum, { lost }) => sum + lost, capacity);
  return { fromBytesPerSecond, devices: slower.map(({ name }) => name) };
}

/** In words, "capacity fell from 20Gbit to 10Gbit (bond0)"; undefined where it has not. */
export function describeDrop({ drop, capacityBytesPerSecond }: NodeUsage): string | undefined {
  if (drop === undefined || capacityBytesPerSecond === undefined) return undefined;
  const [from, to] = [drop.fromBytesPerSecond, capacityBytesPerSecond].map(formatCapacity) as [string, string];
  return `capacity fell from ${from} to ${to} (${drop.devices.join(', ')})`;
}

/** Whether the node would not be above `maxPercent` if it still had the capacity that it had. */
export function isAboveForDrop({ drop, percent, capacityBytesPerSecond }: NodeUsage, maxPercent: number): boolean {
  if (drop === undefined || percent === undefined || capacityBytesPerSecond === undefined) return false;
  return percent > maxPercent && (percent * capacityBytesPerSecond) / drop.fromBytesPerSecond <= maxPercent;
}
