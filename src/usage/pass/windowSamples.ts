import type { Clock } from '../../runtime/process/clock.ts';
import { windowIsTooShort } from '../evaluate/snapshot.ts';

/** Windows without a count after which the few of before count no more: passes may be somewhat further apart than windows. */
const LONGEST_GAP_WINDOWS = 3;

/**
 * How many scrapes the rate window holds, from counts of what it held at the time. Few mean a window that is too short
 * only when they have been few for as long as the window is: right after the server has started, or after a gap in its
 * scrapes, the window is simply not full yet. Two counts after two outages say nothing of the time between them.
 */
export class WindowSamples {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #windowMs: number;
  #fewSince: number | undefined;
  #fewAt = -Infinity;
  #value: number | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>, windowSeconds: number) {
    this.#clock = clock;
    this.#windowMs = windowSeconds * 1000;
  }

  /** Undefined until it is known. */
  get value(): number | undefined {
    return this.#value;
  }

  /** Whether there are few and it is not known since when, so that it is worth to count again soon. */
  get isOpen(): boolean {
    return this.#fewSince !== undefined && !windowIsTooShort({ samplesPerWindow: this.#value });
  }

  /** @param samples undefined where there was no series to count */
  counted(samples: number | undefined): void {
    const now = this.#clock.monotonic();
    if (windowIsTooShort({ samplesPerWindow: samples })) {
      const isContinued = now - this.#fewAt <= LONGEST_GAP_WINDOWS * this.#windowMs;
      this.#fewSince = isContinued ? (this.#fewSince ?? now) : now;
      this.#fewAt = now;
      if (now - this.#fewSince < this.#windowMs) return;
    } else if (samples !== undefined) {
      this.#fewSince = undefined;
    }
    this.#value = samples;
  }
}
