import type { LabelSource, SeriesLabels } from './nodeSamples.ts';
import type { Place } from './rateTable.ts';

/** A series of the last answer: its identifying labels, where the cache has all its labels, and its place. */
export class CachedSeries implements LabelSource {
  readonly node: unknown;
  readonly instance: unknown;
  readonly device: unknown;
  /** Bytes of `{"metric":{…}`. */
  readonly length: number;
  /** Where the table stored its rate in the last answer. */
  place: Place | undefined = undefined;
  readonly #cache: SeriesCache;
  readonly #offset: number;

  constructor(
    owner: Pick<CachedSeries, 'node' | 'instance' | 'device'>,
    cache: SeriesCache,
    offset: number,
    length: number,
  ) {
    this.node = owner.node;
    this.instance = owner.instance;
    this.device = owner.device;
    this.length = length;
    this.#cache = cache;
    this.#offset = offset;
  }

  /** All its labels. Valid if the current answer contains the series. */
  get labels(): SeriesLabels {
    return this.#cache.labelsAt(this.#offset, this.length);
  }
}

const FIRST_ROOM = 64 * 1024;
const CLOSING_BRACE = 0x7d;

/**
 * The labels of the series in the last answer to one query, in their order. The next answer usually has the same series
 * in the same order (Prometheus uses the order of its index). Comparing bytes avoids parsing the labels and creating
 * and hashing their strings.
 */
export class SeriesCache {
  readonly #series: CachedSeries[] = [];
  /** The label bytes of all series, concatenated. */
  #text: Buffer = Buffer.allocUnsafeSlow(FIRST_ROOM);
  /** Index of the next series, and the offset of its bytes. */
  #next = 0;
  #offset = 0;

  /** Call it before the first series of each answer. */
  begin(): void {
    this.#next = 0;
    this.#offset = 0;
  }

  /**
   * Looks up the next series of an answer.
   *
   * @param bytes contain the series from `from` to `to`
   * @returns its labels, if the previous answer had the same series at this position. Otherwise undefined: forgets the
   * rest of the previous answer, so `learn` must be called for this series and the following ones
   */
  recall(bytes: Buffer, from: number, to: number): CachedSeries | undefined {
    const known = this.#series[this.#next];
    if (known !== undefined && this.#isNext(known, bytes, from, to)) {
      this.#next++;
      this.#offset += known.length;
      return known;
    }
    this.#series.length = this.#next;
    return undefined;
  }

  /**
   * Stores a series for which `recall` returned undefined. Returns undefined, and stores nothing, if its bytes are
   * not in the form that Prometheus writes.
   *
   * @param metric its parsed labels
   */
  learn(bytes: Buffer, from: number, to: number, metric: SeriesLabels): CachedSeries | undefined {
    const end = bytes.indexOf(VALUE, from);
    if (end < 0 || end >= to || bytes[end - 1] !== CLOSING_BRACE) return undefined;
    const last = this.#series.at(-1);
    const { node, instance, device } = metric;
    // The series of one node are usually adjacent, so they can share one string.
    const owner = {
      node: last?.node === node ? last?.node : node,
      instance: last?.instance === instance ? last?.instance : instance,
      device,
    };
    const series = new CachedSeries(owner, this, this.#offset, end - from);
    this.#append(bytes, from, end);
    this.#series.push(series);
    this.#next++;
    return series;
  }

  /** The labels that are stored as `{"metric":{…}`. */
  labelsAt(offset: number, length: number): SeriesLabels {
    const text = this.#text.toString('utf8', offset, offset + length);
    return (JSON.parse(`${text}}`) as { metric: SeriesLabels }).metric;
  }

  #isNext({ length }: CachedSeries, bytes: Buffer, from: number, to: number): boolean {
    const offset = this.#offset;
    return length <= to - from && this.#text.compare(bytes, from, from + length, offset, offset + length) === 0;
  }

  #append(bytes: Buffer, from: number, to: number): void {
    const end = this.#offset + to - from;
    if (end > this.#text.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.#text.length));
      this.#text.copy(larger, 0, 0, this.#offset);
      this.#text = larger;
    }
    bytes.copy(this.#text, this.#offset, from, to);
    this.#offset = end;
  }
}

/** The bytes between the labels of a series and its sample. A string cannot contain them, because it escapes quotes. */
const VALUE = Buffer.from(',"value":[');
const COMMA = 0x2c;
const DOT = 0x2e;
const QUOTE = 0x22;
const [ZERO, NINE] = [0x30, 0x39];
const END = Buffer.from('"]}');

/**
 * Extracts the text of a sample without a JSON parser: `12.5` from `,"value":[1763800000.123,"12.5"]}`. Returns
 * undefined for bytes of any other form. Does not check that the text between the quotes is a number.
 */
export function sampleText(bytes: Buffer, from: number, to: number): string | undefined {
  if (!holds(bytes, from, VALUE)) return undefined;
  let at = from + VALUE.length;
  while (isOfTime(bytes[at])) at++;
  const end = to - END.length;
  if (bytes[at] !== COMMA || bytes[at + 1] !== QUOTE || at + 2 > end || !holds(bytes, end, END)) return undefined;
  return bytes.toString('latin1', at + 2, end);
}

function isOfTime(byte = 0): boolean {
  return (byte >= ZERO && byte <= NINE) || byte === DOT;
}

function holds(bytes: Buffer, from: number, text: Buffer): boolean {
  for (let at = 0; at < text.length; at++) if (bytes[from + at] !== text[at]) return false;
  return true;
}
