import type { Clock } from '../../../../runtime/process/clock.ts';

/** How long a reconcile waits for an answer: ms. The labels of the nodes wait as long. */
export const PATIENCE_MS = 1_000;
/** Maximum number of questions at a time: half of the calls of the transport, so that slow answers block no writes. */
export const ASKED_AT_ONCE = 8;

interface Entry<T> {
  /** Monotonic time of the answer, ms, and the answer. */
  last?: { readonly at: number; readonly answer: T };
  /** Resolves with the answer, or after PATIENCE_MS. Set while a question is open. */
  waiting?: Promise<unknown>;
}

/**
 * Answers of the API server that are used for a while, by key. A question that takes longer than PATIENCE_MS goes on in
 * the background, and until it ends the last answer counts, however old it is.
 *
 * | last answer    | question         | result                                                        |
 * |----------------|------------------|---------------------------------------------------------------|
 * | fresh          | none             | the last answer                                               |
 * | stale, or none | asked now        | the new answer, or after PATIENCE_MS the last one             |
 * | stale, or none | open             | the same; callers share the question and its PATIENCE_MS      |
 */
export class Answers<T> {
  readonly #clock: Clock;
  readonly #freshMs: (answer: T) => number;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #queue: (() => void)[] = [];
  #open = 0;

  /** @param o.freshMs how long an answer is used before the question is asked again: ms */
  constructor(o: { clock: Clock; freshMs: (answer: T) => number }) {
    this.#clock = o.clock;
    this.#freshMs = o.freshMs;
  }

  /**
   * The newest answer. Undefined if there is none yet.
   * @param ask must not reject
   */
  async of(key: string, ask: () => Promise<T>): Promise<T | undefined> {
    const entry = this.#entries.get(key) ?? {};
    this.#entries.set(key, entry);
    if (entry.waiting === undefined && !this.#isFresh(entry)) this.#ask(entry, ask);
    await entry.waiting;
    return entry.last?.answer;
  }

  /** The newest answer, however old it is; asks nothing. Undefined if there is none. */
  last(key: string): Entry<T>['last'] {
    return this.#entries.get(key)?.last;
  }

  /** Drops the answer. */
  forget(key: string): void {
    this.#entries.delete(key);
  }

  #isFresh({ last }: Entry<T>): boolean {
    return last !== undefined && this.#clock.monotonic() - last.at < this.#freshMs(last.answer);
  }

  #ask(entry: Entry<T>, ask: () => Promise<T>): void {
    const answered = new AbortController();
    const asking = this.#inTurn(ask).then((answer) => {
      // After the answer: one that took long is not stale already.
      entry.last = { answer, at: this.#clock.monotonic() };
      delete entry.waiting;
      answered.abort();
    });
    entry.waiting = Promise.race([asking, this.#clock.sleep(PATIENCE_MS, answered.signal)]);
  }

  async #inTurn(ask: () => Promise<T>): Promise<T> {
    if (this.#open >= ASKED_AT_ONCE) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#open += 1;
    try {
      return await ask();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#open -= 1;
      else next();
    }
  }
}
