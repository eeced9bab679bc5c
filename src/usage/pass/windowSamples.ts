import type { Clock } from '../../runtime/process/clock.ts';
import { windowIsTooShort } from '../evaluate/snapshot.ts';

/**
 * Longest gap between two low counts, in rate windows. After a longer gap, the earlier low counts are ignored. It is
 * more than one window, because passes can be further apart than that.
 */
const LONGEST_GAP_WINDOWS = 3;

/**
 * Determines how many scrapes the rate window has, from repeated counts. Accepts a low count only if counts stay low
 * for the length of the window: after a start of the server, or after a gap in its scrapes, the window is not full yet.
 * Two low counts after two separate outages do not add up.
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

  /** The number of scrapes. Undefined until it is known. */
  get value(): number | undefined {
    return this.#value;
  }

  /** True while a low count is not confirmed: count again soon. */
  get isOpen(): boolean {
    return this.#fewSince !== undefined && !windowIsTooShort({ samplesPerWindow: this.#value });
  }

  /** Records a count. @param samples undefined if there was no series to count */
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
