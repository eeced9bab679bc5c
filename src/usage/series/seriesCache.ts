import type { Place } from './rateTable.ts';
import { VALUE } from './sampleText.ts';

/** A series of the last answer: its identifying labels, the length of all its labels in bytes, and its place. */
export interface CachedSeries {
  readonly node: unknown;
  readonly instance: unknown;
  readonly device: unknown;
  /** Bytes of `{"metric":{…}`. */
  readonly length: number;
  /** Where the table stored its rate in the last answer. */
  place: Place | undefined;
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

  /** Stores a series for which `recall` returned undefined. @param metric its parsed labels */
  learn(bytes: Buffer, from: number, to: number, metric: Readonly<Record<string, unknown>>): void {
    const end = bytes.indexOf(VALUE, from);
    if (end < 0 || end >= to || bytes[end - 1] !== CLOSING_BRACE) return;
    const last = this.#series.at(-1);
    const { node, instance, device } = metric;
    const length = end - from;
    this.#append(bytes, from, end);
    // The series of one node are usually adjacent, so they can share one string.
    this.#series.push({
      node: last?.node === node ? last?.node : node,
      instance: last?.instance === instance ? last?.instance : instance,
      device,
      length,
      place: undefined,
    });
    this.#next++;
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
