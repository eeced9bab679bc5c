import type { V1DaemonSet, V1Deployment, V1StatefulSet, V1DeploymentSpec } from '@kubernetes/client-node';
import type { ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import { WeightCondition } from '../../../api/trafficweight/reasons.ts';
import { TRAFFIC_WEIGHTS, type TrafficWeight } from '../../../api/trafficweight/trafficWeight.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { findCondition, type Condition } from '../../../runtime/controller/conditions.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import type { ObservedObject, ObservedComponent } from '../model/observation.ts';
import { workloadsOf } from '../render/kinds.ts';

/** The readiness of a workload or a TrafficWeight. */
export interface Readiness {
  readonly phase:
    /** It is being deleted and exists until its dependents and finalizers are gone. Its status may be outdated. */
    | 'Ending'
    /** Its controller has not observed this generation. */
    | 'StatusMissing'
    /** Pods of this generation are missing, or older ones are left. */
    | 'RollingOut'
    /** Some pods of this generation are not available. */
    | 'Unavailable'
    /** The condition Ready of a TrafficWeight is not True. */
    | 'NotReady'
    | 'Ready';
  /** The condition Ready of a TrafficWeight. */
  readonly condition?: Pick<Condition, 'reason' | 'message'>;
  /** The desired number of pods; undefined without a status, and for a TrafficWeight. */
  readonly desired?: number;
  readonly available?: number;
  /** Updated pods, of all desired or existing ones. Set while they keep the workload from being ready. */
  readonly updated?: { readonly pods: number; readonly of: number };
  /** The reason why no pods can be created, as a controller of Kubernetes reports it. */
  readonly problem?: string;
  /** Whether a Deployment replaces no pods, after `kubectl rollout pause`. */
  readonly isPaused?: true;
}

interface Counts {
  readonly desired: number;
  readonly updated: number;
  readonly available: number;
  /** Pods of all generations. */
  readonly total: number;
}

/**
 * Returns the readiness of a workload or a TrafficWeight.
 *
 * | the status                                   | phase         |
 * |----------------------------------------------|---------------|
 * | of an object that is being deleted           | Ending        |
 * | missing, or of an older generation           | StatusMissing |
 * | fewer updated pods than desired, or old ones left | RollingOut |
 * | fewer available pods than desired            | Unavailable   |
 * | of a TrafficWeight, without a condition Ready of this generation | StatusMissing |
 * | of a TrafficWeight whose condition Ready is not True | NotReady |
 * | anything else                                | Ready         |
 *
 * `kubectl rollout status` has the same rules.
 *
 * @param isForeign whether its pods may be of an older template as far as its own strategy says so: a partition, or OnDelete. In a stack, a
 *   partition that a user sets would let the next wave begin.
 */
export function readinessOf(live: KubeObject, isForeign = false): Readiness {
  if (live.metadata?.deletionTimestamp !== undefined) return { phase: 'Ending' };
  const { status } = live as V1Deployment;
  const generation = live.metadata?.generation ?? 0;
  if (status?.observedGeneration === undefined || status.observedGeneration < generation) {
    return { phase: 'StatusMissing' };
  }
  if (live.kind === TRAFFIC_WEIGHTS.kind) return readinessOfWeight(live as TrafficWeight, generation);
  const counts = countsOf(live);
  const { desired, updated, available, total } = counts;
  const problem = status.conditions?.find(
    ({ type, status: is }) => type === 'ReplicaFailure' && is === 'True',
  )?.message;
  const figures = { desired, available, ...(problem !== undefined && { problem }) };
  const kept = isForeign ? keptOf(live, desired) : 0;
  if (updated < desired - kept || total > updated + kept) {
    const paused = (live as V1Deployment).spec?.paused === true ? ({ isPaused: true } as const) : {};
    return { phase: 'RollingOut', ...figures, ...paused, updated: { pods: updated, of: Math.max(desired, total) } };
  }
  return { phase: available < desired ? 'Unavailable' : 'Ready', ...figures };
}

function readinessOfWeight({ status }: TrafficWeight, generation: number): Readiness {
  const condition = findCondition(status?.conditions, WeightCondition.Ready);
  if (condition === undefined || (condition.observedGeneration ?? 0) < generation) return { phase: 'StatusMissing' };
  return { phase: condition.status === 'True' ? 'Ready' : 'NotReady', condition };
}

type Workload = Pick<ObservedObject, 'live' | 'isCurrent'>;

/** Phases from the worst to the best. */
const PHASES: readonly Readiness['phase'][] = [
  'Ending',
  'StatusMissing',
  'RollingOut',
  'Unavailable',
  'NotReady',
  'Ready',
];

/**
 * Returns the least ready workload, which represents its component: a missing one, then one that differs from the spec, then by phase. The first of
 * equal ones. Undefined without workloads.
 */
export function worstOf<T extends Workload>(workloads: readonly T[]): T | undefined {
  return workloads.toSorted((a, b) => rankOf(a) - rankOf(b))[0];
}

function rankOf({ live, isCurrent }: Workload): number {
  if (live === undefined) return -2;
  return isCurrent ? PHASES.indexOf(readinessOf(live).phase) : -1;
}

/** Returns the pods of all workloads. Undefined if the number for one is unknown: the sum would be wrong. */
export function podsOfAll(
  workloads: readonly Pick<Workload, 'live'>[],
): { readonly desired: number; readonly available: number } | undefined {
  const sum = { desired: 0, available: 0 };
  for (const { live } of workloads) {
    const { desired, available }: Partial<Readiness> = live === undefined ? {} : readinessOf(live);
    if (desired === undefined || available === undefined) return undefined;
    sum.desired += desired;
    sum.available += available;
  }
  return sum;
}

/** Returns whether the status of a workload shows unavailable pods. */
export function isOpen(live: KubeObject): boolean {
  return ['RollingOut', 'Unavailable'].includes(readinessOf(live).phase);
}

/** Returns the number of pods that keep their old template after a change. @param desired all pods */
function keptOf(live: KubeObject, desired: number): number {
  const { type, rollingUpdate } = (live as V1StatefulSet).spec?.updateStrategy ?? {};
  return type === 'OnDelete' ? desired : Math.min(rollingUpdate?.partition ?? 0, desired);
}

function countsOf(live: KubeObject): Counts {
  if (live.kind === 'DaemonSet') {
    const { status } = live as V1DaemonSet;
    const { desiredNumberScheduled = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = status ?? {};
    return {
      ...{ desired: desiredNumberScheduled, updated: updatedNumberScheduled, available: numberAvailable },
      total: updatedNumberScheduled,
    };
  }
  const { spec, status } = live as V1Deployment | V1StatefulSet;
  const { updatedReplicas = 0, availableReplicas = 0, replicas = 0 } = status ?? {};
  return { desired: spec?.replicas ?? 1, updated: updatedReplicas, available: availableReplicas, total: replicas };
}

/** An object that may run pods. A TrafficWeight has no template. */
type PodOwner = KubeObject & { readonly spec?: Partial<V1DeploymentSpec> };

/** Describes an object whose status is current. */
export function figuresText(workload: ObservedObject): string {
  const { live } = workload;
  const { condition, desired = 0, available = 0, updated }: Partial<Readiness> = live ? readinessOf(live) : {};
  if (condition !== undefined) return `${idOf(workload)}: ${condition.message}`;
  const isNowhere = desired === 0 && workload.resource.kind === 'DaemonSet';
  // Enough are available: without this, the message would not say why it is not ready.
  const ofUpdate = updated === undefined || available < desired ? '' : `, ${updated.pods} of ${updated.of} updated`;
  const why = isNowhere ? ': no node is selected' : ofUpdate;
  return `${idOf(workload)}: ${available} of ${desired} pods are available${why}`;
}

/** Returns the numbers of pods. Empty without a workload. */
export function figuresOf({ objects }: ObservedComponent): Partial<ComponentStatus> {
  const workloads = workloadsOf(objects);
  const pods = workloads.length === 0 ? undefined : podsOfAll(workloads);
  return pods === undefined ? {} : { replicas: pods.desired, readyReplicas: pods.available };
}

/** Returns the image of the first container: the requested one, or with the mode External the running one. */
export function versionOf(
  { objects }: ObservedComponent,
  { mode }: Pick<ComponentStatus, 'mode'>,
): Pick<ComponentStatus, 'version'> {
  const { object, live } = workloadsOf(objects).at(-1) ?? {};
  const workload: PodOwner | undefined = mode === 'External' ? live : object;
  const image = workload?.spec?.template?.spec?.containers[0]?.image;
  return image === undefined ? {} : { version: image };
}
