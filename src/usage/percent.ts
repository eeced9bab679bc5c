import { parseCapacity } from './capacity.ts';
import type { DeviceChoice } from './devices.ts';
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
  facts: NodeReadings | undefined;
  rates: NodeReadings | undefined;
  /** The annotation, as it was written: stands in for the sum of speeds. */
  capacity: string | undefined;
  /** Devices whose whole name matches do not count. */
  exclude: RegExp;
  timeSeconds: number;
}

type Numbers = Pick<NodeUsage, 'transmitBytesTotal' | 'transmitBytesPerSecond' | 'capacityBytesPerSecond'>;
interface Found {
  facts: NodeReadings;
  rates: NodeReadings | undefined;
  choice: DeviceChoice;
}
interface Problem {
  reason: Exclude<UsageReason, 'Measured'>;
  message: string;
}
/** A counted device with its rate in bytes per second. */
interface Rated {
  name: string;
  rate: number;
  speed: number | undefined;
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
  const found = { facts, rates, choice: facts.choice(input.exclude) };
  const devices = checkDevices(found);
  return devices ? unknown(input, devices) : measure(input, found);
}

function gone(rates: NodeReadings | undefined): Problem {
  const [invalid] = [...(rates?.invalid.values() ?? [])].sort();
  if (invalid !== undefined) return { reason: 'InvalidSample', message: invalid };
  const message = 'its last scrape failed or is the first: there is a rate, but no counter and no speed';
  return { reason: 'StaleSamples', message };
}

function checkSeries(facts: NodeReadings | undefined, rates: NodeReadings | undefined): Problem | undefined {
  if (!facts && !rates) return { reason: 'NoSeries', message: 'Prometheus has no series of this node' };
  if (!isOneExporter(facts ?? rates, rates ?? facts)) {
    const instances = new Set([...(facts?.instances ?? []), ...(rates?.instances ?? [])]);
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

function isOneExporter(one: NodeReadings | undefined, other: NodeReadings | undefined): boolean {
  return one?.soleInstance !== undefined && one.soleInstance === other?.soleInstance;
}

function checkDevices(found: Found): Problem | undefined {
  const { choice } = found;
  if (choice.ambiguousUplinks.length > 0) {
    const names = choice.ambiguousUplinks.join(', ');
    const message = `several veth devices and no other, each may be the uplink: ${names}`;
    return { reason: 'AmbiguousUplink', message };
  }
  const invalid = invalidSample(found);
  if (invalid !== undefined) return { reason: 'InvalidSample', message: invalid };
  if (choice.counted.length > 0) return undefined;
  const names = [...choice.excluded].map(([name, why]) => `${name} (${why})`).sort();
  return { reason: 'NoSeries', message: `none of its devices counts: ${names.join(', ')}` };
}

/** The first sample that is no number, in words, of a device that counts or would if its counter were a number. */
function invalidSample({ facts, rates, choice }: Found): string | undefined {
  if (rates && rates.invalid.size > 0) {
    for (const name of [...rates.invalid.keys()].sort()) {
      const excluded = choice.excluded.get(name);
      if (excluded === undefined || excluded === 'Absent') return rates.invalid.get(name);
    }
  }
  for (const name of choice.counted) {
    const problem =
      facts.invalid.get(name) ??
      negative('counter', name, facts.devices.get(name)?.total) ??
      negative('rate', name, rates?.devices.get(name)?.rate);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A counter can't be below 0, nor can its rate, which takes resets into account. */
function negative(what: string, device: string, value: number | undefined): string | undefined {
  return value !== undefined && value < 0 ? `${what} of ${device} is ${value}` : undefined;
}

function measure(input: NodeInput, found: Found): NodeUsage {
  const { facts, choice } = found;
  const rated = ratedDevices(found);
  const transmitBytesTotal = Math.trunc(sum(choice.counted, (name) => facts.devices.get(name)?.total ?? 0));
  if (rated.length === 0) return unknown(input, noRate(choice.counted), { transmitBytesTotal });
  return input.capacity === undefined
    ? ofSpeeds(input, found, rated, transmitBytesTotal)
    : ofCapacity(input, input.capacity, found, rated, transmitBytesTotal);
}

function ofSpeeds(input: NodeInput, found: Found, rated: readonly Rated[], transmitBytesTotal: number): NodeUsage {
  const known = rated.filter(({ speed }) => isUsable(speed));
  if (known.length === 0) {
    const transmitBytesPerSecond = sum(rated, ({ rate }) => rate);
    return unknown(input, noSpeed(found), { transmitBytesTotal, transmitBytesPerSecond });
  }
  const capacity = sum(known, ({ speed }) => speed ?? 0);
  return measured(input, found, known, capacity, transmitBytesTotal);
}

function ofCapacity(
  input: NodeInput,
  text: string,
  found: Found,
  rated: readonly Rated[],
  transmitBytesTotal: number,
): NodeUsage {
  const capacity = parseCapacity(text);
  if ('problem' in capacity) {
    const message = `the capacity annotation ${capacity.problem}`;
    return unknown(input, { reason: 'InvalidCapacity', message }, { transmitBytesTotal });
  }
  // The whole node's capacity needs the whole node's traffic: without one device's rate it would seem less than it is.
  const unrated = found.choice.counted.filter((name) => !rated.some((device) => device.name === name));
  if (unrated.length > 0) return unknown(input, noRate(unrated), { transmitBytesTotal });
  return measured(input, found, rated, capacity.bytesPerSecond, transmitBytesTotal);
}

function measured(
  input: NodeInput,
  { choice: { counted } }: Found,
  devices: readonly Rated[],
  capacity: number,
  total: number,
): NodeUsage {
  const rate = sum(devices, (device) => device.rate);
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
    devices: devices.length === counted.length ? counted : devices.map(({ name }) => name),
    timeSeconds: input.timeSeconds,
    reason: 'Measured',
  };
}

function unknown(input: NodeInput, problem: Problem, numbers: Numbers = {}): NodeUsage {
  return { node: input.node, ...numbers, devices: [], timeSeconds: input.timeSeconds, ...problem };
}

function ratedDevices({ facts, rates, choice }: Found): Rated[] {
  const rated: Rated[] = [];
  for (const name of choice.counted) {
    const rate = rates?.devices.get(name)?.rate;
    if (rate !== undefined) rated.push({ name, rate, speed: facts.devices.get(name)?.speed });
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

function noSpeed({ facts, choice }: Found): Problem {
  const speeds = choice.counted.map((name) => {
    const speed = facts.devices.get(name)?.speed;
    return `${name}: ${speed === undefined ? 'no speed' : `speed ${speed}`}`;
  });
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
