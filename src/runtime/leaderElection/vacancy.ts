import type { Clock } from '../process/clock.ts';
import { ApiError } from '../client/errors.ts';

/** What the API server calls it when nothing more can be made in a namespace (corev1.NamespaceTerminatingCause). */
const NAMESPACE_TERMINATING = 'NamespaceTerminating';

/**
 * Knows when nobody leads and nobody can: no Lease could be made for a Lease's whole duration, because its namespace is
 * gone or is being deleted. Whoever led before had to renew a Lease that did not exist, and so has stopped.
 */
export class Vacancy {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #durationMs: number;
  /** When the first of the attempts in a row was refused: monotonic ms. */
  #since: number | undefined;

  /** @param durationMs how long a Lease is its holder's without a renewal; more than a holder leads without one */
  constructor(clock: Pick<Clock, 'monotonic'>, durationMs: number) {
    this.#clock = clock;
    this.#durationMs = durationMs;
  }

  /** An attempt to take the Lease ended so; with undefined, it found a Lease. */
  attempted(error: unknown): void {
    this.#since = hasNoNamespace(error) ? (this.#since ?? this.#clock.monotonic()) : undefined;
  }

  get isCertain(): boolean {
    return this.#since !== undefined && this.#clock.monotonic() - this.#since >= this.#durationMs;
  }
}

/** A creation is answered 404 only when the namespace is not there. */
function hasNoNamespace(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.method !== 'POST') return false;
  return error.status === 404 || error.causes.some(({ reason }) => reason === NAMESPACE_TERMINATING);
}
