import { formatCapacity } from './capacity.ts';
import type { NodeDevices } from './nodeFacts.ts';
import type { NodeReadings } from '../series/nodeReadings.ts';
import type { CapacityFall, NodeUsage } from './percent.ts';

/**
 * Tells whether the capacity of a measured node has fallen. Devices that are gone or not measured any more don't count:
 * a slave that was taken out of its bond would be counted twice. Nor does a capacity that a person has annotated.
 *
 * @param facts what the exporter says now
 * @param peaks highest speeds of the last hour, of devices that were slower when Prometheus was asked
 */
export function capacityFall(
  usage: NodeUsage,
  facts: Pick<NodeDevices, 'counted'> | undefined,
  peaks: NodeReadings | undefined,
): CapacityFall | undefined {
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
export function describeFall({ fall, capacityBytesPerSecond }: NodeUsage): string | undefined {
  if (fall === undefined || capacityBytesPerSecond === undefined) return undefined;
  const [from, to] = [fall.fromBytesPerSecond, capacityBytesPerSecond].map(formatCapacity) as [string, string];
  return `capacity fell from ${from} to ${to} (${fall.devices.join(', ')})`;
}

/** Whether the node would not be above `maxPercent` if it still had the capacity that it had. */
export function isAboveForFall({ fall, percent, capacityBytesPerSecond }: NodeUsage, maxPercent: number): boolean {
  if (fall === undefined || percent === undefined || capacityBytesPerSecond === undefined) return false;
  return percent > maxPercent && (percent * capacityBytesPerSecond) / fall.fromBytesPerSecond <= maxPercent;
}
