import { Reason } from '../../api/trafficwatch/reasons.ts';
import { TRAFFIC_WATCHES } from '../../api/trafficwatch/schema.ts';
import type { Failure } from '../../runtime/process/problem.ts';
import { createFailureOf } from '../../runtime/status/writeFailures.ts';

/** Converts the error of a failed write into a reason and a message for the conditions of a TrafficWatch. */
export const failureOf = createFailureOf(TRAFFIC_WATCHES, {
  forbidden: Reason.Forbidden,
  refused: Reason.WriteRefused,
  unreachable: Reason.ApiServerUnreachable,
  failed: Reason.WriteFailed,
});

/** Converts the error of a list or watch without which everything is written all the same, so that Ready stays True. */
export function readFailureOf(what: string, error: unknown): Failure {
  const { reason, message } = failureOf(what, error);
  return { reason, message };
}
