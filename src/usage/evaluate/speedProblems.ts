import { formatCapacity } from './capacity.ts';
import type { CountedDevice, NodeDevices } from './nodeFacts.ts';
import { FASTEST, isUsable } from './speeds.ts';
import { highestRate, type Found, type Sums } from './sums.ts';

/** The share of the known speeds from which on the rate of a device without a speed is real traffic. */
const REAL_SHARE = 0.01;

/**
 * Message about the speeds that a node lacks, undefined if its known speeds suffice. Without a stated capacity:
 *
 * | device without a usable speed                | result                                                             |
 * |----------------------------------------------|--------------------------------------------------------------------|
 * | no other device has a speed                  | the node is not measured                                           |
 * | its rate is below 1 % of the known speeds    | the device is not measured: a NIC that is down, or the USB NIC of a BMC |
 * | its rate is at least 1 % of the known speeds | the node is not measured: its other devices would hide a full link |
 *
 * A bond can be without a speed although its slaves have one: the kernel leaves out a slave whose driver reports no
 * speed or no duplex. The series do not say which slaves may send: the sum of all would be too high if one is a standby.
 */
export function lackOfSpeed({ counted }: NodeDevices, sums: Sums): string | undefined {
  const { devicesOfKnownSpeed, speed, busiestWithoutSpeed: busiest, rateWithoutSpeed: rate } = sums;
  if (devicesOfKnownSpeed === 0) return describe(counted, counted.map(speedOf));
  if (busiest === undefined || rate < REAL_SHARE * speed) return undefined;
  const message = describe([busiest], [`${speedOf(busiest)}, rate ${formatCapacity(rate)}/s`]);
  return `${message}, or exclude ${busiest.name}: spec.devices`;
}

/**
 * Message about a device with a rate that cannot be: its counter jumped within the rate window, as when the device is created again under its name
 * with another counter, or its speed is wrong.
 */
export function impossibleRate({ name, speed }: CountedDevice, found: Found, stated: number): string {
  const limit = highestRate(speed, stated);
  const first = found.rates?.devices.get(name)?.rate ?? 0;
  const isFirst = first > limit;
  const rate = isFirst ? first : (found.second?.devices.get(name)?.rate ?? 0);
  const what = isFirst && found.direction !== 'Receive' ? 'rate' : 'receive rate';
  return (
    `${what} of ${name} is ${formatCapacity(rate)}/s, ${limitOf(speed, stated)}: its counter jumped, or the speed is wrong; ` +
    'if this lasts longer than the rate window, set the capacity annotation of the node, or spec.capacity, ' +
    `or exclude ${name}: spec.devices`
  );
}

function limitOf(speed: number | undefined, stated: number): string {
  if (!isUsable(speed)) return `and no link is faster than ${formatCapacity(FASTEST)}/s`;
  if (stated > speed) return `more than twice the stated capacity of ${formatCapacity(stated)}/s`;
  return `more than twice its speed of ${formatCapacity(speed)}/s`;
}

function speedOf({ name, speed }: CountedDevice): string {
  return `${name}: ${speed === undefined ? 'no speed' : `speed ${speed}`}`;
}

function describe(devices: readonly CountedDevice[], speeds: readonly string[]): string {
  const bond = devices.some(({ isBond }) => isBond) ? '; a bond has the speed of its active slaves' : '';
  return `the capacity is unknown (${speeds.join(', ')}${bond}); set the capacity annotation of the node, or spec.capacity`;
}
