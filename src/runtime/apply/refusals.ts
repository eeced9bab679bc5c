import { systemClock, type Clock } from '../process/clock.ts';
import { isInvalid, type ApiError } from '../client/errors.ts';
import type { KubeObject } from '../client/resource.ts';

/**
 * How long something refused is not sent again: ms. Not for ever, since what refused it may be a policy, which can be
 * changed without a trace in the object.
 */
export const REFUSAL_MS = 10 * 60_000;

interface Refusal {
  readonly hash: string;
  readonly state: string;
  readonly error: ApiError;
  readonly untilMs: number;
}

/**
 * What the API server refused as it is (400, 413, 422) and would refuse again: it need not be asked on every pass. Holds one
 * refusal an object, until something else is wanted, the live object changes, or REFUSAL_MS are over.
 */
export class Refusals {
  readonly #clock: Clock;
  readonly #byKey = new Map<string, Refusal>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /**
   * The error that the same apply has met with, if it still stands.
   *
   * @param hash of what is to be applied
   * @param live the object as the cache has it
   */
  recall(key: string, hash: string, live: KubeObject | undefined): ApiError | undefined {
    const known = this.#byKey.get(key);
    if (known?.hash === hash && known.state === stateOf(live) && this.#clock.monotonic() < known.untilMs) {
      return known.error;
    }
    this.#byKey.delete(key);
    return undefined;
  }

  /** Keeps the error when it is a refusal; any other may be gone the next time. */
  note(key: string, hash: string, live: KubeObject | undefined, error: unknown): void {
    if (!isInvalid(error)) return;
    const now = this.#clock.monotonic();
    // Also of objects that nobody asks about any more.
    for (const [other, { untilMs }] of this.#byKey) if (untilMs <= now) this.#byKey.delete(other);
    this.#byKey.set(key, { hash, state: stateOf(live), error, untilMs: now + REFUSAL_MS });
  }
}

/** Changes with what people write; the status, which moves by itself, has no part in the generation. */
function stateOf(live: KubeObject | undefined): string {
  const { uid, generation, resourceVersion } = live?.metadata ?? {};
  return `${uid ?? ''}/${generation ?? resourceVersion ?? ''}`;
}
