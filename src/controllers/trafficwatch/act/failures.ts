import { Reason } from '../../../api/trafficwatch/reasons.ts';
import { TRAFFIC_WATCHES } from '../../../api/trafficwatch/schema.ts';
import { ApiError, isConflict, isForbidden, TransportError, WaitingError } from '../../../runtime/client/errors.ts';
import type { Failure } from '../decide/failure.ts';

/** How soon a TrafficWatch that somebody else wrote meanwhile is looked at again: ms. */
const OVERTAKEN_RETRY_MS = 1_000;

/**
 * Somebody wrote the TrafficWatch between our read and our write: nothing went wrong, and nothing is to be told. The
 * next look reads what they wrote.
 * @throws WaitingError when that is what the error says; returns otherwise
 */
export function rethrowOvertaken(error: unknown): void {
  if (!(error instanceof ApiError) || !isConflict(error) || error.reason !== 'Conflict') return;
  if (!error.path.includes(`/${TRAFFIC_WATCHES.plural}/`)) return;
  throw new WaitingError(error.reason, 'the TrafficWatch was written by somebody else', OVERTAKEN_RETRY_MS, {
    cause: error,
  });
}

/**
 * How a failed write is told to the user. The API server's own words name verb and resource when RBAC refuses; no
 * other part of a response gets into a condition.
 * @throws WaitingError for a conflict on the TrafficWatch itself, which is no failure
 */
export function failureOf(what: string, error: unknown): Failure {
  rethrowOvertaken(error);
  if (isForbidden(error)) {
    return { reason: Reason.Forbidden, message: `${what}: ${error.detail}` };
  }
  if (error instanceof ApiError) {
    return { reason: Reason.WriteRefused, message: `${what}: the API server answered ${error.status} ${error.reason}` };
  }
  if (error instanceof TransportError) {
    return { reason: Reason.ApiServerUnreachable, message: `${what}: no answer from the API server` };
  }
  return { reason: Reason.WriteFailed, message: `${what}: ${error instanceof Error ? error.name : 'unknown error'}` };
}
