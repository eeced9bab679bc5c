import { placementOf } from '../../../../api/trafficwatch/spec/placement.ts';
import { ConditionType, Reason } from '../../../../api/trafficwatch/reasons.ts';
import { AVOIDED_AT_MOST } from '../../../../api/trafficwatch/statusSchema.ts';
import { POD_PLACEMENT_NAME } from '../../../../api/podplacement/schema.ts';
import type { TargetRef } from '../../../../api/trafficwatch/spec/workload.ts';
import type { Failure } from '../../../../runtime/process/problem.ts';
import type { Draft } from './measurementConditions.ts';
import type { ForeignWorkload, Observation, Placed, Target } from '../../observe/observation.ts';
import { fitRequirement } from '../../model/affinity.ts';
import type { Plan } from '../plan.ts';
import { isPlacedAs, MOST_OF_LABEL, MOST_PLACEMENT_BYTES } from '../workload/podPlacement.ts';
import { LASTING_MS, type BlockedDecision } from '../workload/blockedPods.ts';

/** The conditions about the workload: whether it is known, whether its pods get the affinity, and find a node. */
export function workloadConditions(o: Observation, plan: Plan): [string, Draft][] {
  const { targetRef } = o.watch.spec;
  const blocked = noFitNode(plan.blocked);
  const waiting: [string, Draft][] = blocked ? [[ConditionType.NoFitNode, blocked]] : [];
  if (o.workload === undefined) return waiting;
  const { target } = o.workload;
  return [
    ...(target && targetRef ? [[ConditionType.TargetFound, targetFound(target, targetRef)] as [string, Draft]] : []),
    [ConditionType.InjectionUnavailable, injectionUnavailable(o.workload, o, plan)],
    ...waiting,
  ];
}

const OUTDATED =
  'the installed admission policy is older than the operator: pods may get another node affinity than spec.placement ' +
  'asks for; upgrade the policy with helm or kubectl apply -k deploy/placement';
const PENDING = `the PodPlacement ${POD_PLACEMENT_NAME} of this namespace does not have this TrafficWatch yet`;
const FULL =
  `the PodPlacement ${POD_PLACEMENT_NAME} of this namespace has no room for this TrafficWatch ` +
  `(${MOST_OF_LABEL} TrafficWatches for one label of pods, ${MOST_PLACEMENT_BYTES / 1000} kB in all, oldest TrafficWatches first): ` +
  'select pods by a value of another label, by fewer labels and values, or delete TrafficWatches';
/** Without the number of unfit nodes, which may move with every pass: status.unfitNodes has it. */
const OMITTED =
  `more than ${AVOIDED_AT_MOST} nodes are unfit: new pods avoid those that status.avoidedNodes names, and only prefer ` +
  'fit nodes to the others; raise spec.maxBandwidthPercent, limit unfit nodes with spec.maxUnfit, or set ' +
  'spec.placement to Required';

/** Whether the workload of `spec.targetRef` is known. */
function targetFound(target: Target, { kind, name }: TargetRef): Draft {
  if (target.selector !== undefined) {
    return { status: 'True', reason: Reason.TargetResolved, message: `the pods of ${kind} ${name} are known` };
  }
  const message = `${target.message}; its pods do not get the node affinity, unless an earlier selector is known`;
  return { status: 'False', reason: target.reason, message };
}

/**
 * Whether neither the admission policy nor the webhook gives pods the node affinity, or not all of it.
 *
 * | policy or webhook                        | status  |
 * |------------------------------------------|---------|
 * | installed                                | False   |
 * | installed, but older than the operator   | True    |
 * | installed, but the PodPlacement cannot be written, or has no room | True: says how to add the term by hand |
 * | installed, but the PodPlacement does not have the TrafficWatch yet | Unknown |
 * | installed, but more nodes are unfit than AtCreation can name  | True |
 * | the API server has no such kind, or it is missing | True: says how to add the term by hand |
 * | a webhook that cannot be called          | True: says how to add the term by hand |
 * | a webhook that does not get the namespace yet | Unknown |
 * | cannot be read                           | Unknown |
 */
function injectionUnavailable({ policy, placed }: ForeignWorkload, o: Observation, plan: Plan): Draft {
  const { labelKey, avoided } = plan;
  const { reason, message, isOutdated = false } = policy;
  const isWebhook = reason === Reason.WebhookInstalled;
  if (isWebhook || reason === Reason.PolicyInstalled) {
    if (isOutdated) return { status: 'True', reason: Reason.PolicyOutdated, message: OUTDATED };
    const missing = notPlaced(placed, o, plan);
    if (missing !== undefined) return missing;
    if (avoided?.isComplete === false) return { status: 'True', reason: Reason.UnfitNodesOmitted, message: OMITTED };
    return {
      status: 'False',
      reason,
      message: `an admission ${isWebhook ? 'webhook' : 'policy'} adds the node affinity to new pods`,
    };
  }
  if (reason === Reason.PolicyUnreadable || reason === Reason.PlacementPending) {
    return { status: 'Unknown', reason, message };
  }
  return { status: 'True', reason, message: `${message}; until then pods run on any node; ${byHand(o, labelKey)}` };
}

/** Why pods do not get what the TrafficWatch asks for, if the API server refuses the PodPlacement that a policy or webhook uses. */
export function refusedPlacement({ workload }: Observation, plan: Plan): Failure | undefined {
  const { policy, placed } = workload ?? {};
  const isUsed = policy?.reason === Reason.PolicyInstalled || policy?.reason === Reason.WebhookInstalled;
  if (!isUsed || placed?.problem?.isRefused !== true) return undefined;
  if (plan.labelKey === undefined || plan.podSelector === undefined) return undefined;
  return { ...placed.problem, reason: Reason.PlacementNotWritten };
}

/** Why the policy does not have this TrafficWatch; undefined if it has it, or if it must not. */
function notPlaced(placed: Placed, o: Observation, plan: Plan): Draft | undefined {
  if (plan.labelKey === undefined || plan.podSelector === undefined) return undefined;
  const byHandNow = `until then pods run on any node; ${byHand(o, plan.labelKey)}`;
  if (placed.problem !== undefined) {
    const message = `${placed.problem.message}; ${byHandNow}`;
    return { status: 'True', reason: Reason.PlacementNotWritten, message };
  }
  if (placed.isOmitted === true) {
    return { status: 'True', reason: Reason.PlacementFull, message: `${FULL}; ${byHandNow}` };
  }
  if (isPlacedAs(placed.entry, o.watch, plan)) return undefined;
  return { status: 'Unknown', reason: Reason.PlacementPending, message: PENDING };
}

/**
 * Whether pods have found no node for a while, since nodes are unfit. Undefined where the last condition stays.
 *
 * | pods                                   | status  |
 * |----------------------------------------|---------|
 * | one has been blocked for LASTING_MS    | True    |
 * | none, or none for that long            | False   |
 * | may not be watched                     | Unknown |
 * | not read yet, or never with Preferred  | stays; with Preferred the condition is dropped |
 */
function noFitNode(blocked: BlockedDecision): Draft | undefined {
  if (blocked.kind === 'Unreadable') {
    return { status: 'Unknown', reason: Reason.PodsUnreadable, message: `pods cannot be read: ${blocked.message}` };
  }
  if (blocked.kind !== 'Known') return undefined;
  const seconds = LASTING_MS / 1000;
  if (!blocked.isLasting) {
    return { status: 'False', reason: Reason.NoPodBlocked, message: `No pod has waited ${seconds} s for a fit node` };
  }
  const message =
    `pods have found no node for ${seconds} s: their required node affinity excludes unfit nodes, and no other node ` +
    'takes them; status.blockedPods names some; add nodes, raise spec.maxBandwidthPercent, limit unfit nodes with ' +
    'spec.maxUnfit, or set spec.placement to Preferred for new pods';
  return { status: 'True', reason: Reason.PodsBlocked, message };
}

/** Returns the text about the affinity that users can add to their pod template. */
function byHand({ watch, keys }: Observation, labelKey = keys.spec ?? ''): string {
  const requirement = JSON.stringify({ matchExpressions: [fitRequirement(labelKey)] });
  const where =
    placementOf(watch.spec) === 'Required'
      ? `every entry of requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms must have ${requirement}`
      : `preferredDuringSchedulingIgnoredDuringExecution must have {"weight":100,"preference":${requirement}}`;
  const what =
    placementOf(watch.spec) === 'AtCreation' ? 'the term of Preferred, since names of nodes grow old,' : 'it';
  return `or add ${what} by hand to the pod template: in spec.affinity.nodeAffinity, ${where}`;
}
