import { describe, expect, it } from 'vitest';
import { ApiError, apiErrorOf, IncompleteError, isInvalid, parseRetryAfter, type Refusal } from './errors.ts';

describe('isInvalid', () => {
  it('is true for errors that a retry cannot fix', () => {
    const answer = (status: number) => new ApiError({ status, reason: '', method: 'PATCH', path: '/api/v1/nodes/n1' });
    expect([400, 413, 422, 409, 429, 500].filter((status) => isInvalid(answer(status)))).toEqual([400, 413, 422]);
  });
});

describe('IncompleteError', () => {
  it('has the first reason, and names three of many failures', () => {
    const failures = ['a', 'b', 'c', 'd'].map((message) => ({ reason: `Reason${message}`, message }));
    expect(new IncompleteError(failures)).toMatchObject({ reason: 'Reasona', message: 'a; b; c', retryAfterMs: 0 });
  });

  it('keeps the longest delay that the API server asked for', () => {
    const failures = [{}, { retryAfterMs: 7_000 }, { retryAfterMs: 3_000 }];
    const error = new IncompleteError(failures.map((each) => ({ reason: 'Busy', message: 'a', ...each })));
    expect(error.retryAfterMs).toBe(7_000);
  });
});

const refusal: Refusal = { request: { method: 'PATCH', path: '/api/v1/nodes/n' }, status: 422, now: 0 };

it('contains the request, the status and the message of the server', () => {
  const status = {
    kind: 'Status',
    reason: 'Invalid',
    message: 'bad label',
    details: { causes: [{ field: 'metadata.labels', message: 'bad', reason: 'FieldValueInvalid' }] },
  };

  const error = apiErrorOf(refusal, JSON.stringify(status));

  expect(error.message).toBe('PATCH /api/v1/nodes/n: 422 Invalid: bad label');
  expect(error.causes).toEqual(status.details.causes);
});

it.each([
  ['a page of a proxy', '<html>hunter2</html>'],
  ['another object', '{"kind":"Secret","message":"hunter2"}'],
  ['null', 'null'],
  ['nothing', ''],
])('contains only the status code if the body is %s', (_, body) => {
  expect(apiErrorOf(refusal, body).message).toBe('PATCH /api/v1/nodes/n: 422 HTTP422');
});

it('shortens a very long message', () => {
  const body = JSON.stringify({ kind: 'Status', reason: 'R', message: 'x'.repeat(100_000) });

  expect(apiErrorOf(refusal, body).message.length).toBeLessThan(1_100);
});

it.each([
  [
    400,
    'BadRequest',
    'failed to create typed patch object (default/web; apps/v1, Kind=Deployment): .spec.x: not declared',
  ],
  [
    400,
    'BadRequest',
    'failed to convert new object (/w; apps/v1, Kind=Deployment) to proper version: cannot convert float64 to int32',
  ],
  [413, 'RequestEntityTooLarge', 'etcdserver: request is too large'],
])('converts a 500 that a retry would get again to %i', (status, reason, message) => {
  const body = JSON.stringify({ kind: 'Status', message, code: 500 });

  expect(apiErrorOf({ ...refusal, status: 500 }, body)).toMatchObject({ status, reason, detail: message });
  expect(apiErrorOf({ ...refusal, status: 500 }, '').status).toBe(500);
});

it('does not cut a character when it shortens', () => {
  for (const shift of [0, 1]) {
    const body = JSON.stringify({ kind: 'Status', message: 'x'.repeat(shift) + '👩'.repeat(1_000) });

    expect(apiErrorOf(refusal, body).detail.isWellFormed()).toBe(true);
  }
});

it('reads the pause from the header, otherwise from the Status', () => {
  const body = JSON.stringify({ kind: 'Status', details: { retryAfterSeconds: 4 } });

  expect(apiErrorOf(refusal, body).retryAfterMs).toBe(4_000);
  expect(apiErrorOf({ ...refusal, retryAfter: '2' }, body).retryAfterMs).toBe(2_000);
  expect(apiErrorOf(refusal, '').retryAfterMs).toBeUndefined();
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
