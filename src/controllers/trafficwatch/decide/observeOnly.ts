import type { DeploymentStep } from '../../../api/trafficwatch/planned.ts';
import type { Observation } from '../observe/observation.ts';
import { mayHaveLabels } from '../model/labelKeys.ts';
import { releaseOwnLabels } from './labels/ownership.ts';
import type { Plan } from './plan.ts';

/**
 * The plan of a TrafficWatch with mode Observe: the verdicts of `plan`, none of its writes.
 *
 * | our finalizer           | labels under our keys    | finalizer                   | Deployment |
 * |-------------------------|--------------------------|-----------------------------|------------|
 * | absent: never enforced  | untouched, not ours      | not added                   | untouched  |
 * | present: was enforced   | removed, as at deletion  | removed after the labels    | untouched  |
 *
 * Pods that run or are created meanwhile are not affected: a required affinity with NotIn also holds on nodes without
 * the label.
 */
export function observeOnly(o: Observation, plan: Plan): Plan {
  return {
    ...plan,
    finalizer: mayHaveLabels(o) ? 'Remove' : 'Keep',
    labels: releaseOwnLabels(o),
    contended: [],
    deployment: undefined,
    avoided: undefined,
    labelKey: undefined,
    renaming: false,
    planned: { nodesToLabel: plan.labels.size, deployment: deploymentStep(o, plan) },
    requeueAfterMs: undefined,
  };
}

function deploymentStep(o: Observation, { deployment, stall }: Plan): DeploymentStep {
  if (deployment === undefined || stall !== undefined) return 'None';
  if (deployment.kind === 'Wait') return 'Wait';
  return o.deployment === undefined ? 'Create' : 'Apply';
}
