import type { NodeFacts } from './nodeFacts.ts';
import type { CountedDevice } from './devices/devices.ts';
import type { Direction, Measure } from './reading.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';
import { FASTEST, isUsable } from './speeds.ts';

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
  /** Bytes per second, of the direction: with Max the larger sum, with Sum both sums together. */
  rate: number;
  rateOfKnownSpeed: number;
  speed: number;
  /** The device with the highest percent, if there is one of known speed; the first of several by name. */
  fullest: CountedDevice | undefined;
  /** Its rate. */
  fullestRate: number;
  /** The device with the highest rate of those without a usable speed; the first of several by name. */
  busiestWithoutSpeed: CountedDevice | undefined;
  /** Its rate. A rate that is missing counts as 0. */
  rateWithoutSpeed: number;
  /**
   * The fastest device that lacks a rate that the direction needs; the first of several by name. A device without a usable speed counts as the
   * fastest, unless it is switched off.
   */
  unrated: CountedDevice | undefined;
  /** The first device by name with a rate that cannot be. */
  impossible: CountedDevice | undefined;
}

/**
 * The slope of a full link in percent of its speed, at most. A full link delays scrapes, and the server stamps a sample when its scrape begins. If
 * the last two of the four scrapes of a window are read late by the part f of the scrape interval, the slope is 0.4 f too high (least squares), so
 * this allows 60 % of the interval. With three scrapes it allows half of it, with two a quarter.
 */
const MOST_PERCENT = 125;
/**
 * The same for a bond, whose counter may be right above its speed: two copies in the mode broadcast, a slave that reports no speed, and what the
 * standby receives. See docs/devices.md.
 */
const MOST_PERCENT_OF_BOND = 200;

/** The highest percent of its speed that the rate of a device can have. */
export function mostPercent({ isBond }: Pick<CountedDevice, 'isBond'>): number {
  return isBond === true ? MOST_PERCENT_OF_BOND : MOST_PERCENT;
}

/**
 * The highest rate of one direction that a device can have, bytes per second. A stated capacity may be lower than the
 * speed of the link, and more than 100 % of it is possible. It may be higher, because the speed of a veth is only nominal.
 *
 * | speed    | limit                                                                          |
 * |----------|--------------------------------------------------------------------------------|
 * | usable   | `mostPercent` of the speed, or of the stated capacity if that is higher, but never more than the fastest link |
 * | unknown  | the fastest link that there is                                                 |
 *
 * @param stated bytes per second; 0 if nothing states the capacity of the node
 */
export function highestRate(device: Pick<CountedDevice, 'speed' | 'isBond'>, stated: number): number {
  const { speed } = device;
  return isUsable(speed) ? Math.min((mostPercent(device) / 100) * Math.max(speed, stated), FASTEST) : FASTEST;
}

/**
 * Uses one loop for all sums, and local variables: it runs for every device of every node in each pass, and V8 allocates
 * memory for each number that is stored in an object.
 *
 * @param stated the stated capacity of the node, bytes per second; 0 if there is none
 */
export function sumUp({ facts, rates, second, direction, both }: Found, stated: number): Sums {
  let devices = 0;
  let sent = 0;
  let received = 0;
  let devicesOfKnownSpeed = 0;
  let sentOfKnownSpeed = 0;
  let receivedOfKnownSpeed = 0;
  let speeds = 0;
  let fullest: CountedDevice | undefined;
  let fullestRate = 0;
  let fullestShare = -1;
  let busiestWithoutSpeed: CountedDevice | undefined;
  let rateWithoutSpeed = 0;
  let unrated: CountedDevice | undefined;
  let unratedSpeed = -1;
  let impossible: CountedDevice | undefined;
  for (const device of facts.devices.counted) {
    const { name, speed } = device;
    const rate = rates?.devices.get(name)?.rate;
    const other = both ? second?.devices.get(name)?.rate : 0;
    const together = combined(direction, rate ?? 0, other ?? 0);
    const isKnown = isUsable(speed);
    if (!isKnown && together > rateWithoutSpeed) {
      busiestWithoutSpeed = device;
      rateWithoutSpeed = together;
    }
    if (rate === undefined || other === undefined) {
      const mostSpeed = isKnown ? speed : device.isOff ? -1 : Infinity;
      if (mostSpeed > unratedSpeed) [unrated, unratedSpeed] = [device, mostSpeed];
      continue;
    }
    if (impossible === undefined && Math.max(rate, other) > highestRate(device, stated)) impossible = device;
    devices++;
    sent += rate;
    received += other;
    if (!isKnown) continue;
    devicesOfKnownSpeed++;
    sentOfKnownSpeed += rate;
    receivedOfKnownSpeed += other;
    speeds += speed;
    if (together / speed <= fullestShare) continue;
    fullest = device;
    fullestRate = together;
    fullestShare = together / speed;
  }
  return {
    devices,
    devicesOfKnownSpeed,
    rate: combined(direction, sent, received),
    rateOfKnownSpeed: combined(direction, sentOfKnownSpeed, receivedOfKnownSpeed),
    speed: speeds,
    fullest,
    fullestRate,
    busiestWithoutSpeed,
    rateWithoutSpeed,
    unrated,
    impossible,
  };
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
