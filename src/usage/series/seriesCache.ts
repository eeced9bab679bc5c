import type { Place } from './rateTable.ts';
import { VALUE } from './sampleText.ts';

/** A series: the labels that say whose it is, how long all of its labels are in an answer, and where it belongs. */
export interface CachedSeries {
  readonly node: unknown;
  readonly instance: unknown;
  readonly device: unknown;
  /** Bytes of `{"metric":{…}`. */
  readonly length: number;
  /** Where its rate was kept the last time. */
  place: Place | undefined;
}

const FIRST_ROOM = 64 * 1024;
const CLOSING_BRACE = 0x7d;

/**
 * The labels of the series of one question's last answer, in their order. The next answer mostly has the same series
 * in the same order (Prometheus has them in the order of its index), and who compares bytes need not parse them, nor make
 * and hash strings that are there already.
 */
export class SeriesCache {
  readonly #series: CachedSeries[] = [];
  /** What each begins with, one after the other. */
  #text: Buffer = Buffer.allocUnsafeSlow(FIRST_ROOM);
  /** Which series is next, and where its text begins. */
  #next = 0;
  #offset = 0;

  /** To be called before the first series of each answer. */
  begin(): void {
    this.#next = 0;
    this.#offset = 0;
  }

  /**
   * @param bytes hold the next series of an answer from `from` to `to`
   * @returns its labels where they are those of the series that was here in the answer before. Otherwise this series,
   * and those behind it, are to be learned anew.
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

  /** @param metric the labels of the series of which `recall` knew nothing, as they were parsed */
  learn(bytes: Buffer, from: number, to: number, metric: Readonly<Record<string, unknown>>): void {
    const end = bytes.indexOf(VALUE, from);
    if (end < 0 || end >= to || bytes[end - 1] !== CLOSING_BRACE) return;
    const last = this.#series.at(-1);
    const { node, instance, device } = metric;
    const length = end - from;
    this.#append(bytes, from, end);
    // Those of one node mostly come one after the other: one string for all of them.
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
