import { ConditionType } from '../../../../api/trafficwatch/reasons.ts';
import { findCondition, type Condition } from '../../../../runtime/controller/conditions.ts';

/**
 * The conditions, with the counts in the message of BreakerOpen as they were. The counts of nodes above the threshold
 * move from pass to pass while the breaker is open, and a large cluster writes its figures once a minute: its counts
 * must not write the status in between. Another status, reason or spec is written at once.
 *
 * @param before the conditions of the last status
 */
export function withSteadyBreaker(
  conditions: readonly Condition[],
  before: readonly Condition[] | undefined,
): Condition[] {
  const was = findCondition(before, ConditionType.BreakerOpen);
  return conditions.map((now) => {
    const isSame =
      now.type === was?.type &&
      now.status === was.status &&
      now.reason === was.reason &&
      now.observedGeneration === was.observedGeneration;
    return isSame ? { ...now, message: was.message } : now;
  });
}
