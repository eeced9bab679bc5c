/** Releases the slot; a second call has no effect. */
export type Release = () => void;

interface Waiter {
  admit: () => void;
}

/** A semaphore with `limit` slots, first come, first served. */
export class InFlight {
  readonly #limit: number;
  #taken = 0;
  #waiting: Waiter[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** The release function of a slot; undefined if none is free. */
  tryAcquire(): Release | undefined {
    return this.#taken < this.#limit ? this.#take() : undefined;
  }

  /** Resolves with the release function of a slot, or with undefined once `signal` is aborted. */
  acquire(signal: AbortSignal): Promise<Release | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    const free = this.tryAcquire();
    if (free !== undefined) return Promise.resolve(free);
    return new Promise((resolve) => {
      const waiter = {
        admit: () => {
          signal.removeEventListener('abort', leave);
          resolve(this.#take());
        },
      };
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        resolve(undefined);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
    });
  }

  #take(): Release {
    this.#taken += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#taken -= 1;
      this.#waiting.shift()?.admit();
    };
  }
}
