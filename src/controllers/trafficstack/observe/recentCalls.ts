import type { Clock } from '../../../runtime/process/clock.ts';

/** ms: while its pods begin, a stack is reconciled several times in a second. Less than the time until anything is looked at again. */
const KEPT_MS = 5_000;

/** What calls gave in the last 5 s, such as reads, deletions and probes, so that each is made at most once in that time. */
export class RecentCalls<T> {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #known = new Map<string, { readonly at: number; readonly value: Promise<T> }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** What the last call for a key gave; `make` calls anew if that is too long ago. Those at the same time share one. What it throws is not kept. */
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
