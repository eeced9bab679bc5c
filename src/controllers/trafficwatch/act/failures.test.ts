import { describe, expect, it } from 'vitest';
import { ApiError, isInvalid, TransportError, WaitingError } from '../../../runtime/client/errors.ts';
import { failureOf, rethrowOvertaken } from './failures.ts';

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
      reason: 'Forbidden',
      message: `labelling node n1: ${error.detail}`,
    });
  });

  it('keeps answers and causes out of the message otherwise', () => {
    expect(failureOf('x', answer(500, 'InternalError', 'token=secret')).message).toBe(
      'x: the API server answered 500 InternalError',
    );
    expect(failureOf('x', new TransportError('connect 198.18.0.1', { failure: 'connection' })).reason).toBe(
      'ApiServerUnreachable',
    );
    expect(failureOf('x', new Error('secret')).message).toBe('x: Error');
  });
});

describe('a conflict', () => {
  const conflict = (path: string, reason = 'Conflict') => new ApiError({ status: 409, reason, method: 'PATCH', path });

  it('on the TrafficWatch itself is awaited and told to nobody', () => {
    const error = conflict('/apis/traffic.example.com/v1alpha1/namespaces/shop/trafficwatches/web');
    expect(() => failureOf('adding the finalizer', error)).toThrow(WaitingError);
    expect(() => rethrowOvertaken(error)).toThrow(expect.objectContaining({ reason: 'Conflict', retryAfterMs: 1_000 }));
  });

  it('on anything else is a failure like any other', () => {
    const error = conflict('/apis/apps/v1/namespaces/shop/deployments/web');
    expect(failureOf('applying the Deployment', error).reason).toBe('WriteRefused');
    expect(() => rethrowOvertaken(answer(403, 'Forbidden', ''))).not.toThrow();
  });
});

describe('isInvalid', () => {
  it('is what no retry can mend', () => {
    const invalid = [400, 413, 422, 409, 429, 500].filter((status) => isInvalid(answer(status, '', '')));
    expect(invalid).toEqual([400, 413, 422]);
  });
});
