import type { V1Deployment } from '@kubernetes/client-node';
import { TRAFFIC_WATCHES, type TrafficWatch, type TrafficWatchSpec } from '../../../api/trafficwatch/schema.ts';
import { readStatus } from '../../../api/trafficwatch/status.ts';
import { nodeSelectorOf } from '../../../api/trafficwatch/spec/nodeSelector.ts';
import type { CachedNode } from '../../../nodes/cachedNode.ts';
import type { UnmeasuredNodes } from '../../../nodes/unmeasuredNodes.ts';
import type { Client } from '../../../runtime/client/client.ts';
import type { Clock } from '../../../runtime/process/clock.ts';
import { isForbidden, isNotFound, type ApiError } from '../../../runtime/client/errors.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { hasFinalizer } from '../../../runtime/apply/finalizer.ts';
import { keyOf, refOfKey } from '../../../runtime/client/resource.ts';
import { isWithoutBody } from '../../../runtime/cache/bodyBudget.ts';
import type { Overlay } from '../../../runtime/cache/overlay.ts';
import type { StatusWriter } from '../../../runtime/status/statusWriter.ts';
import type { UsageFeed } from '../../../usage/pass/feed.ts';
import type { CrdCheck, SpecMemory } from './crdFields.ts';
import { failureOf, readFailureOf } from '../failures.ts';
import { blockingKeys, labelKeysOf, withoutRename, type Claim, type LabelKeys } from '../model/labelKeys.ts';
import type { LabelWrites, LabelTimes } from './labelHistory.ts';
import { FINALIZER, BY_LABEL_KEY } from '../names.ts';
import type { ForeignWorkload, LimitProblem, Observation, Placed } from './observation.ts';
import type { PassMemory } from './passMemory.ts';
import type { PassViews } from './passViews.ts';
import type { WatchLimits } from './watchLimits.ts';
import { readingOf } from './reading/readingOf.ts';
import type { PolicyCheck } from './workload/policyCheck.ts';
import type { Targets } from './workload/targets.ts';
import type { WaitingPods } from './workload/waitingPods.ts';

const LABEL = 'spec.label';
const MODE = 'spec.mode';

/** The sources of an observation: the caches, each overlaid with our own newest writes, and the feed of passes. */
export interface Sources {
  readonly client: Client;
  readonly clock: Clock;
  readonly feed: Pick<UsageFeed, 'passes' | 'startedAt'>;
  /** Problems that keep the operator from measuring now. */
  readonly measurementProblems: () => Observation['measurementProblems'];
  readonly watches: Overlay<TrafficWatch>;
  readonly nodes: Overlay<CachedNode>;
  /** The figures of a pass that all TrafficWatches share. */
  readonly passViews: PassViews;
  /** When labels changed that are older than the last write of their node. */
  readonly labelTimes: Pick<LabelTimes, 'times'>;
  /** The memory of earlier passes. */
  readonly passMemory: Pick<PassMemory, 'isWindowFilling' | 'missingSince'>;
  /** Nodes that cannot be measured, and why. */
  readonly unmeasured: Pick<UnmeasuredNodes, 'notMeasurable' | 'lookedAt'>;
  /** Only the Deployments with our label. `observe` GETs any other Deployment by name. */
  readonly deployments: Overlay<V1Deployment>;
  /** The error of the API server while it refuses to list or watch Deployments. */
  readonly deploymentsRefusal: () => ApiError | undefined;
  readonly allowedDeployments: AllowedDeployments;
  /** The workloads of `spec.targetRef`. */
  readonly targets: Pick<Targets, 'targetOf' | 'forget'>;
  /** The admission policy for pods of workloads that the operator does not own. */
  readonly policy: Pick<PolicyCheck, 'state'>;
  /** Returns the entry from which that policy works, for each TrafficWatch. */
  readonly placements: { placedOf(key: string): Placed };
  /** The pods that wait for a node. */
  readonly waitingPods: Pick<WaitingPods, 'podsIn'>;
  /** Which TrafficWatches are beyond the limits. */
  readonly limits: Pick<WatchLimits, 'isBeyond' | 'problemOf'>;
  readonly labelWrites: LabelWrites;
  readonly statuses: StatusWriter<TrafficWatch>;
  /** The fields that the API server drops because the CRD is older than the operator. */
  readonly crd: Pick<CrdCheck, 'drops' | 'forget' | 'looked' | 'problem' | 'refresh'>;
  /** The specs that were seen last, to find fields that the API server dropped. */
  readonly specs: SpecMemory;
}

function claimOf(watch: TrafficWatch, labelKey: string): Claim {
  const { uid = '', creationTimestamp } = watch.metadata ?? {};
  const { spec, native } = labelKeysOf(watch);
  return {
    uid,
    key: keyOf(watch),
    creationTimestamp: new Date(creationTimestamp ?? 0).toISOString(),
    bySpec: spec === labelKey,
    isNative: native === labelKey,
  };
}

/** Returns the claims of other TrafficWatches. Beyond the limits they claim nothing, unless they may have labels on nodes, which stay. */
function claimsOn(sources: Sources, watch: TrafficWatch, keys: LabelKeys): Map<string, Claim[]> {
  const others = (labelKey: string): Claim[] =>
    sources.watches
      .byIndex(BY_LABEL_KEY, labelKey)
      .filter((w) => w.metadata?.uid !== watch.metadata?.uid && !w.metadata?.deletionTimestamp)
      .filter((w) => !sources.limits.isBeyond(keyOf(w)) || hasFinalizer(w, FINALIZER))
      .map((w) => claimOf(w, labelKey));
  return new Map(keys.claimed.map((labelKey) => [labelKey, others(labelKey)]));
}

const TOO_LARGE: LimitProblem = {
  reason: 'TooManyTrafficWatches',
  message:
    'the TrafficWatches of this namespace have more than 8 MiB together, or all objects of this namespace more than its share of the memory of the operator, or this one has more than 200 levels of fields: new pods of spec.targetRef or spec.podSelector do not get its node affinity; delete some, or make them smaller, then change this one',
};

type ObservedDeployment = Pick<Observation, 'deployment' | 'deploymentUnknown' | 'deploymentProblem' | 'refusals'>;

/**
 * Reads the Deployment of the TrafficWatch `key`, from the cache or by a GET. A Deployment that another controller
 * created lacks our label and is never in the cache. Where the operator may not write it, it is not read.
 */
async function deploymentOf(
  sources: Sources,
  key: string,
  watch: TrafficWatch,
  signal?: AbortSignal,
): Promise<ObservedDeployment> {
  if (watch.spec.deployment === undefined) return { deployment: undefined };
  const problem = deploymentProblem(watch, sources.allowedDeployments);
  if (problem !== undefined) return { deployment: undefined, deploymentProblem: problem };
  const refusal = sources.deploymentsRefusal();
  const refusals = refusal === undefined ? [] : [readFailureOf('watching Deployments', refusal)];
  const known = sources.deployments.get(key);
  if (known && !isWithoutBody(known)) return { deployment: known, refusals };
  try {
    return { deployment: await sources.client.get(DEPLOYMENTS, refOfKey(key), { signal }), refusals };
  } catch (error) {
    if (isNotFound(error)) return { deployment: undefined, refusals };
    if (!isForbidden(error)) throw error;
    const failure = failureOf('looking for the Deployment', error);
    return { deployment: undefined, deploymentUnknown: true, refusals: [failure, ...refusals] };
  }
}

/** Reads what is known about a workload of others; undefined with `spec.deployment`, or without any. */
async function workloadOf(sources: Sources, key: string, { spec }: TrafficWatch): Promise<ForeignWorkload | undefined> {
  const { targetRef, podSelector } = spec;
  if (targetRef === undefined) sources.targets.forget(key);
  if (targetRef === undefined && podSelector === undefined) return undefined;
  const [target, policy] = await Promise.all([
    targetRef === undefined ? undefined : sources.targets.targetOf(key, targetRef),
    sources.policy.state(refOfKey(key).namespace ?? ''),
  ]);
  return { target, policy, placed: sources.placements.placedOf(key) };
}

/**
 * Completes a TrafficWatch from the cache. Objects in a list have no apiVersion and kind. An object that was stored
 * under another CRD may have no spec, and a status of any shape.
 */
function complete(stored: TrafficWatch): TrafficWatch {
  const { status, ...watch } = stored;
  const spec = (watch.spec as TrafficWatchSpec | null | undefined) ?? ({} as TrafficWatchSpec);
  const { group, version, kind } = TRAFFIC_WATCHES;
  return { apiVersion: `${group}/${version}`, kind, ...watch, spec, status: readStatus(status) };
}

/**
 * The label keys, without a rename if the API server drops `spec.label` because the CRD is too old. Otherwise the
 * TrafficWatch would look as if a user had removed the label, and the labels of all nodes would move to another key.
 * The key in use also stays while it is not known yet whether the CRD has the field: renames are rare and can wait.
 */
async function keysWithDroppedLabel(watch: TrafficWatch, { crd }: Sources): Promise<LabelKeys> {
  const keys = labelKeysOf(watch);
  if (keys.previous === undefined || watch.spec.label !== undefined) {
    crd.forget(LABEL, keyOf(watch));
    return keys;
  }
  const isDropped = await crd.drops(LABEL, keyOf(watch));
  return isDropped ? withoutRename(keys) : keys;
}

/**
 * Restores `spec.mode`, which the status remembers: a dry run must not become real because the CRD was replaced by
 * an older one. A user who removes the field from the spec waits for the check, about ten seconds.
 */
async function withDroppedMode(watch: TrafficWatch, { crd }: Sources): Promise<TrafficWatch> {
  if (watch.status?.mode !== 'Observe' || watch.spec.mode !== undefined) {
    crd.forget(MODE, keyOf(watch));
    return watch;
  }
  const isDropped = await crd.drops(MODE, keyOf(watch));
  return isDropped ? { ...watch, spec: { ...watch.spec, mode: 'Observe' } } : watch;
}

/**
 * Returns why a TrafficWatch cannot be decided by its spec: the CRD lacks fields, or the spec has lost some. Reads the
 * schema at once if the spec has lost fields: the CRD was replaced, and other TrafficWatches may also lose fields.
 * @throws TransportError if the API server does not answer
 */
async function problemsOf(watch: TrafficWatch, { crd, specs }: Sources) {
  await crd.looked();
  const specProblem = specs.problemOf(watch, crd.problem === undefined);
  if (specProblem !== undefined && crd.problem === undefined) await crd.refresh();
  return { crdProblem: crd.problem, specProblem };
}

/**
 * Reads everything that the decision about one TrafficWatch uses.
 * @param key namespace/name
 * @param signal cancels the GET of the Deployment
 * @returns undefined if there is no TrafficWatch of this key
 * @throws ApiError, TransportError if the GET of the Deployment or of the schema fails
 */
export async function observe(sources: Sources, key: string, signal?: AbortSignal): Promise<Observation | undefined> {
  const newest = sources.statuses.newest(key);
  if (!newest) {
    sources.statuses.forget(key);
    sources.targets.forget(key);
    sources.specs.forget(key);
    for (const field of [LABEL, MODE]) sources.crd.forget(field, key);
    return undefined;
  }
  const stored = complete(newest);
  const keys = await keysWithDroppedLabel(stored, sources);
  const watch = await withDroppedMode(stored, sources);
  // Of one beyond the limits nothing is read or remembered: it must cost no more than its status.
  const limitProblem = sources.limits.problemOf(newest) ?? (isWithoutBody(newest) ? TOO_LARGE : undefined);
  if (limitProblem !== undefined) sources.specs.forget(key);
  const problems = limitProblem === undefined ? await problemsOf(stored, sources) : {};
  const isGoing = watch.metadata?.deletionTimestamp !== undefined;
  const isDecided = !isGoing && limitProblem === undefined;
  const deployment = isDecided ? await deploymentOf(sources, key, watch, signal) : { deployment: undefined };
  const workload = isDecided ? await workloadOf(sources, key, watch) : undefined;
  const { passes, startedAt } = sources.feed;
  await sources.unmeasured.lookedAt(passes[0]);
  const nodes = sources.labelWrites.viewsOf(sources.nodes.list());
  const reading = readingOf(watch, (name) => sources.nodes.get(name));
  // All beyond the limits share one view: a selector takes a pass over all nodes.
  const look = limitProblem === undefined ? { reading, selector: nodeSelectorOf(watch.spec) } : {};
  const observation = {
    watch,
    keys,
    claims: claimsOn(sources, watch, keys),
    view: sources.passViews.viewOf(nodes, passes, look),
    ...deployment,
    workload,
    notMeasurable: sources.unmeasured.notMeasurable,
    labelTimes: sources.labelTimes.times,
    isWindowFilling: sources.passMemory.isWindowFilling(passes[0], reading),
    missingSince: sources.passMemory.missingSince(reading),
    measurementProblems: sources.measurementProblems(),
    ...problems,
    limitProblem,
    feedStartedAt: startedAt,
    now: sources.clock.now(),
  };
  const waits = isDecided && blockingKeys(observation).length > 0;
  return waits
    ? { ...observation, waitingPods: sources.waitingPods.podsIn(refOfKey(key).namespace ?? '') }
    : observation;
}

/** Where the operator has the right to write the Deployments of TrafficWatches. */
export interface AllowedDeployments {
  readonly enabled: boolean;
  /** Empty: every namespace. */
  readonly namespaces: readonly string[];
}

const INSTEAD = 'or create another TrafficWatch with spec.targetRef or spec.podSelector';

/**
 * Returns the problem and its solution, for users, if the operator may not write the Deployment of a TrafficWatch. The
 * message does not name the allowed namespaces: they may belong to other users.
 *
 * | spec.deployment | enabled | its namespace is allowed | problem |
 * |-----------------|---------|--------------------------|---------|
 * | absent          | any     | any                      | none    |
 * | set             | no      | any                      | names trafficWatch.deployments.enabled    |
 * | set             | yes     | no                       | names trafficWatch.deployments.namespaces |
 * | set             | yes     | yes                      | none    |
 */
export function deploymentProblem(
  { metadata, spec }: Pick<TrafficWatch, 'metadata' | 'spec'>,
  { enabled, namespaces }: AllowedDeployments,
): string | undefined {
  if (spec.deployment === undefined) return undefined;
  if (!enabled) {
    return `spec.deployment is set, but the operator may not write Deployments: set trafficWatch.deployments.enabled of the chart to true (--deployments), ${INSTEAD}`;
  }
  const namespace = metadata?.namespace ?? '';
  if (namespaces.length === 0 || namespaces.includes(namespace)) return undefined;
  return `spec.deployment is set, but the operator may not write Deployments in namespace ${namespace}: add it to trafficWatch.deployments.namespaces of the chart (--deployment-namespace), ${INSTEAD}`;
}
