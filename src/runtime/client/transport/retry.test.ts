import { describe, expect, it } from 'vitest';
import { ApiError, TransportError } from '../errors.ts';
import { parseRetryAfter, retryPause } from './retry.ts';
import type { TransportRequest } from './types.ts';

const GET: TransportRequest = { method: 'GET', path: '/' };
const POST: TransportRequest = { method: 'POST', path: '/' };
const answered = (status: number, retryAfterMs?: number): ApiError =>
  new ApiError({
    status,
    reason: 'R',
    method: 'GET',
    path: '/',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
const lost = new TransportError('lost', { failure: 'connection' });
const unsent = new TransportError('refused', { failure: 'connection', unsent: true });
const calledOff = new TransportError('cancelled', { failure: 'aborted', unsent: true });

describe('retryPause', () => {
  it.each([
    ['a GET whose response was lost', lost, GET, true],
    ['a POST whose response was lost: it may have been executed', lost, POST, false],
    ['a POST that was never sent', unsent, POST, true],
    ['a cancelled call', calledOff, GET, false],
    ['a JSON patch, which is not idempotent', lost, patch('application/json-patch+json'), false],
    ['an apply', lost, patch('application/apply-patch+yaml'), true],
    ['a merge patch', lost, patch('application/merge-patch+json'), true],
    ['a DELETE', lost, { ...GET, method: 'DELETE' as const }, true],
    ['a GET answered 504', answered(504), GET, true],
    ['a GET answered 404', answered(404), GET, false],
    ['a POST answered 503: a proxy may have passed it on', answered(503), POST, false],
    ['a POST answered 503 with Retry-After', answered(503, 100), POST, true],
    ['a POST answered 500 with Retry-After', answered(500, 100), POST, false],
    ['an error that is neither ApiError nor TransportError', new RangeError(), GET, false],
  ])('%s', (_, error, request, repeated) => {
    expect(retryPause(error, request, 1, 0.5) !== undefined).toBe(repeated);
  });

  it('doubles up to 4 s, and is between half and all of the nominal length', () => {
    const pauses = (random: number): unknown[] => [1, 2, 3, 4, 5, 6, 60].map((n) => retryPause(lost, GET, n, random));

    expect(pauses(1)).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000]);
    expect(pauses(0)).toEqual([125, 250, 500, 1000, 2000, 2000, 2000]);
  });

  it('is never shorter than Retry-After', () => {
    expect(retryPause(answered(429, 7_000), GET, 1, 0)).toBe(7_000);
    expect(retryPause(answered(429, 7_000), GET, 1, 1)).toBe(7_250);
  });
});

describe('parseRetryAfter', () => {
  const now = Date.UTC(2026, 0, 1, 12, 0, 0);

  it.each([
    ['seconds', '3', 3_000],
    ['zero', '0', 0],
    ['a date', 'Thu, 01 Jan 2026 12:00:05 GMT', 5_000],
    ['a date that has passed', 'Thu, 01 Jan 2026 11:00:00 GMT', 0],
    ['the first of several', ['2', '9'], 2_000],
    ['nonsense', 'soon', undefined],
    ['nothing', undefined, undefined],
    ['an empty header', '', undefined],
  ])('reads %s', (_, header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });
});

function patch(contentType: string): TransportRequest {
  return { method: 'PATCH', path: '/', contentType };
}
