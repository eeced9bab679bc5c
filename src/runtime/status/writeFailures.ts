import { ApiError, isConflict, isForbidden, NotLeaderError, TransportError, WaitingError } from '../client/errors.ts';
import type { Resource } from '../client/resource.ts';
import type { Failure } from './failure.ts';

/** How soon an object that somebody else wrote meanwhile is reconciled again: ms. */
export const OVERTAKEN_RETRY_MS = 1_000;

/** The reasons that a kind's conditions have for a failed write. */
export interface FailureReasons {
  /** 403: RBAC, quota or an admission webhook. */
  readonly forbidden: string;
  /** Any other answer of the API server. */
  readonly refused: string;
  /** No answer. */
  readonly unreachable: string;
  /** A defect of the operator's own. */
  readonly failed: string;
}

/**
 * Somebody wrote the reconciled object between our read and our write: 409 Conflict. That is no failure, and nothing is
 * reported. The next reconcile reads what they wrote.
 * @param resource the kind of the reconciled object
 * @throws WaitingError when that is what the error says; returns otherwise
 */
export function rethrowOvertaken(error: unknown, resource: Resource): void {
  if (!(error instanceof ApiError) || !isConflict(error) || error.reason !== 'Conflict') return;
  if (!error.path.includes(`/${resource.plural}/`)) return;
  const message = `the ${resource.kind} was written by another client`;
  throw new WaitingError(error.reason, message, OVERTAKEN_RETRY_MS, { cause: error });
}

/** From an error to the failure that a condition reports. */
export type FailureOf = (what: string, error: unknown) => Failure;

/**
 * Makes the function that turns the error of a write into a Failure:
 *
 * | error                              | failure                                               |
 * | ---------------------------------- | ----------------------------------------------------- |
 * | NotLeaderError, WaitingError       | none: it is thrown on                                 |
 * | 409 Conflict on the object itself  | none: WaitingError, see rethrowOvertaken              |
 * | 403                                | `forbidden`, with the server's words, which name verb and resource |
 * | another answer of the API server   | `refused`, with status and reason                     |
 * | TransportError                     | `unreachable`                                         |
 * | any other                          | `failed`, with the error's name                       |
 *
 * No other part of a response or error gets into a condition.
 *
 * @param resource the kind of the reconciled object, which may be another than the one that was written
 */
export function createFailureOf(resource: Resource, reasons: FailureReasons): FailureOf {
  return (what, error) => {
    if (error instanceof NotLeaderError || error instanceof WaitingError) throw error;
    rethrowOvertaken(error, resource);
    if (isForbidden(error)) return { reason: reasons.forbidden, message: `${what}: ${error.detail}` };
    if (error instanceof ApiError) {
      return { reason: reasons.refused, message: `${what}: the API server answered ${error.status} ${error.reason}` };
    }
    if (error instanceof TransportError) {
      return { reason: reasons.unreachable, message: `${what}: no answer from the API server` };
    }
    return { reason: reasons.failed, message: `${what}: ${error instanceof Error ? error.name : 'unknown error'}` };
  };
}
