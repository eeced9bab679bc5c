import type { V1Deployment } from '@kubernetes/client-node';
import { Reason } from '../../../api/trafficwatch/reasons.ts';
import { TRAFFIC_WATCHES, type TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { Applier } from '../../../runtime/apply/apply.ts';
import type { Client } from '../../../runtime/client/client.ts';
import { isInvalid } from '../../../runtime/client/errors.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../../runtime/apply/finalizer.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { keyOf } from '../../../runtime/client/resource.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import type { Failure } from '../../../runtime/process/problem.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import type { StatusWriter } from '../../../runtime/status/statusWriter.ts';
import { isTerminating } from '../../../runtime/controller/conditions.ts';
import type { Plan, Stall } from '../decide/plan.ts';
import { isIncomplete, isTakeover, prepareOwnership } from './deploymentOwnership.ts';
import { failureOf } from '../failures.ts';
import { FINALIZER } from '../names.ts';
import type { PodPlacements } from './podPlacements.ts';
import { urgentNodes } from '../decide/labels/nodeLabels.ts';
import type { NodeLabelWriter } from './nodeLabelWriter.ts';
import { isBehind } from './writeCall.ts';
import type { Observation } from '../observe/observation.ts';
import { placementEntryOf, namesBeforeLabels } from '../decide/workload/podPlacement.ts';

/** The writers of a reconcile. All of them refuse writes in a standby. */
export interface Writers {
  readonly client: Client;
  readonly clock: Clock;
  readonly fieldManager: string;
  readonly applier: Applier;
  readonly nodeLabels: NodeLabelWriter;
  readonly watches: Pick<Overlay<TrafficWatch>, 'wrote'>;
  readonly statuses: StatusWriter<TrafficWatch>;
  readonly deployments: Pick<Overlay<V1Deployment>, 'wrote'>;
  readonly placements: Pick<PodPlacements, 'placedOf' | 'sync'>;
  /** Aborted when the reconcile must end: no call outlives it. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of the writes. A failed step does not prevent the others. */
export interface Outcome {
  readonly failures: readonly Failure[];
  /** Set if labels wait for the allowance of the namespace. Not a failure: they are written later. */
  readonly behind?: Failure | undefined;
  /** Set if the API server rejects the Deployment as invalid: no retry until the spec changes. */
  readonly stall?: Stall;
  readonly deployment?: DeploymentOutcome;
  /** True if the TrafficWatch was being deleted and had no other finalizer: it no longer exists. */
  readonly isGone?: boolean;
}

/** The write of the Deployment, as the reason of its event. */
type DeploymentOutcome =
  typeof Reason.DeploymentCreated | typeof Reason.DeploymentUpdated | typeof Reason.DeploymentAdopted;

async function writeFinalizer(o: Observation, writers: Writers): Promise<Failure | undefined> {
  if (hasFinalizer(o.watch, FINALIZER)) return undefined;
  try {
    const { client, fieldManager } = writers;
    writers.watches.wrote(await addFinalizer(client, TRAFFIC_WATCHES, o.watch, FINALIZER, fieldManager));
    return undefined;
  } catch (error) {
    return failureOf('adding the finalizer', error);
  }
}

async function writeLabels(
  o: Observation,
  plan: Plan,
  writers: Writers,
): Promise<Pick<Outcome, 'failures' | 'behind'>> {
  const { namespace = '', name: watch = '' } = o.watch.metadata ?? {};
  const { nodes, outside } = o.view;
  const urgent = urgentNodes(outside.length === 0 ? nodes : [...nodes, ...outside], plan.labels);
  const payer = { namespace, watch, nodes: nodes.length + outside.length, urgent };
  const failures = await writers.nodeLabels.write(plan.labels, writers.signal, payer);
  // In the order of the plan, not of the writes: so the status names the same node each time.
  const errors = [...plan.labels.keys()]
    .filter((node) => failures.has(node))
    .map((node) => [node, failures.get(node)] as const);
  const failed = errors.filter(([, error]) => !isBehind(error));
  const message = `Some labels are not written yet: the TrafficWatches of namespace ${namespace} changed too many labels. The operator writes them within minutes; change specs less often`;
  return {
    failures: failed.map(([node, error]) => failureOf(`labelling node ${node}`, error)),
    behind: failed.length < errors.length ? { reason: Reason.LabelsBehind, message } : undefined,
  };
}

function outcomeOver(live: V1Deployment | undefined): DeploymentOutcome {
  if (!live || isIncomplete(live)) return Reason.DeploymentCreated;
  return isTakeover(live) ? Reason.DeploymentAdopted : Reason.DeploymentUpdated;
}

async function applyDeployment(
  desired: V1Deployment,
  live: V1Deployment | undefined,
  writers: Writers,
): Promise<DeploymentOutcome | undefined> {
  const { applier, client, fieldManager, signal } = writers;
  const prepare = (found: V1Deployment) => prepareOwnership(client, fieldManager, desired, found, { signal });
  const { written, object } = await applier.apply(DEPLOYMENTS, desired, live, {
    prepare,
    takesNothingOver: true,
    signal,
  });
  if (!written) return undefined;
  writers.deployments.wrote(object);
  return outcomeOver(live);
}

async function writeDeployment(o: Observation, plan: Plan, writers: Writers): Promise<Outcome> {
  if (plan.deployment?.kind !== 'Apply') return { failures: [] };
  try {
    return { failures: [], deployment: await applyDeployment(plan.deployment.desired, o.deployment, writers) };
  } catch (error) {
    if (isInvalid(error)) {
      const message = `the API server refuses the Deployment: ${error.detail}`;
      return { failures: [], stall: { reason: Reason.DeploymentInvalid, message } };
    }
    return { failures: [failureOf(`applying the Deployment ${o.watch.metadata?.name ?? ''}`, error)] };
  }
}

/** The object with the status that was written while its labels were removed: the API server compares resource versions. */
function newestOf(watch: TrafficWatch, { statuses }: Writers): TrafficWatch {
  const newest = statuses.newest(keyOf(watch));
  return newest?.metadata?.uid === watch.metadata?.uid ? (newest ?? watch) : watch;
}

/** Takes the entry of the TrafficWatch from the PodPlacement: new pods do not get the node affinity any longer. */
async function leavePlacement({ watch }: Observation, { placements }: Writers): Promise<Failure | undefined> {
  const { namespace = '' } = watch.metadata ?? {};
  if (placements.placedOf(keyOf(watch)).entry === undefined) return undefined;
  try {
    await placements.sync(namespace);
    return undefined;
  } catch (error) {
    return failureOf('removing the entry from the PodPlacement', error);
  }
}

/** Takes the entry from the PodPlacement, then the labels off, then the finalizer: at deletion, and with mode Observe. */
async function release(o: Observation, plan: Plan, writers: Writers): Promise<Outcome> {
  const failure = await leavePlacement(o, writers);
  if (failure) return { failures: [failure] };
  const labels = await writeLabels(o, plan, writers);
  if (labels.failures.length > 0 || labels.behind || !hasFinalizer(o.watch, FINALIZER)) return labels;
  try {
    const { client, fieldManager } = writers;
    const left = await removeFinalizer(client, TRAFFIC_WATCHES, newestOf(o.watch, writers), FINALIZER, fieldManager);
    const isGone = left === undefined || (isTerminating(left) && !left.metadata?.finalizers?.length);
    if (left && !isGone) writers.watches.wrote(left);
    return { failures: [], isGone };
  } catch (error) {
    return { failures: [failureOf('removing the finalizer', error)] };
  }
}

/**
 * Applies the plan: the finalizer, then the names of the nodes that turn unfit, then the labels, then the
 * Deployment, so that its first pods find labelled nodes. If
 * the finalizer cannot be written, nothing else is written.
 * @throws NotLeaderError if leadership was lost meanwhile
 * @throws WaitingError if another client created a Deployment or wrote the TrafficWatch meanwhile
 */
export async function act(o: Observation, plan: Plan, writers: Writers): Promise<Outcome> {
  if (plan.finalizer === 'Remove') return release(o, plan, writers);
  if (plan.finalizer === 'Keep') return { failures: [] };
  const failure = await writeFinalizer(o, writers);
  if (failure) return { failures: [failure] };
  writers.nodeLabels.forget(plan.labelsAtRest);
  await nameUnfitFirst(o.watch, plan, writers);
  const { failures, behind } = await writeLabels(o, plan, writers);
  const deployment = await writeDeployment(o, plan, writers);
  return { ...deployment, failures: [...failures, ...deployment.failures], behind };
}

/**
 * How long the names precede the labels: ms. The API server's policy reads PodPlacements from a cache that is some
 * milliseconds behind, and stores a pod some milliseconds after the policy has seen it; the rest is reserve. A label is
 * written 15 to 35 s after its traffic, so one second more does not count.
 */
export const NAMES_PRECEDE_LABELS_MS = 1_000;

/**
 * With AtCreation: writes the names of nodes that turn unfit into the status and the PodPlacement, and resolves when the
 * policy uses them, so that their labels can be written. A failed write is ignored, and so is one that waits because the
 * namespace has changed too often: a label that comes too late would be worse, and the status at the end has the names too.
 */
async function nameUnfitFirst(about: TrafficWatch, { avoided }: Plan, writers: Writers): Promise<void> {
  if (avoided === undefined) return;
  const { clock, statuses, placements, signal } = writers;
  const key = keyOf(about);
  const watch = statuses.newest(key) ?? about;
  const avoidedNodes = namesBeforeLabels(watch.status?.avoidedNodes ?? [], avoided);
  const placed = placements.placedOf(key).entry?.avoidedNodes ?? [];
  const isPlaced = placementEntryOf(watch) === undefined || namesBeforeLabels(placed, avoided) === undefined;
  if (avoidedNodes === undefined && isPlaced) return;
  try {
    if (avoidedNodes !== undefined) await statuses.write(watch, { ...watch.status, avoidedNodes }, { signal });
    await placements.sync(watch.metadata?.namespace ?? '');
  } catch {
    return;
  }
  await clock.sleep(NAMES_PRECEDE_LABELS_MS, signal);
}
