import type { NodeSamples } from './nodeSamples.ts';

/** Names of devices by node. */
export type Devices = ReadonlyMap<string, ReadonlySet<string>>;

/** Devices without a usable rate of one counter, by node. */
export interface LateRates {
  /** Nodes with devices whose newest sample is too old for a rate, with `newest` of each. */
  readonly nodes: ReadonlyMap<string, NodeSamples>;
  /** Devices with one sample in the rate window. */
  readonly single: Devices;
}

/** Devices whose rates are wrong or of the past, by node. */
export interface LateSamples {
  readonly transmit: LateRates;
  readonly receive: LateRates;
  /** How old the newest sample of a rate may be, seconds. */
  readonly oldestSeconds: number;
  /** Devices with a counter that fell, however little. */
  readonly fell: Devices;
  /** Devices with a counter that fell so far within the rate window that its rate is wrong, by counter. */
  readonly fallen: Readonly<Record<'transmit' | 'receive', Devices>>;
  /** The warnings in the answers. */
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
}

/** No counter has fallen. */
export const NONE_FALLEN: LateSamples['fallen'] = { transmit: new Map(), receive: new Map() };

const NO_RATES_LATE: LateRates = { nodes: new Map(), single: new Map() };

/** No device is late. */
export const NONE_LATE: LateSamples = {
  transmit: NO_RATES_LATE,
  receive: NO_RATES_LATE,
  oldestSeconds: Infinity,
  fell: new Map(),
  fallen: NONE_FALLEN,
  warnings: [],
  infos: [],
};

/**
 * Sorts the devices of an answer to lateQuery by what its values mean.
 *
 * @param nodes of the answer; afterwards they have only late devices
 */
export function sortLate(nodes: Map<string, NodeSamples>): LateRates & Pick<LateSamples, 'fell'> {
  const late = new Map<string, NodeSamples>();
  const single = new Map<string, Set<string>>();
  const fell = new Map<string, Set<string>>();
  for (const [node, samples] of nodes) {
    for (const [device, { newest = 0, fell: hasFallen }] of samples.devices) {
      if (hasFallen) add(fell, node, device);
      if (newest === 1) add(single, node, device);
      if (newest <= 1) samples.devices.delete(device);
    }
    if (samples.devices.size > 0) late.set(node, samples);
  }
  return { nodes: late, single, fell };
}

/** Adds a device of a node. */
export function add(devices: Map<string, Set<string>>, node: string, device: string): void {
  const known = devices.get(node);
  if (known === undefined) devices.set(node, new Set([device]));
  else known.add(device);
}

/**
 * Removes the rates of late devices, which are outdated, and the rates of devices with one sample. Keeps the devices, since a RateTable stores
 * their positions. Another series of the device may still get samples: see onlyLive.
 *
 * @param rates of one counter
 */
export function dropLate(late: LateRates, rates: ReadonlyMap<string, NodeSamples>): void {
  for (const [node, names] of lateDevices(late)) {
    for (const name of names) {
      const device = rates.get(node)?.devices.get(name);
      if (device !== undefined) device.rate = undefined;
    }
  }
}

/** The late devices by node, then those with one sample. */
export function* lateDevices({ nodes, single }: LateRates): Generator<[node: string, devices: Iterable<string>]> {
  for (const [node, { devices }] of nodes) yield [node, devices.keys()];
  yield* single;
}

/** So few make no difference: within a rate window of 20 s, 0.04 % of 100 Mbit/s. */
export const NEGLIGIBLE_BYTES = 65_536;
/** How many times what the window adds a counter is that cannot have started again. */
export const LARGE = 20;

/** A sample of a counter: seconds since 1970, and bytes. */
export type Sample = readonly [seconds: number, bytes: number];

/**
 * True if a counter fell in a way that makes the slope through its samples in the rate window wrong. What the counter lost is more than the fall
 * that the samples show: what was sent in between hides the rest. So a fall is harmless only if it is small and cannot be a restart. A fall counts
 * until the sample after it has left the window: that sample can be a single wrong one.
 *
 * | the samples                                              | result |
 * |----------------------------------------------------------|--------|
 * | differ by at most 64 KiB: the device is idle             | false  |
 * | fall by more than 64 KiB, all falls together             | true   |
 * | fall by less, of a counter that is at least 20 times what it gains: drivers step back by a few bytes while nothing is sent | false |
 * | fall by less, of a smaller counter: it may have started again from 0, and counted almost as far since | true |
 * | begin within the window with exactly 0, then more than 64 KiB: collectors that know when a counter was created insert such a sample | true |
 *
 * @param samples of one series, oldest first, with those shortly before the window
 * @param windowStart seconds since 1970
 */
export function fallMatters(samples: readonly Sample[], windowStart: number): boolean {
  const first = samples.findIndex(([seconds]) => seconds > windowStart);
  if (first === 0 && samples[0]?.[1] === 0 && (samples[1]?.[1] ?? 0) > NEGLIGIBLE_BYTES) return true;
  const counts = first < 0 ? [] : samples.slice(Math.max(0, first - 1)).map(([, bytes]) => bytes);
  let fallen = 0;
  for (const [index, count] of counts.entries()) fallen += Math.max(0, (counts[index - 1] ?? count) - count);
  const lowest = Math.min(...counts);
  const range = Math.max(...counts) - lowest;
  if (fallen === 0 || range <= NEGLIGIBLE_BYTES) return false;
  return fallen > NEGLIGIBLE_BYTES || lowest < LARGE * range;
}
