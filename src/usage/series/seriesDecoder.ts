import { parseSeries, type SeriesVisitor } from '../../prometheus/answer.ts';
import {
  differingLabels,
  FactSamples,
  NodeSamples,
  type LabelSource,
  type DeviceSamples,
  type SeriesLabels,
} from './nodeSamples.ts';
import { fieldOf, type FactField, type FactMetric } from './factMetrics.ts';
import { RateTable } from './rateTable.ts';
import { sampleText, type CachedSeries, type SeriesCache } from './seriesCache.ts';

/** Finds the node of a series. Returns undefined for no node, and a symbol for several nodes. */
interface SeriesResolver {
  resolve(node: string | undefined, instance: string | undefined): string | symbol | undefined;
}

/** Device series that cannot be assigned to one node: their number, and the labels of some. */
export interface Unattributed {
  series: number;
  /** At most five, without duplicates. */
  examples: Set<string>;
}

const MOST_EXAMPLES = 5;
const LONGEST_QUOTE = 60;

/** The samples that a decoder reads: one number of each device, or its facts, with one answer for each metric. */
type Samples = 'rate' | 'peak' | 'newest' | 'facts';
/** The meaning of the samples in one answer. */
type Field = Exclude<Samples, 'facts'> | FactField;

/** The labels that identify the node of a series. */
type Owner = Readonly<{ node?: unknown; instance?: unknown }>;
type Labels = Owner & Readonly<Record<string, unknown>>;

/**
 * Groups the series of one answer by node and device. Records an invalid series at its node: it never becomes a number,
 * and never throws, so the other series are not affected.
 */
export class SeriesDecoder implements SeriesVisitor {
  /** Samples by node. With a RateTable, valid only as long as its documentation says. */
  readonly nodes: Map<string, NodeSamples>;
  readonly unmatched: Unattributed = { series: 0, examples: new Set() };
  readonly ambiguous: Unattributed = { series: 0, examples: new Set() };
  /** Evaluation time of the server, seconds since 1970, from the first sample. */
  timeSeconds: number | undefined = undefined;
  readonly #resolver: SeriesResolver;
  readonly #samples: Samples;
  /** The node of the previous series. */
  #last: { node: unknown; instance: unknown; samples: NodeSamples } | undefined = undefined;
  readonly #kept: RateTable | undefined;

  /**
   * @param samples the samples to read. A table stores rates, and overwrites the rates of the previous answer
   */
  constructor(resolver: SeriesResolver, samples: Samples | RateTable) {
    this.#resolver = resolver;
    this.#samples = samples instanceof RateTable ? 'rate' : samples;
    this.#kept = samples instanceof RateTable ? samples : undefined;
    this.nodes = this.#kept?.nodes ?? new Map<string, NodeSamples>();
    this.#kept?.begin();
  }

  /**
   * Reads one number of a device. For facts, use `ofMetric`.
   *
   * @param series a parsed element of `data.result` in the answer to an instant query
   * @param source its labels, kept until the next answer. Without them, a duplicate of this series does not tell in
   * which labels both differ
   */
  visit(series: unknown, source?: LabelSource): void {
    if (this.#samples !== 'facts') this.#visit(series, this.#samples, source);
  }

  /** Reads the answer with the facts of this metric. */
  ofMetric(metric: FactMetric): SeriesVisitor {
    const field = fieldOf(metric);
    return { visit: (series) => this.#visit(series, field, undefined) };
  }

  #visit(series: unknown, field: Field, source: LabelSource | undefined): void {
    const { metric, value } = (series ?? {}) as { metric?: Labels | null; value?: unknown };
    const device = metric?.device;
    if (!metric || typeof device !== 'string' || device === '') {
      this.#note(this.unmatched, field, metric);
      return;
    }
    const node = this.#nodeOf(metric);
    if (!(node instanceof NodeSamples)) {
      this.#note(node, field, metric);
      return;
    }
    this.#readTime(value);
    const reading = this.#read(node, device, metric, field, value);
    if (reading !== undefined && field === 'rate') reading.source = source;
  }

  /**
   * Fast path for a series with known labels. Returns false, without storing a number, if the text is not a number, the
   * device already has a sample, or the time or node is unknown: then call `visit`, which records the problem.
   *
   * @param text the text of the sample
   */
  visitKnown(labels: CachedSeries, text: string): boolean {
    const field = this.#samples;
    if (field === 'facts' || this.timeSeconds === undefined) return false;
    const reading = this.#known(labels);
    if (reading === undefined || reading[field] !== undefined) return false;
    const number = numberFrom(text);
    if (Number.isNaN(number)) return false;
    reading[field] = number;
    reading.source = labels;
    return true;
  }

  /** Call it after the last series of a complete answer. */
  end(): void {
    this.#kept?.end();
  }

  /** The samples of the device of a series with known labels. Undefined if it belongs to no node or no device. */
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

  /** The node of a series, or the counter for series without one. Remembers the last node: its series are adjacent. */
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
    if (label && label !== name) node.noteOtherLabel(label);
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
    return this.#samples === 'facts' ? new FactSamples() : { [this.#samples]: undefined };
  }

  /** Returns the device, unless it already had a sample of the metric. */
  #read(node: NodeSamples, device: string, metric: Labels, field: Field, value: unknown): DeviceSamples | undefined {
    const reading = this.#deviceOf(node, device);
    if (field === 'newest') {
      addLate(reading, numberOf(value));
      return undefined;
    }
    if (field === 'driver') {
      reading.driver ??= textOf(metric.driver);
      return undefined;
    }
    const isDuplicate = reading[field] !== undefined;
    if (isDuplicate) node.noteDuplicate(`${device}, ${nameLabels(metric)}`, differing(reading, metric));
    reading[field] = numberOf(value);
    if (Number.isNaN(reading[field])) noteInvalid(node, device, field, value);
    return isDuplicate ? undefined : reading;
  }

  /** Counts a series that no node has. Counts only the counters among the facts: the other metrics repeat the same devices. */
  #note(unattributed: Unattributed, field: Field, metric: Labels | null | undefined): void {
    if (this.#samples === 'facts' && field !== 'total') return;
    unattributed.series++;
    if (unattributed.examples.size < MOST_EXAMPLES) unattributed.examples.add(nameLabels(metric ?? {}));
  }
}

/** Returns the labels in which a series differs from the first series of its device. Empty if the labels of the first are not kept. */
function differing({ source }: DeviceSamples, metric: Labels): string[] {
  return source === undefined ? [] : differingLabels(source.labels, metric);
}

/** A device has a value for each thing that is wrong with its rate (see lateQuery), in any order. */
function addLate(reading: DeviceSamples, value: number): void {
  if (value >= 0) reading.newest = Math.max(value, reading.newest ?? 0);
  else reading.fell = true;
}

function textOf(label: unknown): string | undefined {
  return typeof label === 'string' ? label : undefined;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** The number of a sample `[time, "text"]`. NaN for NaN, ±Inf, native histograms and any other form. */
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

/** Records an invalid sample. Ignores a speed: without a valid speed, the device is only not measured. */
function noteInvalid(node: NodeSamples, device: string, field: Field, value: unknown): void {
  if (field === 'speed') return;
  const text: unknown = Array.isArray(value) ? value[1] : undefined;
  const found = typeof text === 'string' ? JSON.stringify(text.slice(0, LONGEST_QUOTE)) : 'not a float sample';
  node.noteInvalid(device, `${field} of ${device} is ${found}`);
}

/** Formats the labels without the device, so that all devices of a node give the same example. */
function nameLabels(metric: Labels): string {
  const telling = Object.entries(metric).filter(([name]) => name !== 'device' && name !== '__name__');
  const text = telling
    .slice(0, MOST_EXAMPLES)
    .map(([name, value]) => `${name}=${JSON.stringify(String(value).slice(0, LONGEST_QUOTE))}`)
    .join(',');
  return `{${text}}`;
}

/**
 * Reads answers with rates, one per pass. If the labels of a series are in the cache, it parses only the number of the
 * sample. Falls back to a full parse for an invalid sample, a duplicate, and the first series, which gives the time.
 *
 * @param cache the series of the previous answer
 */
export function createRatesVisitor(decoder: SeriesDecoder, cache: SeriesCache): SeriesVisitor {
  cache.begin();
  return {
    visit: (series) => decoder.visit(series, { labels: metricOf(series) }),
    visitBytes(bytes, from, to) {
      const labels = cache.recall(bytes, from, to);
      const text = labels && sampleText(bytes, from + labels.length, to);
      if (labels !== undefined && text !== undefined && decoder.visitKnown(labels, text)) return;
      const series = parseSeries(bytes, from, to);
      decoder.visit(series, labels ?? cache.learn(bytes, from, to, metricOf(series)));
    },
  };
}

function metricOf(series: unknown): SeriesLabels {
  return (series as { metric?: SeriesLabels | null } | null)?.metric ?? {};
}
