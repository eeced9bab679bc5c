import {
  ApiError,
  isConflict,
  isForbidden,
  isInvalid,
  NotLeaderError,
  TransportError,
  WaitingError,
} from '../client/errors.ts';
import type { Resource } from '../client/resource.ts';
import type { Failure } from '../process/problem.ts';

/** Delay before an object that another client wrote meanwhile is reconciled again: ms. */
export const OVERTAKEN_RETRY_MS = 1_000;

/** The reasons of a kind's conditions for a failed write. */
interface FailureReasons {
  /** 403: RBAC, quota or an admission webhook. */
  readonly forbidden: string;
  /** Any other answer of the API server. */
  readonly refused: string;
  /** No answer. */
  readonly unreachable: string;
  /** A defect of the operator. */
  readonly failed: string;
}

/**
 * Throws if another client wrote the reconciled object between the read and the write of this process: 409 Conflict. That is not a
 * failure and not reported: the next reconcile reads the new state.
 *
 * @param resource the kind of the reconciled object
 * @throws WaitingError for such a conflict; returns otherwise
 */
export function rethrowOvertaken(error: unknown, resource: Resource): void {
  if (!(error instanceof ApiError) || !isConflict(error) || error.reason !== 'Conflict') return;
  if (!error.path.includes(`/${resource.plural}/`)) return;
  const message = `the ${resource.kind} was written by another client`;
  throw new WaitingError(error.reason, message, OVERTAKEN_RETRY_MS, { cause: error });
}

/** Returns the failure that a condition reports for an error. */
type FailureOf = (what: string, error: unknown) => Failure;

/**
 * Creates the function that turns the error of a write into a Failure:
 *
 * | error                              | failure                                               |
 * | ---------------------------------- | ----------------------------------------------------- |
 * | NotLeaderError, WaitingError       | none: it is thrown on                                 |
 * | 409 Conflict on the object itself  | none: WaitingError, see rethrowOvertaken              |
 * | 403                                | `forbidden`, with the server's words, which name verb and resource |
 * | 400, 413, 422                      | `refused`, with the server's words: what admission or validation rejects |
 * | another answer of the API server   | `refused`, with status and reason                     |
 * | TransportError                     | `unreachable`                                         |
 * | any other                          | `failed`, with the error's name                       |
 *
 * No other part of a response or error gets into a condition.
 *
 * @param resource the kind of the reconciled object, which may differ from the kind of the written object
 */
export function createFailureOf(resource: Resource, reasons: FailureReasons): FailureOf {
  return (what, error) => {
    if (error instanceof NotLeaderError || error instanceof WaitingError) throw error;
    rethrowOvertaken(error, resource);
    if (error instanceof ApiError) {
      const { status, reason, detail, retryAfterMs } = error;
      const isRefused = isForbidden(error) || isInvalid(error);
      const words = isRefused && detail !== '' ? detail : `the API server answered ${status} ${reason}`;
      return {
        reason: isForbidden(error) ? reasons.forbidden : reasons.refused,
        message: `${what}: ${words}`,
        ...(isRefused && { isRefused }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      };
    }
    if (error instanceof TransportError) {
      return { reason: reasons.unreachable, message: `${what}: no answer from the API server` };
    }
    return { reason: reasons.failed, message: `${what}: ${error instanceof Error ? error.name : 'unknown error'}` };
  };
}
