import { parseCapacity } from './capacity.ts';
import { negative, type CountedDevice, type NodeDevices, type NodeFacts } from './nodeFacts.ts';
import type { NodeReadings } from './samples.ts';
import type { UsageReason } from './usageReason.ts';

/** That a node's devices could carry more within the last hour than they can now: a bond lost a slave, a NIC its speed. */
export interface CapacityFall {
  /** Bytes per second: the sum of the measured devices, each at its highest speed of the last hour. */
  fromBytesPerSecond: number;
  /** The devices that are slower now, sorted. */
  devices: readonly string[];
}

/** How much of a node's network is in use. */
export interface NodeUsage {
  node: string;
  /** At least 0; absent unless the reason is Measured. A burst may go beyond 100. */
  percent?: number;
  /** Sum of the counters of the devices that count; an integer. */
  transmitBytesTotal?: number;
  transmitBytesPerSecond?: number;
  capacityBytesPerSecond?: number;
  /** The devices whose traffic is in the sums, sorted. */
  devices: readonly string[];
  /** The server's time of evaluation, seconds since 1970. */
  timeSeconds: number;
  reason: UsageReason;
  /** What it could carry before; absent unless its devices have become slower within the last hour. */
  fall?: CapacityFall;
  /** What is wrong, for a person. Absent when Measured. */
  message?: string;
}

/** All that is known of one node in one pass. */
export interface NodeInput {
  node: string;
  facts: NodeFacts | undefined;
  rates: NodeReadings | undefined;
  /** The annotation, as it was written: stands in for the sum of speeds. */
  capacity: string | undefined;
  timeSeconds: number;
}

type Numbers = Pick<NodeUsage, 'transmitBytesTotal' | 'transmitBytesPerSecond' | 'capacityBytesPerSecond'>;
interface Found {
  facts: NodeFacts;
  rates: NodeReadings | undefined;
}
interface Problem {
  reason: Exclude<UsageReason, 'Measured'>;
  message: string;
}
/** A device with its rate in bytes per second. */
interface Rated {
  device: CountedDevice;
  rate: number;
}

/**
 * percent = 100 × sum of the rates of the measured devices / sum of their speeds. A device without a usable speed is
 * not measured; a capacity annotation replaces the denominator, and then every device that counts is measured. Never
 * a number for lack of data.
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

function gone(rates: NodeReadings | undefined): Problem {
  const [invalid] = [...(rates?.invalid.values() ?? [])].sort();
  if (invalid !== undefined) return { reason: 'InvalidSample', message: invalid };
  const message = 'its last scrape failed or is the first: there is a rate, but no counter and no speed';
  return { reason: 'StaleSamples', message };
}

function checkSeries(facts: NodeFacts | undefined, rates: NodeReadings | undefined): Problem | undefined {
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
    const message = `several veth devices and no other, each may be the uplink: ${names}`;
    return { reason: 'AmbiguousUplink', message };
  }
  const invalid = invalidRate(found) ?? invalidCounterOrRate(found);
  if (invalid !== undefined) return { reason: 'InvalidSample', message: invalid };
  if (counted.length > 0) return undefined;
  const names = [...excluded].map(([name, why]) => `${name} (${why})`).sort();
  return { reason: 'NoSeries', message: `none of its devices counts: ${names.join(', ')}` };
}

/** The first rate that is no number, in words, of a device that counts or would if its counter were a number. */
function invalidRate({ facts, rates }: Found): string | undefined {
  if (rates === undefined || rates.invalid.size === 0) return undefined;
  const telling = [...rates.invalid.keys()].sort().find((name) => isOfDevice(name, facts.devices));
  return telling === undefined ? undefined : rates.invalid.get(telling);
}

function isOfDevice(name: string, { excluded }: NodeDevices): boolean {
  const why = excluded.get(name);
  return why === undefined || why === 'Absent';
}

/** The first sample of a device that counts which can't be, in words. */
function invalidCounterOrRate({ facts, rates }: Found): string | undefined {
  for (const { name, invalid } of facts.devices.counted) {
    const problem = invalid ?? negative('rate', name, rates?.devices.get(name)?.rate);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function measure(input: NodeInput, { facts, rates }: Found): NodeUsage {
  const rated = ratedDevices({ facts, rates });
  const transmitBytesTotal = Math.trunc(facts.transmitBytesTotal);
  if (rated.length === 0) return unknown(input, noRate(facts.devices.names), { transmitBytesTotal });
  return input.capacity === undefined
    ? ofSpeeds(input, facts, rated, transmitBytesTotal)
    : ofCapacity(input, input.capacity, facts, rated, transmitBytesTotal);
}

function ofSpeeds(input: NodeInput, facts: NodeFacts, rated: readonly Rated[], transmitBytesTotal: number): NodeUsage {
  const known = rated.filter(({ device }) => isUsable(device.speed));
  if (known.length === 0) {
    const transmitBytesPerSecond = sum(rated, ({ rate }) => rate);
    return unknown(input, noSpeed(facts.devices), { transmitBytesTotal, transmitBytesPerSecond });
  }
  const capacity = sum(known, ({ device }) => device.speed ?? 0);
  return measured(input, facts, known, capacity, transmitBytesTotal);
}

function ofCapacity(
  input: NodeInput,
  text: string,
  facts: NodeFacts,
  rated: readonly Rated[],
  transmitBytesTotal: number,
): NodeUsage {
  const capacity = parseCapacity(text);
  if ('problem' in capacity) {
    const message = `the capacity annotation ${capacity.problem}`;
    return unknown(input, { reason: 'InvalidCapacity', message }, { transmitBytesTotal });
  }
  // The whole node's capacity needs the whole node's traffic: without one device's rate it would seem less than it is.
  const unrated = facts.devices.names.filter((name) => !rated.some(({ device }) => device.name === name));
  if (unrated.length > 0) return unknown(input, noRate(unrated), { transmitBytesTotal });
  return measured(input, facts, rated, capacity.bytesPerSecond, transmitBytesTotal);
}

function measured(
  input: NodeInput,
  { devices: { names } }: NodeFacts,
  rated: readonly Rated[],
  capacity: number,
  total: number,
): NodeUsage {
  const rate = sum(rated, (each) => each.rate);
  const percent = (100 * rate) / capacity;
  if (!Number.isFinite(percent))
    return unknown(input, { reason: 'InvalidSample', message: `${rate} B/s of ${capacity}` });
  return {
    node: input.node,
    percent,
    transmitBytesTotal: total,
    transmitBytesPerSecond: rate,
    capacityBytesPerSecond: capacity,
    // Mostly all that count: then one list serves pass after pass.
    devices: rated.length === names.length ? names : rated.map(({ device }) => device.name),
    timeSeconds: input.timeSeconds,
    reason: 'Measured',
  };
}

function unknown(input: NodeInput, problem: Problem, numbers: Numbers = {}): NodeUsage {
  return { node: input.node, ...numbers, devices: [], timeSeconds: input.timeSeconds, ...problem };
}

function ratedDevices({ facts, rates }: Found): Rated[] {
  const rated: Rated[] = [];
  for (const device of facts.devices.counted) {
    const rate = rates?.devices.get(device.name)?.rate;
    if (rate !== undefined) rated.push({ device, rate });
  }
  return rated;
}

/** A NIC that is down reads -125000, some virtual ones 0. */
function isUsable(speed: number | undefined): boolean {
  return speed !== undefined && Number.isFinite(speed) && speed > 0;
}

function noRate(names: readonly string[]): Problem {
  const message = `fewer than two samples in the window for ${names.join(', ')}: not scraped lately, or new`;
  return { reason: 'StaleSamples', message };
}

function noSpeed({ counted }: NodeDevices): Problem {
  const speeds = counted.map(({ name, speed }) => `${name}: ${speed === undefined ? 'no speed' : `speed ${speed}`}`);
  const message = `no known capacity (${speeds.join(', ')}); the capacity annotation of the node can give it`;
  return { reason: 'NoCapacity', message };
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  let total = 0;
  for (const item of items) total += value(item);
  return total;
}

/**
 * A percent as status carries it: like Go's strconv.FormatFloat(x, 'e', -1, 64), "1.06976e-04". Shortest digits that
 * read back as the same number, at least two digits of exponent.
 *
 * @param percent a finite number
 */
export function formatPercent(percent: number): string {
  // toExponential() without digits gives as many as are needed, and a shorter exponent than Go's.
  return percent.toExponential().replace(/([+-])(\d)$/, '$10$2');
}
