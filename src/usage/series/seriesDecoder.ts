import type { SeriesVisitor } from '../../prometheus/answer.ts';
import { FactSamples, NodeSamples, type DeviceSamples } from './nodeSamples.ts';
import { RateTable } from './rateTable.ts';
import type { CachedSeries } from './seriesCache.ts';

/** Which node a series speaks of; AMBIGUOUS stands for "several". */
export interface SeriesResolver {
  resolve(node: string | undefined, instance: string | undefined): string | symbol | undefined;
}

/** How many devices' series can't be attributed to one node, and some of them by name. */
export interface Unattributed {
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

/** Whose a series is. */
type Owner = Readonly<{ node?: unknown; instance?: unknown }>;
type Labels = Owner & Readonly<Record<string, unknown>>;

/**
 * Takes in the series of one answer, one after the other, and sorts them by node and device. Whatever is wrong with a
 * series is noted where it belongs and never becomes a number, nor an exception for the others.
 */
export class SeriesDecoder implements SeriesVisitor {
  /** Those of a RateTable are valid only as long as it says. */
  readonly nodes: Map<string, NodeSamples>;
  readonly unmatched: Unattributed = { series: 0, examples: new Set() };
  readonly ambiguous: Unattributed = { series: 0, examples: new Set() };
  /** The server's time of evaluation, seconds since 1970: that of the first sample. */
  timeSeconds: number | undefined = undefined;
  readonly #resolver: SeriesResolver;
  readonly #field: 'rate' | 'peak' | undefined;
  /** Where the series before belonged. */
  #last: { node: unknown; instance: unknown; samples: NodeSamples } | undefined = undefined;
  readonly #kept: RateTable | undefined;

  /**
   * @param samples what all of them are, where the series carry no metric name; a table keeps rates, over those of the
   * answer before
   */
  constructor(resolver: SeriesResolver, samples?: 'rate' | 'peak' | RateTable) {
    this.#resolver = resolver;
    this.#field = samples instanceof RateTable ? 'rate' : samples;
    this.#kept = samples instanceof RateTable ? samples : undefined;
    this.nodes = this.#kept?.nodes ?? new Map<string, NodeSamples>();
    this.#kept?.begin();
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
    if (!(node instanceof NodeSamples)) {
      note(node, metric);
      return;
    }
    this.#readTime(value);
    this.#read(node, device, metric, value);
  }

  /**
   * Takes in a sample of a series whose labels are known, and the number as it is written. False, and no number is taken
   * in, where there is more to say than that: then `visit` has to say it.
   */
  visitKnown(labels: CachedSeries, text: string): boolean {
    const field = this.#field;
    if (field === undefined || this.timeSeconds === undefined) return false;
    const reading = this.#known(labels);
    if (reading === undefined || reading[field] !== undefined) return false;
    const number = numberFrom(text);
    if (Number.isNaN(number)) return false;
    reading[field] = number;
    return true;
  }

  /** To be called when the answer was read to its end. */
  end(): void {
    this.#kept?.end();
  }

  /** Where a series belongs whose labels are known; undefined where it is of no node, or of no device. */
  #known(labels: CachedSeries): DeviceSamples | undefined {
    const { place, device } = labels;
    if (place !== undefined && this.#kept?.returnTo(place) === true) {
      place.node.noteInstance(textOf(labels.instance) ?? '');
      return place.device;
    }
    if (typeof device !== 'string' || device === '') return undefined;
    const node = this.#nodeOf(labels);
    if (!(node instanceof NodeSamples)) return undefined;
    if (this.#kept === undefined) return this.#deviceOf(node, device);
    labels.place = this.#kept.place(node, device);
    return labels.place.device;
  }

  /** The series of one node mostly come one after the other. Without a node: the count that it goes into. */
  #nodeOf({ node, instance }: Owner): NodeSamples | Unattributed {
    const last = this.#last;
    if (last !== undefined && last.node === node && last.instance === instance) return last.samples;
    const samples = this.#lookUp(textOf(node), textOf(instance));
    this.#last = samples instanceof NodeSamples ? { node, instance, samples } : undefined;
    return samples;
  }

  #lookUp(label: string | undefined, instance: string | undefined): NodeSamples | Unattributed {
    const name = this.#resolver.resolve(label, instance);
    if (typeof name !== 'string') return name === undefined ? this.unmatched : this.ambiguous;
    const node = this.#kept?.node(name) ?? this.#nodeNamed(name);
    node.noteInstance(instance ?? '');
    return node;
  }

  #nodeNamed(name: string): NodeSamples {
    let node = this.nodes.get(name);
    if (node === undefined) this.nodes.set(name, (node = new NodeSamples()));
    return node;
  }

  #readTime(value: unknown): void {
    if (this.timeSeconds !== undefined || !Array.isArray(value)) return;
    const time: unknown = value[0];
    if (typeof time === 'number' && Number.isFinite(time)) this.timeSeconds = time;
  }

  #deviceOf(node: NodeSamples, name: string): DeviceSamples {
    if (this.#kept !== undefined) return this.#kept.device(node, name);
    let device = node.devices.get(name);
    if (device === undefined) node.devices.set(name, (device = this.#noSamples()));
    return device;
  }

  #noSamples(): DeviceSamples {
    if (this.#field === undefined) return new FactSamples();
    return this.#field === 'rate' ? { rate: undefined } : { peak: undefined };
  }

  #read(node: NodeSamples, device: string, metric: Labels, value: unknown): void {
    const reading = this.#deviceOf(node, device);
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
function noteInvalid(node: NodeSamples, device: string, field: Field, value: unknown): void {
  if (field === 'speed') return;
  const text: unknown = Array.isArray(value) ? value[1] : undefined;
  const found = typeof text === 'string' ? JSON.stringify(text.slice(0, LONGEST_QUOTE)) : 'no float sample';
  node.noteInvalid(device, `${field} of ${device} is ${found}`);
}

function note(unattributed: Unattributed, metric: Labels | null | undefined): void {
  const name = metric?.__name__;
  if (name !== undefined && name !== COUNTER_METRIC) return;
  unattributed.series++;
  if (unattributed.examples.size < MOST_EXAMPLES) unattributed.examples.add(nameLabels(metric ?? {}));
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
