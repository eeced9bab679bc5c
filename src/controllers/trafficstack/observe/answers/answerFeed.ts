import { isDeepStrictEqual } from 'node:util';
import type { AskValues } from '../../../../prometheus/askValues.ts';
import { within } from '../../../../prometheus/deadline.ts';
import { PrometheusError } from '../../../../prometheus/prometheusError.ts';
import type { Clock } from '../../../../runtime/process/clock.ts';
import type { Answer, Verdict } from '../observation.ts';
import { isWaitedFor, newQuery, outdatedAnswer, type AskedQuery } from './askedQuery.ts';
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

/**
 * Asks the queries that decide whether components are ready and may be changed, again and again, and keeps the last answers. An answer
 * that does not count for somebody is asked for again at the next tick. One that is too old counts as missing: see askedQuery.ts.
 */
export class AnswerFeed {
  readonly #options: AnswerFeedOptions;
  readonly #asked = new Map<string, AskedQuery>();
  /** Why the last query was not answered; undefined if it was. */
  #lastError: string | undefined;

  constructor(options: AnswerFeedOptions) {
    this.#options = options;
  }

  /** The last answer to a query. Unknown if that is too old. */
  answer(query: string): Answer {
    const asked = this.#asked.get(query);
    if (asked === undefined) return { is: 'Pending' };
    return asked.outdated ?? this.#outdated(asked) ?? asked.answer;
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
      this.#tellOutdated();
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
      this.#asked.set(query, newQuery(this.#options.clock.monotonic()));
    }
  }

  #outdated(asked: AskedQuery): Answer | undefined {
    return outdatedAnswer(asked, { now: this.#options.clock.monotonic(), lastError: this.#lastError });
  }

  #tellOutdated(): void {
    for (const [query, asked] of this.#asked) {
      if (asked.outdated !== undefined) continue;
      asked.outdated = this.#outdated(asked);
      if (asked.outdated !== undefined) this.#tell(query);
    }
  }

  #tell(query: string): void {
    for (const stack of this.#wanted().get(query) ?? []) this.#options.onChange(stack);
  }

  /** Those that are due for the longest time, as many as may be asked now. */
  #due(): [string, AskedQuery][] {
    const now = this.#options.clock.monotonic();
    const all = [...this.#asked];
    const busy = all.filter(([, { isBeingAsked }]) => isBeingAsked).length;
    return all
      .filter(([, asked]) => !asked.isBeingAsked && (asked.dueAt <= now || isWaitedFor(asked)))
      .sort(([, a], [, b]) => a.dueAt - b.dueAt)
      .slice(0, Math.max(0, AT_ONCE - busy));
  }

  async #ask(query: string, asked: AskedQuery, stop: AbortSignal): Promise<void> {
    asked.isBeingAsked = true;
    const askedAt = this.#options.clock.monotonic();
    const verdict = await this.#verdictOn(query, stop);
    asked.isBeingAsked = false;
    asked.dueAt = this.#options.clock.monotonic() + PERIOD_MS;
    if (stop.aborted) return;
    this.#lastError = verdict.is === 'Unknown' ? verdict.message : undefined;
    const { answer: last, outdated } = asked;
    const wasWaitedFor = isWaitedFor(asked);
    Object.assign(asked, { answer: { ...verdict, askedAt }, heardAt: askedAt, outdated: undefined });
    const isSame = outdated === undefined && isDeepStrictEqual(asked.answer, { ...last, askedAt });
    if (!isSame || (wasWaitedFor && !isWaitedFor(asked))) this.#tell(query);
  }

  async #verdictOn(query: string, stop: AbortSignal): Promise<Verdict> {
    const { ask, clock } = this.#options;
    try {
      const values = await within({ clock, timeoutMs: TIMEOUT_MS, stopped: stop }, ({ signal }) => ask(query, signal));
      return judge(values);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const isNotSent = error instanceof PrometheusError && error.reason === 'BadConfiguration';
      return { is: 'Unknown', message, ...(isNotSent && { isNotSent }) };
    }
  }
}
