import type { Clock } from '../../../runtime/process/clock.ts';

/** ms: while its pods begin, a stack is reconciled several times in a second. Less than the time until anything is looked at again. */
const KEPT_MS = 5_000;

/** What calls gave in the last 5 s, such as reads of the API server, so that each is made at most once in that time. */
export class RecentReads<T> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #known = new Map<string, { readonly at: number; readonly value: Promise<T> }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** What was read for a key, by `load` if that is too long ago; calls at the same time share one. What `load` throws is not kept. */
  read(key: string, load: () => Promise<T>): Promise<T> {
    const now = this.#clock.monotonic();
    for (const [other, { at }] of this.#known) if (now - at >= KEPT_MS) this.#known.delete(other);
    const known = this.#known.get(key);
    if (known !== undefined) return known.value;
    const read = { at: now, value: load() };
    this.#known.set(key, read);
    read.value.catch(() => {
      if (this.#known.get(key) === read) this.#known.delete(key);
    });
    return read.value;
  }
}
