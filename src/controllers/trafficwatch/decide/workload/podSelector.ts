import type { SelectorLike } from '../../../../api/labelMatcher.ts';
import type { LabelSelector } from '../../../../api/labelSelector.ts';
import type { TargetRef } from '../../../../api/trafficwatch/spec/workload.ts';
import type { Observation } from '../../observe/observation.ts';

/**
 * Returns the selector of the pods that the admission policy gives the node affinity, for `status.podSelector`.
 *
 * | spec        | target                        | result                                       |
 * |-------------|-------------------------------|----------------------------------------------|
 * | deployment  |                               | none: the Deployment's template has the affinity |
 * | podSelector |                               | the selector                                 |
 * | targetRef   | found                         | its selector                                 |
 * | targetRef   | absent, and its kind defines its pods (Job) | that selector                             |
 * | targetRef   | absent or cannot be read, as in the status | the last selector: a target that is deleted and created again gets its pods protected from the first |
 * | targetRef   | absent or cannot be read, and not the target in the status | none                         |
 * | targetRef   | known to have no pods, or no such kind   | none                              |
 */
export function podSelectorOf({ watch, workload }: Observation): LabelSelector | undefined {
  const { spec, status } = watch;
  if (spec.podSelector !== undefined) return spec.podSelector;
  const target = workload?.target;
  if (target === undefined || target.selector !== undefined) return target?.selector;
  if (target.expected !== undefined) return target.expected;
  const isSilent = target.reason === 'TargetNotFound' || target.reason === 'TargetUnreadable';
  return isSilent && isSame(status?.target, spec.targetRef) ? status?.podSelector : undefined;
}

/** The pods of the workload, whoever owns it. Undefined if they are not known. */
export function workloadSelectorOf(o: Observation): SelectorLike | undefined {
  return o.watch.spec.deployment?.selector ?? podSelectorOf(o);
}

function isSame(a: TargetRef | undefined, b: TargetRef | undefined): boolean {
  return a?.apiVersion === b?.apiVersion && a?.kind === b?.kind && a?.name === b?.name;
}
