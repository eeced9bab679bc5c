import { isDeepStrictEqual } from 'node:util';
import type { AskValues } from '../../../../prometheus/askValues.ts';
import { within } from '../../../../prometheus/deadline.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { Answer, Verdict } from '../observation.ts';
import { judge } from './judge.ts';

/** Milliseconds from an answer until the query is sent again. */
const PERIOD_MS = 10_000;
/** How soon a new query is sent: milliseconds. */
const TICK_MS = 500;
/** Milliseconds until a query counts as one without an answer. */
const TIMEOUT_MS = 15_000;
/** Queries at once. */
const AT_ONCE = 8;

export interface AnswerFeedOptions {
  readonly ask: AskValues;
  readonly clock: Clock;
  /** By query, the names of the stacks that have it, as they are now. */
  readonly queries: () => ReadonlyMap<string, ReadonlySet<string>>;
  /** A standby does not ask. */
  readonly isLeader: () => boolean;
  /** Called for each stack of a query whose answer has changed. */
  readonly onChange: (stack: string) => void;
}

/** Times are those of the monotonic clock. */
interface Asked {
  answer: Answer;
  isBeingAsked: boolean;
  /** When it is asked again. */
  dueAt: number;
  /** An answer to what was sent before is of no use to somebody, who waits for a newer one. */
  neededSince: number;
}

/**
 * Asks the queries that decide whether components are ready and may be changed, again and again, and keeps the last answers. An answer
 * that does not count for somebody is asked for again at the next tick.
 */
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

  /** Asks again soon if the last answer is to a query that was sent before `since`, by the monotonic clock. */
  askAgain(query: string, since: number): void {
    const asked = this.#asked.get(query);
    if (asked !== undefined) asked.neededSince = Math.max(asked.neededSince, since);
  }

  /** Asks until `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!stop.aborted) {
      this.#adopt();
      for (const [query, asked] of this.#due()) void this.#ask(query, asked, stop);
      await clock.sleep(TICK_MS, stop);
    }
  }

  #wanted(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#options.isLeader() ? this.#options.queries() : new Map();
  }

  #adopt(): void {
    const wanted = this.#wanted();
    for (const query of this.#asked.keys()) if (!wanted.has(query)) this.#asked.delete(query);
    for (const query of wanted.keys()) {
      if (this.#asked.has(query)) continue;
      this.#asked.set(query, { answer: { is: 'Pending' }, isBeingAsked: false, dueAt: 0, neededSince: -Infinity });
    }
  }

  /** Those that are due for the longest time, as many as may be asked now. */
  #due(): [string, Asked][] {
    const now = this.#options.clock.monotonic();
    const all = [...this.#asked];
    const busy = all.filter(([, { isBeingAsked }]) => isBeingAsked).length;
    return all
      .filter(([, asked]) => !asked.isBeingAsked && (asked.dueAt <= now || isTooOld(asked)))
      .sort(([, a], [, b]) => a.dueAt - b.dueAt)
      .slice(0, Math.max(0, AT_ONCE - busy));
  }

  async #ask(query: string, asked: Asked, stop: AbortSignal): Promise<void> {
    asked.isBeingAsked = true;
    const askedAt = this.#options.clock.monotonic();
    const verdict = await this.#verdictOn(query, stop);
    asked.isBeingAsked = false;
    asked.dueAt = this.#options.clock.monotonic() + PERIOD_MS;
    if (stop.aborted) return;
    const { answer: last } = asked;
    const wasTooOld = isTooOld(asked);
    asked.answer = { ...verdict, askedAt };
    const isWaitedFor = wasTooOld && !isTooOld(asked);
    if (!isWaitedFor && isDeepStrictEqual(asked.answer, { ...last, askedAt })) return;
    for (const stack of this.#wanted().get(query) ?? []) this.#options.onChange(stack);
  }

  async #verdictOn(query: string, stop: AbortSignal): Promise<Verdict> {
    const { ask, clock } = this.#options;
    try {
      const values = await within({ clock, timeoutMs: TIMEOUT_MS, stopped: stop }, ({ signal }) => ask(query, signal));
      return judge(values);
    } catch (error) {
      return { is: 'Unknown', message: error instanceof Error ? error.message : String(error) };
    }
  }
}

function isTooOld({ answer, neededSince }: Asked): boolean {
  return answer.is !== 'Pending' && answer.askedAt < neededSince;
}
