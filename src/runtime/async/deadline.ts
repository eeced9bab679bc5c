import type { Clock, Timer } from '../process/clock.ts';

/**
 * A signal that is aborted when one of several signals is aborted, or at a timeout. `release` removes its listeners,
 * which would otherwise accumulate on signals that live as long as the process.
 */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #sources: readonly AbortSignal[];
  readonly #deadline: Timer;
  #expired = false;

  /** @param onExpired called at the timeout, after the signal was aborted */
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

  /** True if the timeout aborted the signal. */
  get expired(): boolean {
    return this.#expired;
  }

  /** Aborts the signal on behalf of the caller. */
  abort(): void {
    this.#abort();
  }

  /** Cancels the timeout; the other signals still count. */
  endDeadline(): void {
    this.#deadline.cancel();
  }

  release(): void {
    this.#deadline.cancel();
    for (const source of this.#sources) source.removeEventListener('abort', this.#abort);
  }

  /** Settles like the promise, or rejects as soon as the signal is aborted. */
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

/** Resolves when `signal` is aborted; at once if it is already aborted. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
    } else {
      signal.addEventListener('abort', () => resolve(), { once: true });
    }
  });
}
