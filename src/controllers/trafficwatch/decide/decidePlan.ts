import type { V1Deployment } from '@kubernetes/client-node';
import { placementOf } from '../../../api/trafficwatch/placement.ts';
import { parseTrafficWatchSpec, thresholdOf } from '../../../api/trafficwatch/schema.ts';
import type { Claim, Observation } from '../observe/observation.ts';
import { FINALIZER } from '../names.ts';
import { schedulesBy } from './deployment/affinity.ts';
import { decideDeployment, waitingSinceOf, type DeploymentDecision } from './deployment/deployment.ts';
import { decideContention } from './labels/labelContention.ts';
import { sideOfLabel } from './labels/labelValue.ts';
import { decideNodeLabels, releaseLabels } from './labels/nodeLabels.ts';
import { ownerBefore } from './labels/ownership.ts';
import { NOTHING, wasDecided, type Plan, type Stall } from './plan.ts';
import { passFailureOf } from './report/passFailure.ts';
import { countVerdicts } from './verdict/counts.ts';
import type { NodeVerdict } from './verdict/nodeVerdict.ts';
import { PASSES_TO_AGREE } from './verdict/policies/passesAgree.ts';
import { decideVerdict } from './verdict/verdict.ts';

function claimedBySpec(o: Observation, key: string): boolean {
  return (o.claims.get(key) ?? []).some((claim) => claim.bySpec);
}

/**
 * A TrafficWatch that goes takes its labels off, but leaves those of a key that another one inherits. One without our
 * finalizer has never written a label: what the nodes carry under its key is somebody else's.
 */
function planDeletion(o: Observation): Plan {
  if (!o.watch.metadata?.finalizers?.includes(FINALIZER)) return { ...NOTHING, finalizer: 'Remove' };
  const mine = o.keys.claimed.filter((key) => !claimedBySpec(o, key) && !ownedByAnother(o, key));
  return { ...NOTHING, finalizer: 'Remove', labels: releaseLabels(o.view.nodes, mine) };
}

function ownedByAnother(o: Observation, key: string): Claim | undefined {
  const { uid = '', creationTimestamp } = o.watch.metadata ?? {};
  const created = new Date(creationTimestamp ?? o.now).toISOString();
  return ownerBefore({ uid, creationTimestamp: created }, o.claims.get(key) ?? []);
}

function planStall(o: Observation, { reason, message }: Stall): Plan {
  const stall = { reason, message: `${message}${frozenLabels(o)}` };
  return { ...NOTHING, stall, labelKey: o.keys.inUse };
}

/** The Deployment goes on scheduling by what the nodes carry, and whoever reads the condition must know that it is old. */
function frozenLabels(o: Observation): string {
  const { inUse: key = '' } = o.keys;
  if (key === '' || ownedByAnother(o, key)) return '';
  return `; until that is resolved the labels ${key} stay as they are and follow the traffic no more`;
}

/** Two passes in a row with data; once seen it stays, since labels survive restarts and outages. */
function isDecided(o: Observation): boolean {
  return wasDecided(o.watch.status) || o.view.figures.passesWithData >= PASSES_TO_AGREE;
}

function decideVerdicts(o: Observation, labelKey: string, previousKey: string | undefined): NodeVerdict[] {
  const maxPercent = thresholdOf(o.watch.spec);
  const passError = passFailureOf(o.view.passes[0]);
  // Mostly there are none: then no name is looked up, which is for each node and TrafficWatch.
  const someNotMeasurable = o.notMeasurable.size > 0;
  return o.view.figures.measured.map(({ node: { name, labels }, passes }) => {
    const label = labels[labelKey] ?? (previousKey === undefined ? undefined : labels[previousKey]);
    const notMeasurable = someNotMeasurable ? o.notMeasurable.get(name) : undefined;
    return decideVerdict({ maxPercent, passError, labelled: sideOfLabel(label), passes, notMeasurable });
  });
}

function deploymentStall(decision: DeploymentDecision): Stall | undefined {
  if (decision.kind === 'NotOwned') return { reason: 'DeploymentNotOwned', message: decision.message };
  if (decision.kind === 'SelectorChanged') return { reason: 'SelectorChanged', message: decision.message };
  return undefined;
}

/** One that is scheduled in the way of another placement has yet to be applied: the rename waits for that, too. */
function isScheduledBy({ watch }: Observation, { spec }: V1Deployment, labelKey: string): boolean {
  return schedulesBy(spec?.template.spec?.affinity, labelKey, placementOf(watch.spec));
}

function planLive(o: Observation, labelKey: string): Plan {
  const previousKey = o.keys.previous;
  const decided = isDecided(o);
  const waitingSince = waitingSinceOf(o.watch, o.feedStartedAt);
  // Where it is not known whether there is one, nothing is decided about it, and no label that it may go by is taken off.
  const deployment = o.deploymentUnknown
    ? undefined
    : decideDeployment({ ...o, labelKey, live: o.deployment, decided, waitingSince });
  const stall = deployment && deploymentStall(deployment);
  if (stall?.reason === 'DeploymentNotOwned') return planStall(o, stall);

  const inDeployment = !o.deploymentUnknown && (!o.deployment || isScheduledBy(o, o.deployment, labelKey));
  const mayRelease = previousKey !== undefined && inDeployment && !claimedBySpec(o, previousKey);
  const previousInForce = previousKey !== undefined && !inDeployment && !ownedByAnother(o, previousKey);
  const verdicts = decideVerdicts(o, labelKey, previousKey);
  const wanted = decideNodeLabels({
    nodes: o.view.nodes,
    verdicts,
    labelKey,
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
    labels,
    contended,
    labelsAtRest: over,
    deployment,
    verdicts,
    counts: countVerdicts(verdicts),
    stall,
    decided,
    labelKey: keyInUse(o, labelKey, previousKey, inDeployment),
    renaming: previousKey !== undefined,
    requeueAfterMs: deployment?.kind === 'Wait' ? Math.max(deployment.untilMs - o.now, 1) : undefined,
  };
}

/** The old key stays the one in use until the Deployment has left it and no node carries it, or another inherits it. */
function keyInUse(o: Observation, labelKey: string, previousKey: string | undefined, inDeployment: boolean): string {
  if (previousKey === undefined) return labelKey;
  const released = claimedBySpec(o, previousKey) || o.view.nodes.every((n) => n.labels[previousKey] === undefined);
  return inDeployment && released ? labelKey : previousKey;
}

/**
 * What to do about one TrafficWatch. Pure: the same observation gives the same plan.
 *
 * | TrafficWatch                              | labels                 | Deployment         |
 * |-------------------------------------------|------------------------|--------------------|
 * | is being deleted                          | taken off              | left to the garbage collector |
 * | CRD lacks fields of this version          | untouched              | untouched          |
 * | spec is not valid                         | untouched              | untouched          |
 * | key belongs to an older TrafficWatch      | untouched              | untouched          |
 * | Deployment of its name belongs to another | untouched              | untouched          |
 * | selector differs from its Deployment's    | written                | untouched          |
 * | otherwise                                 | written                | applied, or waits for data |
 *
 * What is written goes under the label key of the spec. In a rename:
 *
 * | Deployment there    | previous key belongs to | previous key                      |
 * |---------------------|-------------------------|-----------------------------------|
 * | not on the new key  | this TrafficWatch       | says the verdict too              |
 * | not on the new key  | an older one            | untouched                         |
 * | on the new key, or none | this, nobody waits for it | taken off where the new one is |
 * | on the new key, or none | another, or one waits for it | left to that one        |
 */
export function decidePlan(o: Observation): Plan {
  if (o.watch.metadata?.deletionTimestamp) return planDeletion(o);
  if (o.crdProblem !== undefined) return planStall(o, { reason: 'CrdOutdated', message: o.crdProblem });
  const parsed = parseTrafficWatchSpec(o.watch);
  if ('problems' in parsed) return planStall(o, { reason: 'InvalidSpec', message: parsed.problems.join('; ') });
  // There is one, since the spec is valid.
  const { spec: labelKey = '' } = o.keys;
  const owner = ownedByAnother(o, labelKey);
  if (owner) {
    const message = `label key ${labelKey} belongs to TrafficWatch ${owner.key}, which is older; nothing is touched until it goes or spec.label changes`;
    return planStall(o, { reason: 'LabelKeyTaken', message });
  }
  return planLive(o, labelKey);
}
