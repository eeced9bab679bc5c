import type { SeriesVisitor } from './answer.ts';
import type { DeviceFacts } from './devices.ts';

/** Which node a series speaks of; AMBIGUOUS stands for "several". */
export interface SeriesResolver {
  resolve(node: string | undefined, instance: string | undefined): string | symbol | undefined;
}

/** What an answer says of one device. */
export interface DeviceReading extends DeviceFacts {
  /** Bytes per second. */
  rate?: number | undefined;
  /** Highest speed of late, bytes per second. */
  peak?: number | undefined;
}

/** What answers with facts say of one device. Those with one figure a device have no room for others. */
export class FactsReading implements DeviceFacts {
  total: number | undefined = undefined;
  speed: number | undefined = undefined;
  flags: number | undefined = undefined;
  ifaceId: number | undefined = undefined;
  ifaceLink: number | undefined = undefined;
  driver: string | undefined = undefined;
}

const NOTHING_INVALID: ReadonlyMap<string, string> = new Map();

/** What an answer says of one node. There are as many of these as nodes in each pass, so it holds little that is empty. */
export class NodeReadings {
  readonly devices = new Map<string, DeviceReading>();
  /** Series that there are twice for one device: the first such device, in words. */
  duplicate: string | undefined = undefined;
  #instance: string | undefined = undefined;
  #otherInstances: Set<string> | undefined = undefined;
  #invalid: Map<string, string> | undefined = undefined;

  /** Label `instance` of its series; two of them mean two exporters. */
  get instances(): ReadonlySet<string> {
    const first = this.#instance === undefined ? [] : [this.#instance];
    return new Set([...first, ...(this.#otherInstances ?? [])]);
  }

  /** The one instance of its series; undefined where there are several, or none. */
  get soleInstance(): string | undefined {
    return this.#otherInstances === undefined ? this.#instance : undefined;
  }

  /** Samples that are no number, by device, in words. */
  get invalid(): ReadonlyMap<string, string> {
    return this.#invalid ?? NOTHING_INVALID;
  }

  /**
   * Forgets what was read of rates. Devices that had one stay, without it: mostly the next answer has the same. The
   * others go, or those of pods would gather.
   */
  emptied(): this {
    this.duplicate = undefined;
    this.#instance = undefined;
    this.#otherInstances = undefined;
    this.#invalid = undefined;
    this.devices.forEach((device, name) => {
      if (device.rate === undefined) this.devices.delete(name);
      else device.rate = undefined;
    });
    return this;
  }

  noteInstance(instance: string): void {
    if (this.#instance === instance) return;
    if (this.#instance === undefined) this.#instance = instance;
    else (this.#otherInstances ??= new Set()).add(instance);
  }

  noteInvalid(device: string, problem: string): void {
    this.#invalid ??= new Map();
    if (!this.#invalid.has(device)) this.#invalid.set(device, problem);
  }
}

/** How many devices' series can't be attributed to one node, and some of them by name. */
export interface Strays {
  series: number;
  /** At most five, each only once. */
  examples: Set<string>;
}

const MOST_EXAMPLES = 5;
const LONGEST_QUOTE = 60;

type Field = 'rate' | 'peak' | 'total' | 'speed' | 'flags' | 'ifaceId' | 'ifaceLink';
const FIELDS: ReadonlyMap<unknown, Field> = new Map([
  ['node_network_transmit_bytes_total', 'total'],
  ['node_network_speed_bytes', 'speed'],
  ['node_network_flags', 'flags'],
  ['node_network_iface_id', 'ifaceId'],
  ['node_network_iface_link', 'ifaceLink'],
]);
const DRIVER_METRIC = 'node_ethtool_info';
/** Stray series of the other metrics are the same devices again. */
const COUNTER_METRIC = 'node_network_transmit_bytes_total';

type Labels = Readonly<{ node?: unknown; instance?: unknown; [name: string]: unknown }>;

/**
 * Takes in the series of one answer, one after the other, and sorts them by node and device. Whatever is wrong with a
 * series is noted where it belongs and never becomes a number, nor an exception for the others.
 */
export class Readings implements SeriesVisitor {
  readonly nodes = new Map<string, NodeReadings>();
  readonly unmatched: Strays = { series: 0, examples: new Set() };
  readonly ambiguous: Strays = { series: 0, examples: new Set() };
  /** The server's time of evaluation, seconds since 1970: that of the first sample. */
  timeSeconds: number | undefined = undefined;
  readonly #resolver: SeriesResolver;
  readonly #field: 'rate' | 'peak' | undefined;
  /** Where the series before belonged. */
  #last: { node: unknown; instance: unknown; readings: NodeReadings } | undefined = undefined;
  readonly #spent: ReadonlyMap<string, NodeReadings> | undefined;

  /**
   * @param field what all samples are, where the series carry no metric name.
   * @param spent rates that nobody looks at any more. These are made of them: objects that last from one pass to the
   * next are what costs most, since V8 has to look for them among all others.
   */
  constructor(resolver: SeriesResolver, field?: 'rate' | 'peak', spent?: Readings) {
    this.#resolver = resolver;
    this.#field = field;
    this.#spent = spent?.nodes;
  }

  /** @param series an element of `data.result` of an instant query's answer, as it was parsed. */
  visit(series: unknown): void {
    const { metric, value } = (series ?? {}) as { metric?: Labels | null; value?: unknown };
    const device = metric?.device;
    if (!metric || typeof device !== 'string' || device === '') {
      note(this.unmatched, metric);
      return;
    }
    const node = this.#nodeOf(metric);
    if (!(node instanceof NodeReadings)) {
      note(node, metric);
      return;
    }
    this.#readTime(value);
    this.#read(node, device, metric, value);
  }

  /**
   * Takes in a sample of which only the labels `node`, `instance` and `device` are at hand, and the number as it is
   * written. False, and nothing is taken in, where there is more to say than its number: then `visit` has to say it.
   */
  visitKnown(labels: { node: unknown; instance: unknown; device: unknown }, text: string): boolean {
    const { device } = labels;
    const field = this.#field;
    if (field === undefined || this.timeSeconds === undefined || typeof device !== 'string' || device === '')
      return false;
    const node = this.#nodeOf(labels);
    if (!(node instanceof NodeReadings)) return false;
    const reading = this.#readingOf(node, device);
    const number = numberFrom(text);
    if (reading[field] !== undefined || Number.isNaN(number)) return false;
    reading[field] = number;
    return true;
  }

  /** The series of one node mostly come one after the other. Without a node: the strays that it is one of. */
  #nodeOf(labels: Labels): NodeReadings | Strays {
    const { node, instance } = labels;
    const last = this.#last;
    if (last !== undefined && last.node === node && last.instance === instance) return last.readings;
    const readings = this.#lookUp(textOf(node), textOf(instance));
    this.#last = readings instanceof NodeReadings ? { node, instance, readings } : undefined;
    return readings;
  }

  #lookUp(label: string | undefined, instance: string | undefined): NodeReadings | Strays {
    const name = this.#resolver.resolve(label, instance);
    if (typeof name !== 'string') return name === undefined ? this.unmatched : this.ambiguous;
    let node = this.nodes.get(name);
    if (node === undefined) this.nodes.set(name, (node = this.#spent?.get(name)?.emptied() ?? new NodeReadings()));
    node.noteInstance(instance ?? '');
    return node;
  }

  #readTime(value: unknown): void {
    if (this.timeSeconds !== undefined || !Array.isArray(value)) return;
    const time: unknown = value[0];
    if (typeof time === 'number' && Number.isFinite(time)) this.timeSeconds = time;
  }

  #empty(): DeviceReading {
    if (this.#field === undefined) return new FactsReading();
    return this.#field === 'rate' ? { rate: undefined } : { peak: undefined };
  }

  #readingOf(node: NodeReadings, device: string): DeviceReading {
    let reading = node.devices.get(device);
    if (reading === undefined) node.devices.set(device, (reading = this.#empty()));
    return reading;
  }

  #read(node: NodeReadings, device: string, metric: Labels, value: unknown): void {
    const reading = this.#readingOf(node, device);
    const name = metric.__name__;
    if (name === DRIVER_METRIC) {
      reading.driver ??= textOf(metric.driver);
      return;
    }
    const field = this.#field ?? FIELDS.get(name);
    if (field === undefined) return;
    if (reading[field] !== undefined) node.duplicate ??= `${device}, ${nameLabels(metric)}`;
    reading[field] = numberOf(value);
    if (Number.isNaN(reading[field])) noteInvalid(node, device, field, value);
  }
}

function textOf(label: unknown): string | undefined {
  return typeof label === 'string' ? label : undefined;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** The number of a sample `[time, "text"]`; NaN for NaN, ±Inf, native histograms and everything else. */
function numberOf(value: unknown): number {
  if (!Array.isArray(value) || value.length !== 2) return NaN;
  const text: unknown = value[1];
  return typeof text === 'string' ? numberFrom(text) : NaN;
}

function numberFrom(text: string): number {
  if (!NUMBER.test(text)) return NaN;
  const number = Number(text);
  return Number.isFinite(number) ? number : NaN;
}

/** A speed that is no number only makes its device unmeasured. */
function noteInvalid(node: NodeReadings, device: string, field: Field, value: unknown): void {
  if (field === 'speed') return;
  const text: unknown = Array.isArray(value) ? value[1] : undefined;
  const found = typeof text === 'string' ? JSON.stringify(text.slice(0, LONGEST_QUOTE)) : 'no float sample';
  node.noteInvalid(device, `${field} of ${device} is ${found}`);
}

function note(strays: Strays, metric: Labels | null | undefined): void {
  const name = metric?.__name__;
  if (name !== undefined && name !== COUNTER_METRIC) return;
  strays.series++;
  if (strays.examples.size < MOST_EXAMPLES) strays.examples.add(nameLabels(metric ?? {}));
}

/** The labels that say whose a series is: not the device, so that a node's devices are one example. */
function nameLabels(metric: Labels): string {
  const telling = Object.entries(metric).filter(([name]) => name !== 'device' && name !== '__name__');
  const text = telling
    .slice(0, MOST_EXAMPLES)
    .map(([name, value]) => `${name}=${JSON.stringify(String(value).slice(0, LONGEST_QUOTE))}`)
    .join(',');
  return `{${text}}`;
}
