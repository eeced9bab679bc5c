import { ConditionType, Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { TrafficWatch, TrafficWatchStatus } from '../../../../api/trafficwatch/schema.ts';
import { setCondition } from '../../../../runtime/controller/conditions.ts';

/** How far the labels of a plan are. */
export interface Progress {
  /** Nodes whose labels were written, or tried in vain. */
  readonly done: number;
  readonly of: number;
}

/**
 * The status while labels are being written: as it is, but for Reconciling. What was decided is told when it is written.
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
  const time = new Date(now).toISOString().replace(/\.\d{3}Z$/, 'Z');
  return { ...watch.status, conditions: setCondition(watch.status?.conditions ?? [], draft, time) };
}
