import { Reason } from '../../api/trafficwatch/reasons.ts';
import { TRAFFIC_WATCHES } from '../../api/trafficwatch/schema.ts';
import { isInvalid } from '../../runtime/client/errors.ts';
import type { Failure } from '../../runtime/process/problem.ts';
import { createFailureOf } from '../../runtime/status/writeFailures.ts';

/** Converts the error of a failed write into a reason and a message for the conditions of a TrafficWatch. */
export const failureOf = createFailureOf(TRAFFIC_WATCHES, {
  forbidden: Reason.Forbidden,
  refused: Reason.WriteRefused,
  unreachable: Reason.ApiServerUnreachable,
  failed: Reason.WriteFailed,
});

/** The failure of the label of a Node. With the words of an admission policy or webhook: they name what to change. */
export function labelFailureOf(node: string, error: unknown): Failure {
  const what = `labelling node ${node}`;
  if (!isInvalid(error)) return failureOf(what, error);
  return { reason: Reason.WriteRefused, message: `${what}: the API server refuses the label: ${error.detail}` };
}
