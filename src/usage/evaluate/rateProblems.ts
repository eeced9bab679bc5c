import { formatCapacity } from './capacity.ts';
import { DEFAULT_EXCLUDED_DEVICES, type CountedDevice, type NodeDevices } from './devices/devices.ts';
import { FASTEST, isUsable } from './speeds.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';
import { highestRate, mostPercent, type Found, type Sums } from './sums.ts';

/** Speeds and rates below this share of the known speeds change the percent of a node by less than 1. */
export const REAL_SHARE = 0.01;
/** Bytes per second: 10 Mbit/s. No management NIC sends as much all the time. 1 % of a fast NIC would be a full slow one. */
export const REAL_RATE = 1_250_000;

/** The rate, in bytes per second, from which on a device without a speed has real traffic, next to devices with these speeds. */
export function realTraffic(speeds: number): number {
  return Math.min(REAL_SHARE * speeds, REAL_RATE);
}

/**
 * Message about the speeds that a node lacks, without figures that change with each pass, undefined if its known speeds suffice. Without a stated capacity:
 *
 * | device without a usable speed                               | result                                                             |
 * |-------------------------------------------------------------|--------------------------------------------------------------------|
 * | no other device has a speed                                 | the node is not measured                                           |
 * | its rate is below 1 % of the known speeds and 10 Mbit/s     | the device is not measured: a NIC that is down, or the USB NIC of a BMC |
 * | its rate is at least 1 % of the known speeds, or 10 Mbit/s  | the node is not measured: its other devices would hide a full link |
 *
 * A bond can be without a speed although its slaves have one: the kernel leaves out a slave whose driver reports no
 * speed or no duplex. The series do not say which slaves may send: the sum of all would be too high if one is a standby.
 */
export function lackOfSpeed({ counted }: NodeDevices, sums: Sums): string | undefined {
  const { devicesOfKnownSpeed, speed, busiestWithoutSpeed: busiest, rateWithoutSpeed: rate } = sums;
  const known = devicesOfKnownSpeed > 0 || counted.some((each) => isUsable(each.speed));
  if (!known) return describe(counted, counted.map(speedOf));
  if (busiest === undefined || rate < realTraffic(speed)) return undefined;
  return `${describe([busiest], [`${speedOf(busiest)}, with traffic`])}, or exclude ${busiest.name}: spec.devices`;
}

/**
 * Message, without the rate, about a device with a rate that cannot be: its counter jumped within the rate window, as when
 * the device is created again under its name with another counter, or its speed is wrong.
 */
export function impossibleRate(device: CountedDevice, found: Found, stated: number): string {
  const { name } = device;
  const limit = highestRate(device, stated);
  const isFirst = (found.rates?.devices.get(name)?.rate ?? 0) > limit;
  const what = isFirst && found.direction !== 'Receive' ? 'rate' : 'receive rate';
  return (
    `the ${what} of ${name} is ${limitOf(device, stated)}: its counter jumped, or the speed is wrong; ` +
    'if this lasts longer than the rate window, set the capacity annotation of the node, or spec.capacity, ' +
    `or exclude ${name}: spec.devices`
  );
}

function limitOf(device: CountedDevice, stated: number): string {
  const { speed } = device;
  if (!isUsable(speed) || highestRate(device, stated) === FASTEST)
    return `above ${formatCapacity(FASTEST)}/s, and no link is faster`;
  const whose = stated > speed ? 'the stated capacity' : 'its speed';
  return `above ${mostPercent(device)} % of ${whose} of ${formatCapacity(Math.max(speed, stated))}/s`;
}

function speedOf({ name, speed }: CountedDevice): string {
  return `${name}: ${speed === undefined ? 'no speed' : `speed ${speed}`}`;
}

function describe(devices: readonly CountedDevice[], speeds: readonly string[]): string {
  const bond = devices.some(({ isBond }) => isBond) ? '; a bond has the speed of its active slaves' : '';
  return `the capacity is unknown (${speeds.join(', ')}${bond}); set the capacity annotation of the node, or spec.capacity`;
}

const FROZEN =
  'its counters stand still, or did so within the rate window, although a node always sends something: its exporter, or what collects its samples, repeats old values';

/** Within this time every node of several sends something, seconds: two heartbeats of a kubelet (nodeLeaseDurationSeconds / 4). */
export const LONGEST_SILENCE_SECONDS = 20;

/**
 * True if the counters of each node, all together, move within the rate window, and within 20 s of it. A node may be silent
 *
 * | when                              | because                                |
 * |-----------------------------------|----------------------------------------|
 * | the rate window is below 20 s     | it sends a heartbeat every ten seconds |
 * | it is alone in its cluster        | its kubelet sends heartbeats to itself |
 */
export function alwaysSends({ windowSeconds }: { windowSeconds: number }, nodes: number): boolean {
  return windowSeconds >= LONGEST_SILENCE_SECONDS && nodes > 1;
}

/** True if, besides, rates of 0 show that they do not: the rates leave out what the user excludes by name, which may be the NIC with the heartbeats. */
export function silenceTells(query: { windowSeconds: number; excludedDevices?: string }, nodes: number): boolean {
  const { excludedDevices = DEFAULT_EXCLUDED_DEVICES } = query;
  return alwaysSends(query, nodes) && excludedDevices === DEFAULT_EXCLUDED_DEVICES;
}

/**
 * Message if no device of the node sends a byte, those included that do not count: then old values of the counters are repeated. The Prometheus
 * exporter of the OpenTelemetry Collector, for example, does so for five minutes after its source has stopped (metric_expiration).
 *
 * | transmit rates | the rate of the direction | result                                                              |
 * |----------------|---------------------------|---------------------------------------------------------------------|
 * | all are 0      | 0                         | frozen if the silence tells, or the window has repeated values      |
 * | all are 0      | not 0                     | not frozen: the node receives, and a driver may not count what it sends |
 * | one is not 0   | any                       | frozen if the window has repeated values: see RepeatedValues        |
 *
 * @param node with its transmit rates, over the rate window
 * @param rate of the direction
 */
export function frozenCounters(
  node: { readonly rates: NodeSamples | undefined; readonly silenceTells?: boolean; readonly isRepeated?: boolean },
  rate: number,
): string | undefined {
  const { rates, silenceTells: tells = false, isRepeated = false } = node;
  let isKnown = false;
  for (const { rate: sent } of rates?.devices.values() ?? []) {
    if (sent !== undefined && sent !== 0) return isRepeated ? FROZEN : undefined;
    isKnown ||= sent === 0;
  }
  return isKnown && rate === 0 && (tells || isRepeated) ? FROZEN : undefined;
}

/**
 * The slope of a counter that hardly moves is not exactly 0: a double has 53 bits, so after 100 PB it is wrong by up to a byte per second.
 */
const ROUNDING = 1;

/** Names of devices whose counter fell within the rate window so far that its rate is wrong. */
export interface FallenDevices {
  readonly transmit?: ReadonlySet<string> | undefined;
  readonly receive?: ReadonlySet<string> | undefined;
}

const LATER =
  'its rate is known when the rate window has passed; if it never is, two writers share the series: deduplicate them (existing-prometheus.md)';

/** Message about the first device that counts whose counter fell within the rate window: see lateQuery. */
export function resetCounter(
  { facts, rates, second, direction, both }: Found,
  { transmit, receive }: FallenDevices = {},
): string | undefined {
  const isNegative = (of: NodeSamples | undefined, name: string): boolean =>
    (of?.devices.get(name)?.rate ?? 0) <= -ROUNDING;
  const hasFallen = (name: string): boolean =>
    (direction !== 'Receive' && transmit?.has(name) === true) ||
    ((direction === 'Receive' || both) && receive?.has(name) === true);
  for (const { name } of facts.devices.counted) {
    if (hasFallen(name) || isNegative(rates, name) || isNegative(second, name)) {
      return `the counter of ${name} fell, or its first sample is an inserted 0: the node, the device or the collector was restarted; ${LATER}`;
    }
  }
  return undefined;
}
