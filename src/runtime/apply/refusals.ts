import { systemClock, type Clock } from '../process/clock.ts';
import { isInvalid, type ApiError } from '../client/errors.ts';
import type { KubeObject } from '../client/resource.ts';

/**
 * Time before a rejected apply is sent again, milliseconds. It is limited, because a policy may have rejected the
 * object: a change of the policy does not change the object.
 */
export const REFUSAL_MS = 10 * 60_000;

interface Refusal {
  readonly hash: string;
  readonly state: string;
  readonly error: ApiError;
  readonly untilMs: number;
}

/**
 * Remembers applies that the API server rejected as invalid (400, 413, 422), so that they are not sent again in each
 * pass. Keeps one refusal per object, until the desired or the live object changes, or REFUSAL_MS have passed.
 */
export class Refusals {
  readonly #clock: Clock;
  readonly #byKey = new Map<string, Refusal>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /**
   * The error of the same apply, if it is still valid.
   *
   * @param hash hash of the desired object
   * @param live the cached object
   */
  recall(key: string, hash: string, live: KubeObject | undefined): ApiError | undefined {
    const known = this.#byKey.get(key);
    if (known?.hash === hash && known.state === stateOf(live) && this.#clock.monotonic() < known.untilMs) {
      return known.error;
    }
    this.#byKey.delete(key);
    return undefined;
  }

  /** Remembers the error if the API server rejected the object as invalid. Other errors may be transient. */
  note(key: string, hash: string, live: KubeObject | undefined, error: unknown): void {
    if (!isInvalid(error)) return;
    const now = this.#clock.monotonic();
    // Remove expired entries here, because deleted objects are not recalled again.
    for (const [other, { untilMs }] of this.#byKey) if (untilMs <= now) this.#byKey.delete(other);
    this.#byKey.set(key, { hash, state: stateOf(live), error, untilMs: now + REFUSAL_MS });
  }
}

/** Identifies the object and its spec. Uses the generation, which does not change with the status. */
function stateOf(live: KubeObject | undefined): string {
  const { uid, generation, resourceVersion } = live?.metadata ?? {};
  return `${uid ?? ''}/${generation ?? resourceVersion ?? ''}`;
}
