import type { V1Deployment } from '@kubernetes/client-node';
import { modeOf } from '../../../api/trafficwatch/spec/mode.ts';
import { placementOf } from '../../../api/trafficwatch/spec/placement.ts';
import { passesOf } from '../../../api/trafficwatch/spec/verdict.ts';
import { parseTrafficWatchSpec } from '../../../api/trafficwatch/schema.ts';
import { ownedByAnother, mayHaveLabels, claimedBySpec, type Claim } from '../model/labelKeys.ts';
import { ownKeys } from './labels/lastVerdict.ts';
import { releaseOwnLabels, releaseUnselected, decideNodeLabels } from './labels/nodeLabels.ts';
import type { NodeView, Observation } from '../observe/observation.ts';
import { schedulesBy } from '../model/affinity.ts';
import { decideDeployment, hasDeployment, waitingSinceOf, type DeploymentDecision } from './deployment.ts';
import { decideContention } from './labels/labelContention.ts';
import type { LabelRef } from '../model/label.ts';
import { avoidedNodesOf, podSelectorOf } from './workload/podPlacement.ts';
import { decideBlockedPods } from './workload/blockedPods.ts';
import { NOTHING, wasDecided, selectsNone, type Plan, type Stall } from './plan.ts';
import { decideVerdicts } from './verdict/verdict.ts';
import { countVerdicts } from './verdict/nodeVerdict.ts';
import type { DeploymentStep } from '../../../api/trafficwatch/statusSchema.ts';

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
function observeOnly(o: Observation, plan: Plan): Plan {
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

/** Removes the labels of a TrafficWatch that is being deleted. */
function planDeletion(o: Observation): Plan {
  return { ...NOTHING, finalizer: 'Remove', labels: releaseOwnLabels(o) };
}

function planStall(o: Observation, { reason, message }: Stall): Plan {
  const remark = frozenLabels(o);
  // The problem of a spec may be a message of an earlier status, which has the remark.
  const stall = { reason, message: message.endsWith(remark) ? message : `${message}${remark}` };
  return { ...NOTHING, stall, labelKey: o.keys.inUse };
}

/**
 * Part of the message of a stall. The Deployment still schedules by the labels that the nodes have, so the message must
 * say that these labels are stale.
 */
function frozenLabels(o: Observation): string {
  const { inUse: key = '' } = o.keys;
  if (key === '' || ownedByAnother(o, key)) return '';
  return `; until that is resolved, the labels ${key} are unchanged and no longer follow the traffic`;
}

/**
 * True after as many passes in a row with data as a verdict wants. Stays true, because labels survive restarts and
 * outages. If the selector leaves out every node, there is nothing to wait for.
 */
function isDecided(o: Observation): boolean {
  return wasDecided(o.watch) || selectsNone(o.view) || hasData(o);
}

/** Whether as many passes in a row have data as a verdict wants. */
function hasData({ watch, view }: Observation): boolean {
  const { unfit, fit } = passesOf(watch.spec);
  return view.figures.passesWithData >= Math.max(unfit, fit);
}

function deploymentStall(
  { deploymentProblem }: Observation,
  decision: DeploymentDecision | undefined,
): Stall | undefined {
  if (deploymentProblem !== undefined) return { reason: 'DeploymentsNotAllowed', message: deploymentProblem };
  if (decision?.kind === 'NotOwned') return { reason: 'DeploymentNotOwned', message: decision.message };
  if (decision?.kind === 'SelectorChanged') return { reason: 'SelectorChanged', message: decision.message };
  return undefined;
}

/**
 * True if the Deployment schedules by this label key with the placement of the spec. False also when only the placement
 * differs: the new one is yet to be applied, and a rename waits for that too.
 */
function isScheduledBy({ watch }: Observation, { spec }: V1Deployment, labelKey: string): boolean {
  return schedulesBy(spec?.template.spec?.affinity, labelKey, placementOf(watch.spec));
}

function planLive(o: Observation, labelKey: string): Plan {
  const previousKey = o.keys.previous;
  const decided = isDecided(o);
  const waitingSince = waitingSinceOf(o.watch, o.feedStartedAt);
  // If the Deployment cannot be read, decide nothing about it and remove no label that it may schedule by.
  const isUnread = o.deploymentUnknown === true || o.deploymentProblem !== undefined;
  const deployment = isUnread
    ? undefined
    : decideDeployment({ ...o, labelKey, live: o.deployment, decided, waitingSince });
  const stall = deploymentStall(o, deployment);
  // A dry run has verdicts all the same: they say what the TrafficWatch would do to another Deployment.
  const isDryRun = modeOf(o.watch.spec) === 'Observe';
  if (stall !== undefined && !followsTraffic(o, stall) && !isDryRun) return planStall(o, stall);

  const inDeployment = !isUnread && (!o.deployment || isScheduledBy(o, o.deployment, labelKey));
  const isForeign = !hasDeployment(o.watch);
  const mayRelease = previousKey !== undefined && inDeployment && !isForeign && !claimedBySpec(o, previousKey);
  const previousInForce = previousKey !== undefined && (isForeign || !inDeployment) && !ownedByAnother(o, previousKey);
  const { verdicts, breaker } = decideVerdicts(o);
  const wanted = decideNodeLabels({
    nodes: o.view.nodes,
    verdicts,
    labelKey,
    // Until passes decide, nothing is removed: a restart may have come between our first labels and the status.
    areInherited: ownKeys(o).length === 0 && hasData(o),
    previousKey,
    mayRelease,
    previousInForce,
  });
  const { labels, contended, over } = decideContention({
    nodes: o.view.nodes,
    keys: o.keys.claimed,
    wanted,
    pass: o.view.passes[0]?.pass ?? 0,
  });
  return {
    finalizer: 'Add',
    labels: releaseUnselected(o, labelKey, labels),
    contended,
    labelsAtRest: [...over, ...recordsOutside(o)],
    deployment,
    podSelector: podSelectorOf(o),
    avoided: avoidedNodesOf(o, verdicts),
    blocked: decideBlockedPods(o),
    verdicts,
    breaker,
    counts: countVerdicts(verdicts),
    stall,
    decided,
    labelKey: keyInUse(o, labelKey, previousKey, inDeployment),
    renaming: previousKey !== undefined,
    planned: undefined,
    requeueAfterMs: deployment?.kind === 'Wait' ? Math.max(deployment.untilMs - o.now, 1) : undefined,
  };
}

/** Whether labels are written in spite of the stall: the Deployment that is there, and is left as it is, schedules by them. */
function followsTraffic({ keys }: Observation, { reason }: Stall): boolean {
  return reason === 'SelectorChanged' || (reason === 'DeploymentsNotAllowed' && keys.inUse !== undefined);
}

/** The write records of nodes that have left the selection. */
function recordsOutside({ view, keys }: Observation): LabelRef[] {
  return view.outside.flatMap(({ name: node, writes }) =>
    writes === undefined ? [] : keys.claimed.filter((key) => writes[key]).map((key) => ({ node, key })),
  );
}

/**
 * Whether every node with the old key has the new one. Then the admission policy for workloads of others may use the new
 * key, which it reads from the status. The old labels stay until then, and the sweep removes them afterwards: new pods
 * never get a key that is on no node.
 */
function isMoved({ view }: Observation, labelKey: string, previousKey: string): boolean {
  return view.nodes.every(({ labels }) => labels[previousKey] === undefined || labels[labelKey] !== undefined);
}

/** With another value of spec.label the key carries the namespace, and no other namespace can have it. */
function describeTakenKey({ keys }: Observation, labelKey: string, owner: Claim): string {
  const why = owner.isNative && keys.native !== labelKey ? 'whose namespace is in the key' : 'which is older';
  return `label key ${labelKey} belongs to TrafficWatch ${owner.key}, ${why}; nothing is written until that TrafficWatch is deleted or spec.label changes`;
}

/**
 * The label key for the status. During a rename this is the old key until the Deployment uses the new key, and either
 * no node has the old key or another TrafficWatch names it in its spec. With a workload of others: see isMoved.
 */
function keyInUse(o: Observation, labelKey: string, previousKey: string | undefined, inDeployment: boolean): string {
  if (previousKey === undefined) return labelKey;
  if (!hasDeployment(o.watch)) return isMoved(o, labelKey, previousKey) ? labelKey : previousKey;
  const isFree = ({ labels }: NodeView): boolean => labels[previousKey] === undefined;
  const isLeft = (node: NodeView): boolean => isFree(node) || node.otherOwners?.[previousKey] !== undefined;
  const released = claimedBySpec(o, previousKey) || (o.view.nodes.every(isFree) && o.view.outside.every(isLeft));
  return inDeployment && released ? labelKey : previousKey;
}

/**
 * Decides what to do for one TrafficWatch. Pure: the same observation gives the same plan.
 *
 * | TrafficWatch                              | labels                 | Deployment         |
 * |-------------------------------------------|------------------------|--------------------|
 * | is being deleted                          | removed                | left to the garbage collector |
 * | CRD lacks fields of this version          | untouched              | untouched          |
 * | API server dropped fields of the spec     | untouched              | untouched          |
 * | is beyond the limits                      | untouched              | untouched          |
 * | spec is not valid                         | untouched              | untouched          |
 * | key belongs to another TrafficWatch       | untouched              | untouched          |
 * | operator may not write its Deployment     | untouched              | untouched          |
 * | Deployment of its name belongs to another | untouched              | untouched          |
 * | selector differs from its Deployment's    | written                | untouched          |
 * | otherwise                                 | written                | applied, or waits for data |
 *
 * Labels are written on the nodes that spec.nodeSelector selects; `releaseUnselected` says what happens on the others.
 * They are written under the label key of the spec. In a rename:
 *
 * | Deployment                        | previous key                            | label under the previous key            |
 * |-----------------------------------|-----------------------------------------|-----------------------------------------|
 * | not on the new key, or unreadable | belongs to this TrafficWatch            | follows the verdict too                 |
 * | not on the new key, or unreadable | belongs to another TrafficWatch         | untouched                               |
 * | on the new key, or none           | is in the spec of no other TrafficWatch | removed once the node has the new label |
 * | on the new key, or none           | is in the spec of another TrafficWatch  | left to that TrafficWatch               |
 */
export function decidePlan(o: Observation): Plan {
  if (o.watch.metadata?.deletionTimestamp) return planDeletion(o);
  if (o.crdProblem !== undefined) return planStall(o, { reason: 'CrdOutdated', message: o.crdProblem });
  if (o.specProblem !== undefined) return planStall(o, { reason: 'SpecFieldsLost', message: o.specProblem });
  if (o.limitProblem !== undefined) return planStall(o, o.limitProblem);
  const parsed = parseTrafficWatchSpec(o.watch);
  if ('problems' in parsed) return planStall(o, { reason: 'InvalidSpec', message: parsed.problems.join('; ') });
  // A valid spec always has a label key.
  const { spec: labelKey = '' } = o.keys;
  const owner = ownedByAnother(o, labelKey);
  if (owner) {
    return planStall(o, { reason: 'LabelKeyTaken', message: describeTakenKey(o, labelKey, owner) });
  }
  const plan = planLive(o, labelKey);
  return modeOf(o.watch.spec) === 'Observe' ? observeOnly(o, plan) : plan;
}
