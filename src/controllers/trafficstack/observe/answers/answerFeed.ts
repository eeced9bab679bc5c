import { isDeepStrictEqual } from 'node:util';
import type { AskValues } from '../../../../prometheus/askValues.ts';
import { forEachAtOnce } from '../../../../runtime/controller/forEachAtOnce.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { Answer } from '../observation.ts';
import { judge } from './judge.ts';

/** Milliseconds from an answer until the query is sent again. */
const PERIOD_MS = 10_000;
/** How soon a new query is sent: milliseconds. */
const TICK_MS = 500;
/** Queries at once: one that is slow keeps not all others waiting. */
const AT_ONCE = 4;

export interface AnswerFeedOptions {
  readonly ask: AskValues;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** By query, the names of the stacks that have it, as they are now. */
  readonly queries: () => ReadonlyMap<string, ReadonlySet<string>>;
  /** A standby does not ask. */
  readonly isLeader: () => boolean;
  /** Called for each stack of a query whose answer has changed. */
  readonly onChange: (stack: string) => void;
}

interface Asked {
  readonly answer: Answer;
  /** When it is asked again, by the monotonic clock. */
  readonly dueAt: number;
}

/** Asks the queries that decide whether components are ready, again and again, and keeps the last answers. */
export class AnswerFeed {
  readonly #options: AnswerFeedOptions;
  readonly #asked = new Map<string, Asked>();

  constructor(options: AnswerFeedOptions) {
    this.#options = options;
  }

  /** The last answer to a query. */
  answer(query: string): Answer {
    return this.#asked.get(query)?.answer ?? { is: 'Pending' };
  }

  /** Asks until `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock, queries, isLeader } = this.#options;
    while (!stop.aborted) {
      const wanted = isLeader() ? queries() : new Map<string, ReadonlySet<string>>();
      for (const query of this.#asked.keys()) if (!wanted.has(query)) this.#asked.delete(query);
      const now = clock.monotonic();
      const due = [...wanted].filter(([query]) => (this.#asked.get(query)?.dueAt ?? 0) <= now);
      await forEachAtOnce(due, AT_ONCE, ([query, stacks]) => this.#ask(query, stacks, stop));
      await clock.sleep(TICK_MS, stop);
    }
  }

  async #ask(query: string, stacks: ReadonlySet<string>, stop: AbortSignal): Promise<void> {
    const answer = await this.#answerTo(query, stop);
    if (stop.aborted) return;
    const before = this.#asked.get(query)?.answer;
    this.#asked.set(query, { answer, dueAt: this.#options.clock.monotonic() + PERIOD_MS });
    if (isDeepStrictEqual(before, answer)) return;
    for (const stack of stacks) this.#options.onChange(stack);
  }

  async #answerTo(query: string, stop: AbortSignal): Promise<Answer> {
    try {
      return judge(await this.#options.ask(query, stop));
    } catch (error) {
      return { is: 'Unknown', message: error instanceof Error ? error.message : String(error) };
    }
  }
}
