import { isDeepStrictEqual } from 'node:util';
import { componentsIn, type TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { AskValues } from '../../../prometheus/askValues.ts';
import { within } from '../../../prometheus/deadline.ts';
import { PrometheusError } from '../../../prometheus/prometheusError.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { isEnabled } from '../model/desired.ts';
import type { Answer, Verdict } from '../model/observation.ts';

/** ms from an answer until the query is sent again. */
const PERIOD_MS = 10_000;
/** ms: the period of the checks for new queries. */
const TICK_MS = 500;
/** ms: a query without an answer fails. */
const TIMEOUT_MS = 15_000;
/** Queries at once. */
const AT_ONCE = 8;

interface AnswerFeedOptions {
  readonly ask: AskValues;
  readonly clock: Clock;
  /** Returns the names of the stacks by query. */
  readonly queries: () => ReadonlyMap<string, ReadonlySet<string>>;
  /** A standby sends no queries. */
  readonly isLeader: () => boolean;
  /** Called for each stack whose query has a new answer. */
  readonly onChange: (stack: string) => void;
}

/**
 * Sends the queries that decide about readiness and upgrades periodically, and keeps the last answers. A query whose answer does not count is sent
 * again at the next tick. An answer that is too old counts as missing: see outdatedAnswer.
 */
export class AnswerFeed {
  readonly #options: AnswerFeedOptions;
  readonly #tracked = new Map<string, TrackedQuery>();
  /** Error of the last query; undefined if it succeeded. */
  #lastError: string | undefined;

  constructor(options: AnswerFeedOptions) {
    this.#options = options;
  }

  /** Returns the last answer to a query. It is Unknown if too old. */
  answer(query: string): Answer {
    const tracked = this.#tracked.get(query);
    if (tracked === undefined) return { is: 'Pending' };
    return tracked.outdated ?? this.#outdated(tracked) ?? tracked.answer;
  }

  /** Sends a query again soon if its last answer belongs to a query sent before `since`, by the monotonic clock. */
  requery(query: string, since: number): void {
    const tracked = this.#tracked.get(query);
    if (tracked !== undefined) tracked.neededSince = Math.max(tracked.neededSince, since);
  }

  /** Sends queries until `stop` is aborted. Never rejects. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!stop.aborted) {
      this.#track();
      this.#notifyOutdated();
      for (const [query, tracked] of this.#due()) void this.#ask(query, tracked, stop);
      await clock.sleep(TICK_MS, stop);
    }
  }

  #queries(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#options.isLeader() ? this.#options.queries() : new Map();
  }

  #track(): void {
    const queries = this.#queries();
    for (const query of this.#tracked.keys()) if (!queries.has(query)) this.#tracked.delete(query);
    for (const query of queries.keys()) {
      if (this.#tracked.has(query)) continue;
      this.#tracked.set(query, newQuery(this.#options.clock.monotonic()));
    }
  }

  #outdated(tracked: TrackedQuery): Answer | undefined {
    return outdatedAnswer(tracked, { now: this.#options.clock.monotonic(), lastError: this.#lastError });
  }

  #notifyOutdated(): void {
    for (const [query, tracked] of this.#tracked) {
      if (tracked.outdated !== undefined) continue;
      tracked.outdated = this.#outdated(tracked);
      if (tracked.outdated !== undefined) this.#notify(query);
    }
  }

  #notify(query: string): void {
    for (const stack of this.#queries().get(query) ?? []) this.#options.onChange(stack);
  }

  /** Returns the queries that have been due for longest, as many as the limit allows. */
  #due(): [string, TrackedQuery][] {
    const now = this.#options.clock.monotonic();
    const all = [...this.#tracked];
    const busy = all.filter(([, { isInFlight }]) => isInFlight).length;
    return all
      .filter(([, tracked]) => !tracked.isInFlight && (tracked.dueAt <= now || isNeeded(tracked)))
      .sort(([, a], [, b]) => a.dueAt - b.dueAt)
      .slice(0, Math.max(0, AT_ONCE - busy));
  }

  async #ask(query: string, tracked: TrackedQuery, stop: AbortSignal): Promise<void> {
    tracked.isInFlight = true;
    const sentAt = this.#options.clock.monotonic();
    const verdict = await this.#verdictOn(query, stop);
    tracked.isInFlight = false;
    tracked.dueAt = this.#options.clock.monotonic() + PERIOD_MS;
    if (stop.aborted) return;
    this.#lastError = verdict.is === 'Unknown' ? verdict.message : undefined;
    const { answer: last, outdated } = tracked;
    const wasNeeded = isNeeded(tracked);
    Object.assign(tracked, { answer: { ...verdict, sentAt }, answeredAt: sentAt, outdated: undefined });
    const isSame = outdated === undefined && isDeepStrictEqual(tracked.answer, { ...last, sentAt });
    if (!isSame || (wasNeeded && !isNeeded(tracked))) this.#notify(query);
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

/**
 * Returns the verdict of a query's values.
 *
 * | the query gives                     | verdict |
 * |-------------------------------------|--------|
 * | no series, as `up == 1` does if all are down | False |
 * | a series that is 0 or NaN           | False  |
 * | anything else                       | True   |
 */
function judge(values: readonly number[]): Verdict {
  if (values.length === 0) return { is: 'False', message: 'gives no series' };
  const first = values.find((value) => value === 0 || Number.isNaN(value));
  if (first === undefined) return { is: 'True' };
  // How many would be another message, and so another status, with each answer.
  return { is: 'False', message: values.length === 1 ? `gives ${first}` : `gives ${first} for a series` };
}

/**
 * ms from the sending of a query until its answer counts as missing. The next answer comes earlier even if both are slow: 15 s, a pause of 10 s, 15 s
 * and a tick make 40.5 s.
 */
const MAX_AGE_MS = 45_000;

/** A query of stacks and its last answer. Times are ms of the monotonic clock. */
interface TrackedQuery {
  answer: Answer;
  isInFlight: boolean;
  /** When the answered query was sent; before the first answer, when the query became known. */
  answeredAt: number;
  /** When it is sent next. */
  dueAt: number;
  /** Answers to queries sent before this time do not count. */
  neededSince: number;
  /** Replaces the answer while it is too old, as reported to the stacks. Undefined otherwise. */
  outdated?: Answer | undefined;
}

/** Creates a query that is sent as soon as possible. */
function newQuery(now: number): TrackedQuery {
  return { answer: { is: 'Pending' }, isInFlight: false, answeredAt: now, dueAt: 0, neededSince: -Infinity };
}

/** Returns whether a later answer is needed. */
function isNeeded({ answer, neededSince }: TrackedQuery): boolean {
  return answer.is !== 'Pending' && answer.sentAt < neededSince;
}

/**
 * Returns the replacement of an answer that is too old, otherwise undefined. Queries that hang delay others, and an old answer must not count until
 * their turn.
 *
 * | the last answer            | younger than 45 s | counts  |
 * |----------------------------|-------------------|---------|
 * | True, False                | yes               | itself  |
 * | none yet                   | yes               | Pending |
 * | Unknown                    | any               | itself: it says why |
 * | anything else              | no                | Unknown |
 *
 * @param lastError why the last query, of all, was not answered
 */
function outdatedAnswer(
  { answer, answeredAt }: TrackedQuery,
  { now, lastError }: { readonly now: number; readonly lastError: string | undefined },
): Answer | undefined {
  if (answer.is === 'Unknown' || now - answeredAt < MAX_AGE_MS) return undefined;
  const why = lastError === undefined ? '' : `; the last error: ${lastError}`;
  const verdict: Verdict = { is: 'Unknown', message: `no answer within ${MAX_AGE_MS / 1000} s${why}` };
  return { ...verdict, sentAt: answer.is === 'Pending' ? -Infinity : answer.sentAt };
}

/** Returns the queries of enabled components and of upgrades, with the names of their stacks. */
export function queriesOf(stacks: readonly TrafficStack[]): ReadonlyMap<string, ReadonlySet<string>> {
  const queries = new Map<string, Set<string>>();
  for (const stack of stacks) {
    const { metadata, spec } = stack;
    if (metadata?.deletionTimestamp !== undefined) continue;
    const existing = componentsIn(stack).filter(isEnabled);
    // An older CRD may have accepted anything.
    const { upgrade } = (spec as Partial<TrafficStack['spec']> | undefined) ?? {};
    for (const query of [upgrade?.query, ...existing.map(({ ready }) => ready?.query)]) {
      if (typeof query !== 'string') continue;
      const names = queries.get(query) ?? new Set();
      queries.set(query, names.add(metadata?.name ?? ''));
    }
  }
  return queries;
}
