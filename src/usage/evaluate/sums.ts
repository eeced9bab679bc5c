import type { CountedDevice, NodeFacts } from './nodeFacts.ts';
import type { Direction, Measure } from './reading.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';

/** The samples of one node, as its reading needs them. */
export interface Found {
  facts: NodeFacts;
  /** Transmit rates; with the direction Receive, receive rates. */
  rates: NodeSamples | undefined;
  /** With the directions Max and Sum, receive rates. */
  second: NodeSamples | undefined;
  direction: Direction;
  measure: Measure;
  /** True if a device counts only with a rate of both. */
  both: boolean;
}

/** Sums over the devices that count and have a rate. "KnownSpeed" and `speed`: only those with a usable speed. */
export interface Sums {
  /** Number of devices. */
  devices: number;
  devicesOfKnownSpeed: number;
  /** Bytes per second. */
  rate: number;
  rateOfKnownSpeed: number;
  /** Of the receive rates, with the directions Max and Sum; otherwise 0. */
  second: number;
  secondOfKnownSpeed: number;
  speed: number;
  /** The device with the highest percent, if there is one of known speed; the first of several by name. */
  fullest: CountedDevice | undefined;
  fullestRate: number;
  fullestPercent: number;
}

/** Uses one loop for all sums: it runs for every device of every node in each pass. */
export function sumUp({ facts, rates, second, direction, both }: Found): Sums {
  const sums: Sums = {
    devices: 0,
    rate: 0,
    second: 0,
    devicesOfKnownSpeed: 0,
    rateOfKnownSpeed: 0,
    secondOfKnownSpeed: 0,
    speed: 0,
    fullest: undefined,
    fullestRate: 0,
    fullestPercent: -1,
  };
  for (const device of facts.devices.counted) {
    const { name, speed } = device;
    const rate = rates?.devices.get(name)?.rate;
    const other = both ? second?.devices.get(name)?.rate : 0;
    if (rate === undefined || other === undefined) continue;
    sums.devices++;
    sums.rate += rate;
    sums.second += other;
    if (!isUsable(speed)) continue;
    sums.devicesOfKnownSpeed++;
    sums.rateOfKnownSpeed += rate;
    sums.secondOfKnownSpeed += other;
    sums.speed += speed;
    const together = combined(direction, rate, other);
    if ((100 * together) / speed <= sums.fullestPercent) continue;
    sums.fullest = device;
    sums.fullestRate = together;
    sums.fullestPercent = (100 * together) / speed;
  }
  return sums;
}

/** The rate that counts. `second` is 0 unless the direction is Max or Sum. */
export function combined(direction: Direction, rate: number, second: number): number {
  return direction === 'Max' ? Math.max(rate, second) : rate + second;
}

/** True if the device has all rates that the direction needs. */
export function hasRate({ rates, second, both }: Found, device: string): boolean {
  if (rates?.devices.get(device)?.rate === undefined) return false;
  return !both || second?.devices.get(device)?.rate !== undefined;
}

/** A NIC that is down reports -125000, some virtual devices report 0. */
export function isUsable(speed: number | undefined): speed is number {
  return speed !== undefined && Number.isFinite(speed) && speed > 0;
}
