import type { Clock, Timer } from '../../process/clock.ts';

/**
 * A signal that is aborted when one of several is, or when time is up, and lets go of them when it is no longer
 * needed: listeners left on a signal that lives as long as the process would pile up.
 */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #deadline: Timer;
  #expired = false;

  /** @param onExpired called when time is up, after the signal was aborted */
  constructor(
    sources: readonly (AbortSignal | undefined)[],
    options: { clock: Clock; timeoutMs: number; onExpired?: () => void },
  ) {
    this.#sources = sources.filter((source) => source !== undefined);
    this.#deadline = options.clock.setTimeout(() => {
      this.#expired = true;
      this.#abort();
      options.onExpired?.();
    }, options.timeoutMs);
    for (const source of this.#sources) {
      if (source.aborted) this.#abort();
      source.addEventListener('abort', this.#abort);
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True when it was time that ended it. */
  get expired(): boolean {
    return this.#expired;
  }

  /** Aborts it, for a reason of the caller's. */
  abort(): void {
    this.#abort();
  }

  /** From now on only the other signals count. */
  endDeadline(): void {
    this.#deadline.cancel();
  }

  release(): void {
    this.#deadline.cancel();
    for (const source of this.#sources) source.removeEventListener('abort', this.#abort);
  }

  /** The promise's outcome, or a rejection as soon as the signal is aborted. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = (): void => reject(new Error('aborted'));
      if (this.signal.aborted) leave();
      this.signal.addEventListener('abort', leave, { once: true });
      promise.then(resolve, reject).finally(() => this.signal.removeEventListener('abort', leave));
    });
  }

  readonly #abort = (): void => this.#controller.abort();
}
