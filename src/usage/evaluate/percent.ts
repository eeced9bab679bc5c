import type { StatedCapacity } from '../../nodes/statedCapacity.ts';
import { parseStated } from './capacity.ts';
import { negative, type CountedDevice, type NodeDevices, type NodeFacts } from './nodeFacts.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';
import type { UsageReason } from './usageReason.ts';

/** A node's devices had more capacity within the last hour than now, for example because a bond lost a slave. */
export interface CapacityDrop {
  /** Bytes per second: sum over the measured devices of their highest speed of the last hour. */
  fromBytesPerSecond: number;
  /** The devices that are slower now, sorted. */
  devices: readonly string[];
}

/** How much of a node's network is in use. */
export interface NodeUsage {
  node: string;
  /** At least 0. A burst can exceed 100. Absent unless the reason is Measured. */
  percent?: number;
  /** Sum of the counters of the devices that count; an integer. */
  transmitBytesTotal?: number;
  transmitBytesPerSecond?: number;
  capacityBytesPerSecond?: number;
  /** Where the capacity comes from. Absent without a capacity. */
  capacitySource?: CapacitySource;
  /** The devices that the sums include, sorted. */
  devices: readonly string[];
  /** Evaluation time of the Prometheus server, seconds since 1970. */
  timeSeconds: number;
  reason: UsageReason;
  /** Absent unless devices became slower within the last hour. */
  drop?: CapacityDrop;
  /** Explains the reason to the user. Absent if the reason is Measured. */
  message?: string;
  /** Set if the reason is Measured and no device reports its driver. */
  lacksDrivers?: true | undefined;
}

/** Where a capacity comes from: what the Node states, or the speeds of its devices in the series. */
export type CapacitySource = StatedCapacity['source'] | 'Series';

/** The input for one node in one pass. */
export interface NodeInput {
  node: string;
  facts: NodeFacts | undefined;
  rates: NodeSamples | undefined;
  /** The capacity that the Node states, not parsed. Replaces the sum of speeds. */
  capacity: StatedCapacity | undefined;
  timeSeconds: number;
}

type Numbers = Pick<NodeUsage, 'transmitBytesTotal' | 'transmitBytesPerSecond' | 'capacityBytesPerSecond'>;
interface Found {
  facts: NodeFacts;
  rates: NodeSamples | undefined;
}
interface Problem {
  reason: Exclude<UsageReason, 'Measured'>;
  message: string;
}
/** Sums over the devices that count and have a rate. "KnownSpeed" and `speed`: only those with a usable speed. */
interface Sums {
  /** Number of devices. */
  devices: number;
  devicesOfKnownSpeed: number;
  /** Bytes per second. */
  rate: number;
  rateOfKnownSpeed: number;
  speed: number;
}

/**
 * percent = 100 × sum of the rates of the measured devices / sum of their speeds. A device without a usable speed is
 * not measured. A capacity that the Node states (annotation or label) replaces the denominator; then every device that
 * counts is measured. Missing data gives a reason and no percent.
 */
export function nodeUsage(input: NodeInput): NodeUsage {
  const { facts, rates } = input;
  const series = checkSeries(facts, rates);
  if (series) return unknown(input, series);
  if (!facts) return unknown(input, gone(rates));
  const found = { facts, rates };
  const devices = checkDevices(found);
  return devices ? unknown(input, devices) : measure(input, found);
}

function gone(rates: NodeSamples | undefined): Problem {
  const [invalid] = [...(rates?.invalid.values() ?? [])].sort();
  if (invalid !== undefined) return { reason: 'InvalidSample', message: invalid };
  const message = 'there is a rate, but no counter and no speed: the last scrape failed, or the node is new';
  return { reason: 'StaleSamples', message };
}

function checkSeries(facts: NodeFacts | undefined, rates: NodeSamples | undefined): Problem | undefined {
  if (!facts && !rates) return { reason: 'NoSeries', message: 'Prometheus has no series of this node' };
  if (!isOneExporter(facts ?? rates, rates ?? facts)) {
    const instances = new Set([...instancesOf(facts), ...instancesOf(rates)]);
    const names = [...instances].sort().map((name) => JSON.stringify(name));
    return { reason: 'AmbiguousSeries', message: `series of several exporters: instance ${names.join(', ')}` };
  }
  const duplicate = rates?.duplicate ?? facts?.duplicate;
  if (duplicate === undefined) return undefined;
  return {
    reason: 'AmbiguousSeries',
    message: `several series of one device: ${duplicate}; a matcher can tell them apart`,
  };
}

type Exporters = Pick<NodeFacts, 'soleInstance' | 'instances'> | undefined;

function isOneExporter(one: Exporters, other: Exporters): boolean {
  return one?.soleInstance !== undefined && one.soleInstance === other?.soleInstance;
}

function instancesOf(exporters: Exporters): Iterable<string> {
  return exporters?.soleInstance === undefined ? (exporters?.instances ?? []) : [exporters.soleInstance];
}

function checkDevices(found: Found): Problem | undefined {
  const { counted, excluded, ambiguousUplinks } = found.facts.devices;
  if (ambiguousUplinks.length > 0) {
    const names = ambiguousUplinks.join(', ');
    const message = `several virtual devices and no physical one, each may be the uplink: ${names}`;
    return { reason: 'AmbiguousUplink', message };
  }
  const invalid = invalidRate(found) ?? invalidCounterOrRate(found);
  if (invalid !== undefined) return { reason: 'InvalidSample', message: invalid };
  if (counted.length > 0) return undefined;
  const names = [...excluded].map(([name, why]) => `${name} (${why})`).sort();
  return { reason: 'NoSeries', message: `none of its devices counts: ${names.join(', ')}` };
}

/** Message about the first rate that is not a number, of a device that counts or is excluded as Absent only. */
function invalidRate({ facts, rates }: Found): string | undefined {
  if (rates === undefined || rates.invalid.size === 0) return undefined;
  const telling = [...rates.invalid.keys()].sort().find((name) => isOfDevice(name, facts.devices));
  return telling === undefined ? undefined : rates.invalid.get(telling);
}

function isOfDevice(name: string, { excluded }: NodeDevices): boolean {
  const why = excluded.get(name);
  return why === undefined || why === 'Absent';
}

/** Message about the first invalid counter or negative rate of a device that counts. */
function invalidCounterOrRate({ facts, rates }: Found): string | undefined {
  for (const { name, invalid } of facts.devices.counted) {
    const problem = invalid ?? negative('rate', name, rates?.devices.get(name)?.rate);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function measure(input: NodeInput, found: Found): NodeUsage {
  const { names } = found.facts.devices;
  const sums = sumUp(found);
  const transmitBytesTotal = Math.trunc(found.facts.transmitBytesTotal);
  if (sums.devices === 0) return unknown(input, noRate(names), { transmitBytesTotal });
  return input.capacity === undefined
    ? ofSpeeds(input, found, sums, transmitBytesTotal)
    : ofCapacity(input, input.capacity, found, sums, transmitBytesTotal);
}

/** Uses one loop for all sums: it runs for every device of every node in each pass. */
function sumUp({ facts, rates }: Found): Sums {
  const sums = { devices: 0, rate: 0, devicesOfKnownSpeed: 0, rateOfKnownSpeed: 0, speed: 0 };
  for (const { name, speed } of facts.devices.counted) {
    const rate = rates?.devices.get(name)?.rate;
    if (rate === undefined) continue;
    sums.devices++;
    sums.rate += rate;
    if (!isUsable(speed)) continue;
    sums.devicesOfKnownSpeed++;
    sums.rateOfKnownSpeed += rate;
    sums.speed += speed;
  }
  return sums;
}

function ofSpeeds(input: NodeInput, found: Found, sums: Sums, transmitBytesTotal: number): NodeUsage {
  const { devicesOfKnownSpeed: devices, rateOfKnownSpeed: rate, speed } = sums;
  if (devices === 0) {
    return unknown(input, noSpeed(found.facts.devices), { transmitBytesTotal, transmitBytesPerSecond: sums.rate });
  }
  const { counted, names } = found.facts.devices;
  const isMeasured = (each: CountedDevice): boolean => isUsable(each.speed) && hasRate(found, each.name);
  // If all devices are measured, as on most nodes, reuse the list of names instead of allocating one per pass.
  const measuredNames = devices === names.length ? names : counted.filter(isMeasured).map(({ name }) => name);
  return measured(input, found, measuredNames, { rate, capacity: speed, total: transmitBytesTotal });
}

function ofCapacity(
  input: NodeInput,
  stated: StatedCapacity,
  found: Found,
  sums: Sums,
  transmitBytesTotal: number,
): NodeUsage {
  const capacity = parseStated(stated);
  if ('problem' in capacity) {
    return unknown(input, { reason: 'InvalidCapacity', message: capacity.problem }, { transmitBytesTotal });
  }
  // It is the capacity of the whole node: without the rate of one device, the percent would be too low.
  const { names } = found.facts.devices;
  const unrated = names.filter((name) => !hasRate(found, name));
  if (unrated.length > 0) return unknown(input, noRate(unrated), { transmitBytesTotal });
  const { rate } = sums;
  return measured(input, found, names, { rate, capacity: capacity.bytesPerSecond, total: transmitBytesTotal });
}

function hasRate({ rates }: Found, device: string): boolean {
  return rates?.devices.get(device)?.rate !== undefined;
}

function measured(
  input: NodeInput,
  { facts }: Found,
  devices: readonly string[],
  { rate, capacity, total }: { rate: number; capacity: number; total: number },
): NodeUsage {
  const percent = (100 * rate) / capacity;
  if (!Number.isFinite(percent))
    return unknown(input, { reason: 'InvalidSample', message: `rate ${rate} B/s, capacity ${capacity} B/s` });
  return {
    node: input.node,
    percent,
    transmitBytesTotal: total,
    transmitBytesPerSecond: rate,
    capacityBytesPerSecond: capacity,
    capacitySource: input.capacity?.source ?? 'Series',
    devices,
    timeSeconds: input.timeSeconds,
    reason: 'Measured',
    lacksDrivers: facts.devices.lacksDrivers,
  };
}

function unknown(input: NodeInput, problem: Problem, numbers: Numbers = {}): NodeUsage {
  return { node: input.node, ...numbers, devices: [], timeSeconds: input.timeSeconds, ...problem };
}

/** A NIC that is down reports -125000, some virtual devices report 0. */
function isUsable(speed: number | undefined): speed is number {
  return speed !== undefined && Number.isFinite(speed) && speed > 0;
}

function noRate(names: readonly string[]): Problem {
  const message = `fewer than two samples in the rate window for ${names.join(', ')}: new, or not scraped recently`;
  return { reason: 'StaleSamples', message };
}

function noSpeed({ counted }: NodeDevices): Problem {
  const speeds = counted.map(({ name, speed }) => `${name}: ${speed === undefined ? 'no speed' : `speed ${speed}`}`);
  const message = `the capacity is unknown (${speeds.join(', ')}); set the capacity annotation of the node`;
  return { reason: 'NoCapacity', message };
}

/**
 * Formats a percent for the status, like Go's strconv.FormatFloat(x, 'e', -1, 64): "1.06976e-04". Uses the shortest
 * digits that parse to the same number, and at least two digits of exponent.
 *
 * @param percent a finite number
 */
export function formatPercent(percent: number): string {
  // toExponential() gives the shortest digits, but may write an exponent of one digit.
  return percent.toExponential().replace(/([+-])(\d)$/, '$10$2');
}
