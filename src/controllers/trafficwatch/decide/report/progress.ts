import { ConditionType, Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { TrafficWatch, TrafficWatchStatus } from '../../../../api/trafficwatch/schema.ts';
import { metaTime, setCondition } from '../../../../runtime/controller/conditions.ts';
import type { Failure } from '../../../../runtime/status/failure.ts';
import { terminatingConditions } from '../../../../runtime/status/terminating.ts';
import { mayHaveLabels } from '../../model/labelKeys.ts';

/** How many nodes of a plan have been labelled. */
export interface Progress {
  /** Nodes whose labels were written, or whose write failed. */
  readonly done: number;
  readonly of: number;
}

/**
 * The status while labels are being written: only Reconciling changes. The verdicts follow when all labels are written.
 * @param now ms since the epoch
 */
export function progressStatus(watch: TrafficWatch, { done, of }: Progress, now: number): TrafficWatchStatus {
  const draft = {
    type: ConditionType.Reconciling,
    status: 'True',
    reason: Reason.Applying,
    message: `${done} of ${of} nodes are labelled`,
    observedGeneration: watch.metadata?.generation,
  } as const;
  const time = metaTime(now);
  return { ...watch.status, conditions: setCondition(watch.status?.conditions ?? [], draft, time) };
}

/**
 * The status while the TrafficWatch is being deleted: only Ready changes. Of several failures it names the first in
 * alphabetical order, so that the same failures cause no write.
 * @param now ms since the epoch
 */
export function terminatingStatus(watch: TrafficWatch, failures: readonly Failure[], now: number): TrafficWatchStatus {
  const [why] = failures.map(({ message }) => message).sort();
  const removing = `being deleted: its labels are removed from the nodes${why === undefined ? '' : `; ${why}`}`;
  const conditions = terminatingConditions(watch, now, mayHaveLabels({ watch }) ? removing : undefined);
  return { ...watch.status, ready: false, observedGeneration: watch.metadata?.generation, conditions };
}
