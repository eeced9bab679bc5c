import { DEFAULT_KEY, readingKey, type Reading } from '../../../usage/evaluate/reading.ts';
import { asRead, type Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { isWindowFilling, nextOutages, NO_OUTAGE, type Outages } from '../decide/verdict/outage.ts';
import { nextMissing, NOTHING_MISSING, type MissingNodes } from '../decide/verdict/missingSince.ts';

/** What the passes of this process have shown beyond those that the feed keeps. A new process begins anew. */
export class PassMemory {
  readonly #windowMs: () => number;
  /** By the key of the reading: a node may have a figure for one reading and none for another. */
  #missing: ReadonlyMap<string, MissingNodes> = new Map();
  #tracked: ReadonlySet<string> = new Set();
  #outages: ReadonlyMap<string, Outages> = new Map([[DEFAULT_KEY, NO_OUTAGE]]);
  #followed: ReadonlySet<string> = new Set([DEFAULT_KEY]);

  /** @param windowMs length of the present rate window */
  constructor(windowMs: () => number) {
    this.#windowMs = windowMs;
  }

  /**
   * Follows the outages of these readings from the next pass on, besides those of the default reading: receive rates can be
   * missing while transmit rates are there.
   */
  followOutages(readings: readonly Reading[]): void {
    this.#followed = new Set([DEFAULT_KEY, ...readings.map(readingKey)]);
  }

  /**
   * Remembers from the next pass on since when nodes have no figure.
   * @param readings those of all TrafficWatches that need it; of others, what is known is dropped with the next pass
   */
  trackMissing(readings: readonly Reading[]): void {
    this.#tracked = new Set(readings.map(readingKey));
  }

  /**
   * Call with each pass, in their order.
   * @param notMeasurable the nodes that could not be measured before the pass, by name. Of a node that has just returned,
   * the pass counts no time yet.
   */
  saw(pass: Snapshot, notMeasurable: ReadonlyMap<string, unknown>): void {
    // A reading that is new begins with what is known of the default one.
    const outagesBefore = (key: string): Outages =>
      this.#outages.get(key) ?? this.#outages.get(DEFAULT_KEY) ?? NO_OUTAGE;
    const outages = (key: string): Outages => nextOutages(outagesBefore(key), asRead(pass, key), this.#windowMs());
    this.#outages = new Map([...this.#followed].map((key) => [key, outages(key)]));
    const next = (key: string): MissingNodes =>
      // A pass that did not evaluate the reading has a figure of no node then: it says nothing of any.
      nextMissing(this.#missing.get(key) ?? NOTHING_MISSING, asRead(pass, key), notMeasurable);
    this.#missing = new Map([...this.#tracked].map((key) => [key, next(key)]));
  }

  /** Whether the rate window of the reading in the newest pass is only partly filled after an outage. */
  isWindowFilling(newest: Snapshot | undefined, reading: Reading): boolean {
    const outages = this.#outages.get(readingKey(reading)) ?? this.#outages.get(DEFAULT_KEY) ?? NO_OUTAGE;
    return isWindowFilling(outages, newest, this.#windowMs());
  }

  /**
   * Node name -> since when it has no figure for the reading: ms since the epoch by our clock. Never changed in place.
   * Empty for a reading that is not tracked.
   */
  missingSince(reading: Reading): ReadonlyMap<string, number> {
    return (this.#missing.get(readingKey(reading)) ?? NOTHING_MISSING).since;
  }
}
