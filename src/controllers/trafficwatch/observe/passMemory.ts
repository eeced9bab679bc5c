import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import { nextMissing, NOTHING_MISSING, type MissingNodes } from '../decide/verdict/missingSince.ts';

/** What the passes of this process have shown beyond those that the feed keeps. A new process begins anew. */
export class PassMemory {
  /** Set while any TrafficWatch needs to know since when nodes have no figure. */
  tracksMissing = false;
  #missing: MissingNodes = NOTHING_MISSING;

  /** Call with each pass, in their order. */
  saw(pass: Snapshot): void {
    this.#missing = this.tracksMissing ? nextMissing(this.#missing, pass) : NOTHING_MISSING;
  }

  /** Node name -> since when it has no figure: ms since the epoch by our clock. Never changed in place. */
  get missingSince(): ReadonlyMap<string, number> {
    return this.#missing.since;
  }
}
