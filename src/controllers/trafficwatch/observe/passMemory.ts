import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { isWindowFilling, nextOutages, NO_OUTAGE, type Outages } from '../decide/verdict/outage.ts';
import { nextMissing, NOTHING_MISSING, type MissingNodes } from '../decide/verdict/missingSince.ts';

/** What the passes of this process have shown beyond those that the feed keeps. A new process begins anew. */
export class PassMemory {
  /** Set while any TrafficWatch needs to know since when nodes have no figure. */
  tracksMissing = false;
  readonly #windowMs: number;
  #missing: MissingNodes = NOTHING_MISSING;
  #outages: Outages = NO_OUTAGE;

  /** @param windowMs length of the rate window */
  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Call with each pass, in their order. */
  saw(pass: Snapshot): void {
    this.#outages = nextOutages(this.#outages, pass, this.#windowMs);
    this.#missing = this.tracksMissing ? nextMissing(this.#missing, pass) : NOTHING_MISSING;
  }

  /** Whether the rate window of the newest pass is only partly filled after an outage. */
  isWindowFilling(newest: Snapshot | undefined): boolean {
    return isWindowFilling(this.#outages, newest, this.#windowMs);
  }

  /** Node name -> since when it has no figure: ms since the epoch by our clock. Never changed in place. */
  get missingSince(): ReadonlyMap<string, number> {
    return this.#missing.since;
  }
}
