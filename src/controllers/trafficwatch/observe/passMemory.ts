import { DEFAULT_KEY, readingKey, type Reading, type Readings } from '../../../usage/evaluate/reading.ts';
import { asRead, type Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { isWindowFilling, nextOutages, NO_OUTAGE, type Outages } from '../model/outage.ts';
import { nextMissing, NOTHING_MISSING, type MissingNodes } from '../decide/verdict/missingSince.ts';

/** The readings for which passes are remembered. */
export interface MemoryDemand {
  /**
   * Readings whose outages are followed, besides the default reading: receive rates can be missing while transmit rates
   * exist.
   */
  readonly readings: Pick<Readings, 'keys'>;
  /**
   * The keys of the readings for which the time since nodes have had no figure is remembered. The next pass drops the times of
   * other readings.
   */
  readonly missing: Iterable<string>;
}

/** Remembers results of passes that the feed no longer keeps. A new process starts without them. */
export class PassMemory {
  readonly #windowMs: () => number;
  readonly #demand: MemoryDemand;
  /** By the key of the reading: a node may have a figure for one reading and none for another. */
  #missing: ReadonlyMap<string, MissingNodes> = new Map();
  #outages: ReadonlyMap<string, Outages> = new Map([[DEFAULT_KEY, NO_OUTAGE]]);

  /**
   * @param windowMs length of the present rate window
   * @param demand read with each pass
   */
  constructor(windowMs: () => number, demand: MemoryDemand) {
    this.#windowMs = windowMs;
    this.#demand = demand;
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
    const followed = [DEFAULT_KEY, ...this.#demand.readings.keys()];
    this.#outages = new Map(followed.map((key) => [key, outages(key)]));
    const next = (key: string): MissingNodes =>
      // A pass that did not evaluate the reading has a figure of no node then: it says nothing of any.
      nextMissing(this.#missing.get(key) ?? NOTHING_MISSING, asRead(pass, key), notMeasurable);
    this.#missing = new Map([...this.#demand.missing].map((key) => [key, next(key)]));
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
