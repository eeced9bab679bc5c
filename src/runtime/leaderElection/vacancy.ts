import type { Clock } from '../process/clock.ts';
import { ApiError } from '../client/errors.ts';

/** Cause of the API server's error for a creation in a terminating namespace (corev1.NamespaceTerminatingCause). */
const NAMESPACE_TERMINATING = 'NamespaceTerminating';

/**
 * Detects that no process leads and none can: for the duration of a Lease, no Lease could be created, because its
 * namespace is gone or is being deleted. A former leader could not renew its Lease in that time, so it has stopped
 * leading.
 */
export class Vacancy {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #durationMs: number;
  /** Time of the first of the consecutive rejected attempts, monotonic milliseconds. */
  #since: number | undefined;

  /** @param durationMs duration of a Lease without a renewal; longer than a holder leads without a renewal */
  constructor(clock: Pick<Clock, 'monotonic'>, durationMs: number) {
    this.#clock = clock;
    this.#durationMs = durationMs;
  }

  /** Records an attempt to take the Lease. @param error undefined if a Lease exists */
  attempted(error: unknown): void {
    this.#since = hasNoNamespace(error) ? (this.#since ?? this.#clock.monotonic()) : undefined;
  }

  get isCertain(): boolean {
    return this.#since !== undefined && this.#clock.monotonic() - this.#since >= this.#durationMs;
  }
}

/** A POST returns 404 only if the namespace does not exist. */
function hasNoNamespace(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.method !== 'POST') return false;
  return error.status === 404 || error.causes.some(({ reason }) => reason === NAMESPACE_TERMINATING);
}
