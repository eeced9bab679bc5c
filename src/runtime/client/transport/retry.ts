import { ApiError, TransportError } from '../errors.ts';
import type { TransportRequest } from './types.ts';

/** First pause between two attempts of a call, milliseconds; doubles each time. */
const FIRST_PAUSE_MS = 250;
/** Longest pause: a server that comes back is found within about this time. */
const LONGEST_PAUSE_MS = 4_000;

/** Answers that another attempt may change. */
const TRANSIENT_STATUS = new Set([429, 500, 502, 503, 504]);

/**
 * How long to wait before the next attempt, or undefined when the error is final.
 *
 * | what happened                         | repeatable request | other (POST, JSON patch) |
 * |---------------------------------------|--------------------|--------------------------|
 * | never sent                            | again              | again                    |
 * | sent, no answer (lost, deadline)      | again              | no: it may have happened |
 * | 429                                   | again              | again: it was turned away |
 * | 503 with Retry-After                  | again              | again: it was turned away |
 * | 500, 502, 503, 504                    | again              | no                       |
 * | any other answer, called off          | no                 | no                       |
 *
 * @param attempt how many attempts there were, from 1
 * @param random 0 to 1: the pause is between half and the whole of its nominal length, so that callers who failed
 *   together do not come back together. A Retry-After is a lower bound instead.
 */
export function retryPause(
  error: unknown,
  request: TransportRequest,
  attempt: number,
  random: number,
): number | undefined {
  if (!mayRepeat(error, request)) return undefined;
  const nominal = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS);
  const asked = error instanceof ApiError ? error.retryAfterMs : undefined;
  return asked === undefined ? nominal * (0.5 + random / 2) : asked + FIRST_PAUSE_MS * random;
}

function mayRepeat(error: unknown, request: TransportRequest): boolean {
  if (error instanceof ApiError) {
    if (!TRANSIENT_STATUS.has(error.status)) return false;
    const turnedAway = error.status === 429 || (error.status === 503 && error.retryAfterMs !== undefined);
    return turnedAway || isRepeatable(request);
  }
  if (error instanceof TransportError) {
    return error.failure !== 'aborted' && (error.unsent || isRepeatable(request));
  }
  return false;
}

/**
 * True when sending it twice is the same as once. Apply and merge patches say what shall be; a PUT carries the
 * resource version it replaces, so that a second one is refused (409); a DELETE's second answer is 404.
 */
function isRepeatable({ method, contentType }: TransportRequest): boolean {
  return method === 'PATCH' ? contentType !== 'application/json-patch+json' : method !== 'POST';
}

/**
 * Reads a Retry-After header: seconds or an HTTP date (RFC 9110, section 10.2.3).
 *
 * @param now wall clock, milliseconds since 1970
 * @returns milliseconds from now, not below 0; undefined when there is none or it makes no sense
 */
export function parseRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(at - now, 0);
}
