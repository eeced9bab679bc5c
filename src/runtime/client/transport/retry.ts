import { ApiError, TransportError } from '../errors.ts';
import type { TransportRequest } from './types.ts';

/** First pause between two attempts of a call, milliseconds; it doubles each time. */
const FIRST_PAUSE_MS = 250;
/** Longest pause: about the time until a recovered server is noticed. */
const LONGEST_PAUSE_MS = 4_000;

/** Status codes that may change with another attempt. */
const TRANSIENT_STATUS = new Set([429, 500, 502, 503, 504]);

/**
 * How long to wait before the next attempt, or undefined when the error is final.
 *
 * | result of the attempt                 | idempotent request | other (POST, JSON patch)      |
 * |---------------------------------------|--------------------|-------------------------------|
 * | never sent                            | retry              | retry                         |
 * | sent, no response (lost, deadline)    | retry              | no: it may have been executed |
 * | 429                                   | retry              | retry: it was not executed    |
 * | 503 with Retry-After                  | retry              | retry: it was not executed    |
 * | 500, 502, 503, 504                    | retry              | no                            |
 * | any other response, cancelled         | no                 | no                            |
 *
 * @param attempt number of attempts so far, from 1
 * @param random 0 to 1: the pause is between half and all of its nominal length, so that callers that failed together
 *   do not retry together. A Retry-After is a lower bound instead.
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
 * True if sending the request twice has the same effect as once. Apply and merge patches describe the desired state. A
 * PUT contains the resource version that it replaces, so a second PUT gets 409. A second DELETE gets 404.
 */
function isRepeatable({ method, contentType }: TransportRequest): boolean {
  return method === 'PATCH' ? contentType !== 'application/json-patch+json' : method !== 'POST';
}

/**
 * Reads a Retry-After header: seconds or an HTTP date (RFC 9110, section 10.2.3).
 *
 * @param now wall clock, milliseconds since 1970
 * @returns milliseconds from now, at least 0; undefined if the header is absent or invalid
 */
export function parseRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(at - now, 0);
}
