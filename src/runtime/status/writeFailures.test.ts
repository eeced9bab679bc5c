import { describe, expect, it } from 'vitest';
import { ApiError, NotLeaderError, TransportError, WaitingError } from '../client/errors.ts';
import { GADGETS } from '../testing/fakeApi/gadgets.ts';
import { createFailureOf, rethrowOvertaken } from './writeFailures.ts';

const failureOf = createFailureOf(GADGETS, {
  forbidden: 'MayNot',
  refused: 'Refused',
  unreachable: 'NoAnswer',
  failed: 'Failed',
});

const answer = (status: number, reason: string, detail: string) =>
  new ApiError({ status, reason, detail, method: 'PATCH', path: '/api/v1/nodes/n1' });

describe('failureOf', () => {
  it('names verb and resource when RBAC refuses', () => {
    const error = answer(
      403,
      'Forbidden',
      'nodes "n1" is forbidden: User "x" cannot patch resource "nodes" in API group ""',
    );
    expect(failureOf('labelling node n1', error)).toEqual({
      reason: 'MayNot',
      message: `labelling node n1: ${error.detail}`,
      isRefused: true,
    });
  });

  it.each([400, 413, 422])('has the words of the webhook or policy that refuses with status %i', (status) => {
    const error = answer(status, 'Invalid', 'admission webhook "w" denied the request: no such labels');
    expect(failureOf('labelling node n1', error)).toEqual({
      reason: 'Refused',
      message: `labelling node n1: ${error.detail}`,
      isRefused: true,
    });
  });

  it('keeps answers and causes out of the message otherwise', () => {
    expect(failureOf('x', answer(500, 'InternalError', 'token=secret'))).toEqual({
      reason: 'Refused',
      message: 'x: the API server answered 500 InternalError',
    });
    expect(failureOf('x', new TransportError('connect 198.18.0.1', { failure: 'connection' }))).toEqual({
      reason: 'NoAnswer',
      message: 'x: no answer from the API server',
    });
    expect(failureOf('x', new Error('secret'))).toEqual({ reason: 'Failed', message: 'x: Error' });
  });

  it.each([403, 429])('keeps the delay that the API server asked for with status %i', (status) => {
    const error = new ApiError({ status, reason: '', method: 'PATCH', path: '/api/v1/nodes/n1', retryAfterMs: 3_000 });
    expect(failureOf('x', error).retryAfterMs).toBe(3_000);
  });

  it('throws on what is no failure: lost leadership, and what is merely awaited', () => {
    for (const error of [new NotLeaderError(), new WaitingError('Soon', 'soon', 1)]) {
      expect(() => failureOf('x', error)).toThrow(error);
    }
  });
});

describe('a conflict', () => {
  const conflict = (path: string, reason = 'Conflict') => new ApiError({ status: 409, reason, method: 'PATCH', path });
  const own = '/apis/test.example.com/v1/namespaces/shop/gadgets/web';

  it('on the reconciled object itself is awaited and reported to nobody', () => {
    expect(() => failureOf('adding the finalizer', conflict(own))).toThrow(WaitingError);
    expect(() => rethrowOvertaken(conflict(own), GADGETS)).toThrow(
      expect.objectContaining({
        reason: 'Conflict',
        retryAfterMs: 1_000,
        message: 'the Gadget was written by another client',
      }),
    );
  });

  it('on anything else is a failure like any other, and so is a name that is taken', () => {
    const error = conflict('/apis/apps/v1/namespaces/shop/deployments/web');
    expect(failureOf('applying the Deployment', error).reason).toBe('Refused');
    expect(failureOf('making it', conflict(own, 'AlreadyExists')).reason).toBe('Refused');
    expect(() => rethrowOvertaken(answer(403, 'Forbidden', ''), GADGETS)).not.toThrow();
  });
});
