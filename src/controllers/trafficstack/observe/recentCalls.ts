import type { Clock } from '../../../runtime/process/clock.ts';

/** ms: while its pods start, a stack is reconciled several times a second. Every other retry comes later. */
const KEPT_MS = 5_000;

/** Shares the results of calls for 5 s, such as reads, deletions and probes. */
export class RecentCalls<T> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #known = new Map<string, { readonly at: number; readonly value: Promise<T> }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Returns the result of the last call for a key, or calls `make` if it is too old. Concurrent calls share one result. Errors are not kept. */
  call(key: string, make: () => Promise<T>): Promise<T> {
    const now = this.#clock.monotonic();
    for (const [other, { at }] of this.#known) if (now - at >= KEPT_MS) this.#known.delete(other);
    const known = this.#known.get(key);
    if (known !== undefined) return known.value;
    const made = { at: now, value: make() };
    this.#known.set(key, made);
    made.value.catch(() => {
      if (this.#known.get(key) === made) this.#known.delete(key);
    });
    return made.value;
  }
}
