import { modeOf } from '../../../../../api/trafficwatch/spec/mode.ts';
import { placementOf } from '../../../../../api/trafficwatch/spec/placement.ts';
import type { Observation } from '../../../observe/observation.ts';
import type { Plan } from '../../plan.ts';

/**
 * Says what it means for pods that every node is unfit.
 *
 * | mode    | pods get the affinity                   | placement  | new pods                     |
 * |---------|-----------------------------------------|------------|------------------------------|
 * | Observe | any                                     | any        | run on any node: no label is written |
 * | Enforce | no: no admission policy, or one without room for the TrafficWatch | any | run on any node |
 * | Enforce | yes, or not known                       | Preferred  | run on unfit nodes           |
 * | Enforce | yes                                     | AtCreation, with a policy that is older, or with more unfit nodes than the list holds | the same |
 * | Enforce | yes, or not known                       | Required, AtCreation | find no node       |
 *
 * With a selector, the nodes that it leaves out take pods.
 */
export function describeAllUnfit(o: Observation, plan: Pick<Plan, 'avoided'>): string {
  const which = o.view.outside.length === 0 ? 'every node' : 'every selected node';
  if (modeOf(o.watch.spec) === 'Observe') {
    return `${which} would be unfit: mode Observe writes no label, so pods run on any node`;
  }
  return `${which} is unfit: running pods are not moved, ${newPods(o, plan)}`;
}

function newPods(o: Observation, plan: Pick<Plan, 'avoided'>): string {
  const hasOthers = o.view.outside.length > 0;
  if (!getsAffinity(o)) return 'new pods run on any node, since no admission policy adds the node affinity';
  if (onlyPrefers(o, plan)) {
    return hasOthers
      ? 'new pods prefer nodes that spec.nodeSelector leaves out, and may run on unfit nodes'
      : 'new pods run on unfit nodes, since they only prefer fit ones';
  }
  return `new pods find ${hasOthers ? 'only nodes that spec.nodeSelector leaves out' : 'no node'}`;
}

/** False if the pods of a workload that the operator does not own are known to get no affinity. */
function getsAffinity({ workload }: Observation): boolean {
  if (workload?.placed.isOmitted === true) return false;
  const reason = workload?.policy.reason;
  return reason === undefined || reason === 'PolicyInstalled' || reason === 'PolicyUnreadable';
}

function onlyPrefers({ watch, workload }: Observation, { avoided }: Pick<Plan, 'avoided'>): boolean {
  const placement = placementOf(watch.spec);
  if (placement !== 'AtCreation') return placement === 'Preferred';
  return workload?.policy.isOutdated === true || avoided?.isComplete === false;
}
