import { describe, expect, it } from 'vitest';
import { ApiError, IncompleteError, isInvalid } from './errors.ts';

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
