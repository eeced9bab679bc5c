import { placementOf } from '../../../../api/trafficwatch/spec/placement.ts';
import { ConditionType, Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { TargetRef } from '../../../../api/trafficwatch/spec/workload.ts';
import type { Condition } from '../../../../runtime/controller/conditions.ts';
import type { Observation, PolicyState, Target } from '../../observe/observation.ts';
import { fitRequirement } from '../deployment/affinity.ts';
import type { Plan } from '../plan.ts';

type Draft = Pick<Condition, 'status' | 'reason' | 'message'>;

/** The conditions about a workload that the operator does not own: none with `spec.deployment`. */
export function workloadConditions(o: Observation, plan: Plan): [string, Draft][] {
  const { targetRef } = o.watch.spec;
  if (o.workload === undefined) return [];
  const { target, policy } = o.workload;
  return [
    ...(target && targetRef ? [[ConditionType.TargetFound, targetFound(target, targetRef)] as [string, Draft]] : []),
    [ConditionType.InjectionUnavailable, injectionUnavailable(policy, o, plan)],
  ];
}

/** Whether the workload of `spec.targetRef` is known. */
function targetFound(target: Target, { kind, name }: TargetRef): Draft {
  if (target.selector !== undefined) {
    return { status: 'True', reason: Reason.TargetResolved, message: `the pods of ${kind} ${name} are known` };
  }
  const message = `${target.message}; its pods do not get the node affinity, unless an earlier selector is known`;
  return { status: 'False', reason: target.reason, message };
}

/**
 * Whether no admission policy gives pods the node affinity.
 *
 * | policy                                   | status  |
 * |------------------------------------------|---------|
 * | installed                                | False   |
 * | the API server has no such kind, or it is missing | True: says how to add the term by hand |
 * | cannot be read                           | Unknown |
 */
function injectionUnavailable(policy: PolicyState, o: Observation, { labelKey }: Plan): Draft {
  const { reason, message } = policy;
  if (reason === Reason.PolicyInstalled) {
    return { status: 'False', reason, message: 'an admission policy adds the node affinity to new pods' };
  }
  if (reason === Reason.PolicyUnreadable) return { status: 'Unknown', reason, message };
  return { status: 'True', reason, message: `${message}; until then pods run on any node; ${byHand(o, labelKey)}` };
}

/** What users add to their pod template. */
function byHand({ watch, keys }: Observation, labelKey = keys.spec ?? ''): string {
  const requirement = JSON.stringify({ matchExpressions: [fitRequirement(labelKey)] });
  const where =
    placementOf(watch.spec) === 'Required'
      ? `every entry of requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms must have ${requirement}`
      : `preferredDuringSchedulingIgnoredDuringExecution must have {"weight":100,"preference":${requirement}}`;
  return `or add it by hand to the pod template: in spec.affinity.nodeAffinity, ${where}`;
}
