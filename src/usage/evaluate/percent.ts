import type { StatedCapacity } from '../../nodes/statedCapacity.ts';
import { bytesIn, parseStated } from './capacity.ts';
import { describeDuplicate } from './duplicateSeries.ts';
import type { NodeFacts } from './nodeFacts.ts';
import {
  busyFunction,
  busySlaves,
  lackOfCounter,
  noCounter,
  lackOfRate,
  noRate,
  oneRateLess,
  type Selection,
  type LateDevices,
} from './unknownTraffic.ts';
import type { CountedDevice, NodeDevices } from './devices/devices.ts';
import type { NodeSamples } from '../series/nodeSamples.ts';
import { DEFAULT_READING, usesBoth, type Reading } from './reading.ts';
import { frozenCounters, impossibleRate, lackOfSpeed, resetCounter, type FallenDevices } from './rateProblems.ts';
import { isUsable, sourceOfSpeeds } from './speeds.ts';
import { hasRate, sumUp, type Found, type Sums } from './sums.ts';
import type { Problem, UsageReason } from './usageReason.ts';

/** A node's devices had more capacity within the last hour than now, for example because a bond lost a slave. */
export interface CapacityDrop {
  /** Bytes per second: sum over the measured devices of their highest speed of the last hour. */
  fromBytesPerSecond: number;
  /** The devices that are slower now, sorted. */
  devices: readonly string[];
}

/** The fullest of the measured devices of a node. */
interface FullDevice {
  readonly device: string;
  /** The rate in percent of the speed of the device. */
  readonly percent: number;
}

/** How much of a node's network is in use. */
export interface NodeUsage {
  node: string;
  /** At least 0. A burst can exceed 100. Absent unless the reason is Measured. */
  percent?: number;
  /** Sum of the transmit counters of the devices that count, whatever the direction; an integer. */
  transmitBytesTotal?: number;
  /** The rate of the reading's direction: with Max the larger rate, with Sum both together. */
  bytesPerSecond?: number;
  capacityBytesPerSecond?: number;
  /** Where the capacity comes from. Absent without a capacity. */
  capacitySource?: CapacitySource;
  /** The devices that the figures are about, sorted: with the measure Fullest, only the fullest. */
  devices: readonly string[];
  /** Set with the measure Sum if the sums include several devices of known speed. Not set with a stated capacity. */
  fullest?: FullDevice | undefined;
  /** Evaluation time of the Prometheus server, seconds since 1970. */
  timeSeconds: number;
  reason: UsageReason;
  /** Absent unless devices became slower within the last hour. */
  drop?: CapacityDrop;
  /** Explains the reason and says what to do, without figures that change with each pass. Absent if the reason is Measured. */
  message?: string;
  /** Time of the newest sample, seconds since 1970. Set if it is too old for a rate. */
  newestSeconds?: number;
  /** Set if the reason is Measured and no device reports its driver. */
  lacksDrivers?: true | undefined;
}

/** Where a capacity comes from: what the reading or the Node states, or the speeds of its devices in the series. */
export type CapacitySource = StatedCapacity['source'] | ReturnType<typeof sourceOfSpeeds>;

/** The input for one node in one pass. */
export interface NodeInput {
  node: string;
  facts: NodeFacts | undefined;
  /** Transmit rates. */
  rates: NodeSamples | undefined;
  /** Receive rates. Only readings with another direction than Transmit use them. */
  received?: NodeSamples | undefined;
  /** Default: DEFAULT_READING. */
  reading?: Reading | undefined;
  /** The capacity that the reading or the Node states, not parsed. Replaces the sum of speeds. */
  capacity: StatedCapacity | undefined;
  timeSeconds: number;
  /** True if rates of 0 show repeated values: see silenceTells of rateProblems.ts. */
  silenceTells?: boolean;
  /** True if the rate window has repeated values of its counters. */
  isRepeated?: boolean;
  /** The devices whose counters fell: see resetCounter of rateProblems.ts. */
  fallen?: FallenDevices;
  /** The devices without a rate because their newest sample is too old. */
  late?: LateDevices;
  /** The devices that the reading leaves out by name. The facts are without them already. Default: none. */
  filter?: Selection | undefined;
}

type Numbers = Pick<NodeUsage, 'transmitBytesTotal' | 'bytesPerSecond' | 'capacityBytesPerSecond'>;
/**
 * percent = 100 × rate of the measured devices / sum of their speeds. A device without a usable speed is not measured;
 * if it has real traffic, the node is not (see `lackOfSpeed`). Nor is the node if a device lacks a rate (see `lackOfRate`).
 * A stated capacity (spec, annotation or label) replaces the denominator; then every device that counts is
 * measured. Missing data, and a rate that no link of the device can carry (see `highestRate`), give a reason and no
 * percent.
 *
 * | direction | rate                                                | a device is measured with     |
 * |-----------|-----------------------------------------------------|-------------------------------|
 * | Transmit  | sum of the transmit rates                           | a transmit rate               |
 * | Receive   | sum of the receive rates                            | a receive rate                |
 * | Max       | the larger of both sums: the larger percentage      | a transmit and a receive rate |
 * | Sum       | both sums together: up to 200 % of a full-duplex link | a transmit and a receive rate |
 *
 * With the measure Fullest, the values of the device with the highest percent replace the sums. A device without a
 * speed cannot be the fullest. With a stated capacity:
 *
 * | devices that count | Fullest is                                                             | source of its capacity |
 * |--------------------|------------------------------------------------------------------------|------------------------|
 * | one                | the device in percent of the stated capacity                           | what states it         |
 * | several            | the fullest device by its own speed,                                   | Series or ActiveSlaves |
 * |                    | or all in percent of the stated capacity if that is more               | what states it         |
 */
export function nodeUsage(input: NodeInput): NodeUsage {
  const { facts, reading = DEFAULT_READING } = input;
  const { direction, measure = 'Sum' } = reading;
  const both = usesBoth(reading);
  const rates = direction === 'Receive' ? input.received : input.rates;
  const second = both ? input.received : undefined;
  const series = checkSeries(facts, rates) ?? (both ? checkSeries(facts, second) : undefined);
  if (series) return unknown(input, series);
  if (!facts) return unknown(input, gone(rates ?? second));
  const found = { facts, rates, second, direction, measure, both };
  const devices = checkDevices(found, input.fallen);
  return devices ? unknown(input, devices) : figuresOf(input, found);
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
    const choose = 'choose one with a label matcher (--prometheus-matcher; chart: prometheus.matchers)';
    return {
      reason: 'AmbiguousSeries',
      message: `series of several exporters: instance ${names.join(', ')}; ${choose}`,
    };
  }
  const { duplicate, differing = [] } = rates?.duplicate === undefined ? { duplicate: facts?.duplicate } : rates;
  const message = describeDuplicate({ duplicate, differing });
  return message === undefined ? undefined : { reason: 'AmbiguousSeries', message };
}

type Exporters = Pick<NodeFacts, 'soleInstance' | 'instances'> | undefined;

function isOneExporter(one: Exporters, other: Exporters): boolean {
  return one?.soleInstance !== undefined && one.soleInstance === other?.soleInstance;
}

function instancesOf(exporters: Exporters): Iterable<string> {
  return exporters?.soleInstance === undefined ? (exporters?.instances ?? []) : [exporters.soleInstance];
}

function checkDevices(found: Found, fallen: FallenDevices | undefined): Problem | undefined {
  const { counted, excluded, ambiguousUplinks, withoutCounter, doubt } = found.facts.devices;
  if (ambiguousUplinks.length > 0) {
    const names = ambiguousUplinks.join(', ');
    const message = `several virtual devices and no physical one, each may be the uplink: ${names}`;
    return { reason: 'AmbiguousUplink', message };
  }
  if (doubt !== undefined) return { reason: 'AmbiguousUplink', message: doubt };
  const { rates, second } = found;
  const invalid = invalidRate(found, rates) ?? invalidRate(found, second) ?? invalidCounter(found);
  if (invalid !== undefined) return { reason: 'InvalidSample', message: invalid };
  const reset = resetCounter(found, fallen);
  if (reset !== undefined) return { reason: 'CounterReset', message: reset };
  const busy = busyFunction(found) ?? busySlaves(found);
  if (busy !== undefined) return { reason: 'AmbiguousUplink', message: busy };
  if (counted.length > 0) return undefined;
  const [nic] = withoutCounter ?? [];
  if (nic !== undefined) return noCounter(nic);
  const filtered = [...excluded].flatMap(([name, why]) => (why === 'Filtered' ? [name] : [])).sort();
  if (filtered.length > 0) return noDeviceSelected(filtered);
  const names = [...excluded].map(([name, why]) => `${name} (${why})`).sort();
  return { reason: 'NoSeries', message: `none of its devices counts: ${names.join(', ')}` };
}

function noDeviceSelected(filtered: readonly string[]): Problem {
  const message = `devices.include and devices.exclude leave none of the devices that count: ${filtered.join(', ')}`;
  return { reason: 'NoDeviceSelected', message };
}

/** Message about the first rate that is not a number, of a device that counts or is excluded as Absent only. */
function invalidRate({ facts }: Found, rates: NodeSamples | undefined): string | undefined {
  if (rates === undefined || rates.invalid.size === 0) return undefined;
  const telling = [...rates.invalid.keys()].sort().find((name) => isOfDevice(name, facts.devices));
  return telling === undefined ? undefined : rates.invalid.get(telling);
}

function isOfDevice(name: string, { excluded }: NodeDevices): boolean {
  const why = excluded.get(name);
  return why === undefined || why === 'Absent';
}

/** Message about the first invalid counter of a device that counts. */
function invalidCounter({ facts }: Found): string | undefined {
  return facts.devices.counted.find(({ invalid }) => invalid !== undefined)?.invalid;
}

function figuresOf(input: NodeInput, found: Found): NodeUsage {
  const { names } = found.facts.devices;
  const capacity = input.capacity === undefined ? undefined : parseStated(input.capacity);
  const stated = bytesIn(capacity);
  const sums = sumUp(found, stated);
  const transmitBytesTotal = Math.trunc(found.facts.transmitBytesTotal);
  if (sums.devices === 0) return unknown(input, noRate(input.late, found, names), { transmitBytesTotal });
  if (capacity !== undefined && 'problem' in capacity) {
    return unknown(input, { reason: 'InvalidCapacity', message: capacity.problem }, { transmitBytesTotal });
  }
  const uncounted = lackOfCounter(found, sums, stated, input.filter);
  if (uncounted !== undefined) return unknown(input, uncounted, { transmitBytesTotal });
  if (sums.impossible !== undefined) {
    const message = impossibleRate(sums.impossible, found, stated);
    return unknown(input, { reason: 'InvalidSample', message }, { transmitBytesTotal });
  }
  const frozen = frozenCounters(input, sums.rate);
  if (frozen !== undefined) return unknown(input, { reason: 'StaleSamples', message: frozen }, { transmitBytesTotal });
  return input.capacity === undefined
    ? ofSpeeds(input, found, sums, transmitBytesTotal)
    : ofCapacity(input, { source: input.capacity.source, capacity: stated }, found, sums, transmitBytesTotal);
}

function ofSpeeds(input: NodeInput, found: Found, sums: Sums, transmitBytesTotal: number): NodeUsage {
  const { devicesOfKnownSpeed: devices, rateOfKnownSpeed: rate, speed } = sums;
  const message = lackOfSpeed(found.facts.devices, sums);
  if (message !== undefined) {
    return unknown(input, { reason: 'NoCapacity', message }, { transmitBytesTotal, bytesPerSecond: sums.rate });
  }
  const unrated = lackOfRate(sums);
  if (unrated !== undefined)
    return unknown(input, oneRateLess(input.late, found, [unrated.name]), { transmitBytesTotal });
  if (found.measure === 'Fullest') return ofFullest(input, found, sums, transmitBytesTotal);
  const { counted, names } = found.facts.devices;
  const isMeasured = (each: CountedDevice): boolean => isUsable(each.speed) && hasRate(found, each.name);
  // If all devices are measured, as on most nodes, reuse the lists instead of allocating new ones per pass.
  const areAll = devices === names.length;
  const those = areAll ? counted : counted.filter(isMeasured);
  const fullest = devices > 1 ? fullestOf(sums) : undefined;
  return measured(input, found, areAll ? names : those.map(({ name }) => name), {
    rate,
    capacity: speed,
    source: sourceOfSpeeds(those),
    total: transmitBytesTotal,
    fullest,
  });
}

function fullestOf({ fullest, fullestRate }: Sums): FullDevice | undefined {
  if (fullest?.speed === undefined) return undefined;
  return { device: fullest.name, percent: (100 * fullestRate) / fullest.speed };
}

function ofFullest(input: NodeInput, found: Found, { fullest, fullestRate: rate }: Sums, total: number): NodeUsage {
  const { name = '', speed: capacity = NaN } = fullest ?? {};
  const source = sourceOfSpeeds(fullest === undefined ? [] : [fullest]);
  return measured(input, found, [name], { rate, capacity, source, total });
}

function ofCapacity(
  input: NodeInput,
  stated: Pick<Figures, 'source' | 'capacity'>,
  found: Found,
  sums: Sums,
  transmitBytesTotal: number,
): NodeUsage {
  // It is the capacity of the whole node: without the rate of one device, the percent would be too low.
  const { names } = found.facts.devices;
  const unrated = names.filter((name) => !hasRate(found, name));
  if (unrated.length > 0) return unknown(input, oneRateLess(input.late, found, unrated), { transmitBytesTotal });
  const { rate } = sums;
  if (found.measure === 'Fullest' && names.length > 1) {
    const isLess = (100 * rate) / stated.capacity < (fullestOf(sums)?.percent ?? 0);
    if (isLess) return ofFullest(input, found, sums, transmitBytesTotal);
  }
  return measured(input, found, names, { ...stated, rate, total: transmitBytesTotal });
}

interface Figures {
  /** Bytes per second. */
  rate: number;
  /** Bytes per second. */
  capacity: number;
  source: CapacitySource;
  /** Transmitted bytes. */
  total: number;
  fullest?: FullDevice | undefined;
}

function measured(
  input: NodeInput,
  { facts }: Found,
  devices: readonly string[],
  { rate, capacity, source, total, fullest }: Figures,
): NodeUsage {
  const bytesPerSecond = Math.max(rate, 0);
  const percent = (100 * bytesPerSecond) / capacity;
  if (!Number.isFinite(percent))
    return unknown(input, { reason: 'InvalidSample', message: `rate ${rate} B/s, capacity ${capacity} B/s` });
  return {
    node: input.node,
    percent,
    transmitBytesTotal: total,
    bytesPerSecond,
    capacityBytesPerSecond: capacity,
    capacitySource: source,
    devices,
    timeSeconds: input.timeSeconds,
    reason: 'Measured',
    lacksDrivers: facts.devices.lacksDrivers,
    fullest,
  };
}

function unknown(input: NodeInput, problem: Problem, numbers: Numbers = {}): NodeUsage {
  return { node: input.node, ...numbers, devices: [], timeSeconds: input.timeSeconds, ...problem };
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
