import type { LabelSelector } from '../../../../api/labelSelector.ts';
import type { Observation } from '../../observe/observation.ts';

/**
 * The pods that the admission policy gives the node affinity, for `status.podSelector`.
 *
 * | spec        | target                        | result                                       |
 * |-------------|-------------------------------|----------------------------------------------|
 * | deployment  |                               | none: the Deployment's template has the affinity |
 * | podSelector |                               | the selector                                 |
 * | targetRef   | found                         | its selector                                 |
 * | targetRef   | absent or cannot be read, spec unchanged | the last selector: a target that is deleted and created again gets its pods protected from the first |
 * | targetRef   | absent or cannot be read, spec changed   | none: the last selector may be that of another target |
 * | targetRef   | known to have no pods, or no such kind   | none                              |
 */
export function podSelectorOf({ watch, workload }: Observation): LabelSelector | undefined {
  const { spec, status, metadata } = watch;
  if (spec.podSelector !== undefined) return spec.podSelector;
  const target = workload?.target;
  if (target === undefined || target.selector !== undefined) return target?.selector;
  const isSilent = target.reason === 'TargetNotFound' || target.reason === 'TargetUnreadable';
  return isSilent && status?.observedGeneration === metadata?.generation ? status?.podSelector : undefined;
}
