import type { Answer, Verdict } from '../observation.ts';

/**
 * Age of an answer, from the time at which its query was sent, from which on it counts as missing: ms. Also a slow answer is followed by
 * the next one within that time: 15 s until it comes, a pause of 10 s, 15 s until the next one comes, and a tick make 40.5 s.
 */
const MAX_AGE_MS = 45_000;

/** A query of stacks, and its last answer. Times are those of the monotonic clock, ms. */
export interface AskedQuery {
  answer: Answer;
  isBeingAsked: boolean;
  /** When the last answer was asked for; before the first answer: when the query became known. */
  heardAt: number;
  /** When it is asked again. */
  dueAt: number;
  /** An answer to what was sent before is of no use to somebody, who waits for a newer one. */
  neededSince: number;
  /** What counts in place of the answer since that is too old, as the stacks were told. Undefined while it is not. */
  outdated?: Answer | undefined;
}

/** A query that is to be asked as soon as possible. */
export function newQuery(now: number): AskedQuery {
  return { answer: { is: 'Pending' }, isBeingAsked: false, heardAt: now, dueAt: 0, neededSince: -Infinity };
}

/** Whether somebody waits for an answer to what was sent later. */
export function isWaitedFor({ answer, neededSince }: AskedQuery): boolean {
  return answer.is !== 'Pending' && answer.askedAt < neededSince;
}

/**
 * What counts in place of an answer that is too old; undefined if it is not. Many queries that Prometheus does not answer keep the
 * others from being asked: what was true a while ago must not count until it is their turn.
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
export function outdatedAnswer(
  { answer, heardAt }: AskedQuery,
  { now, lastError }: { readonly now: number; readonly lastError: string | undefined },
): Answer | undefined {
  if (answer.is === 'Unknown' || now - heardAt < MAX_AGE_MS) return undefined;
  const why = lastError === undefined ? '' : `; the last error: ${lastError}`;
  const verdict: Verdict = { is: 'Unknown', message: `no answer within ${MAX_AGE_MS / 1000} s${why}` };
  return { ...verdict, askedAt: answer.is === 'Pending' ? -Infinity : answer.askedAt };
}
