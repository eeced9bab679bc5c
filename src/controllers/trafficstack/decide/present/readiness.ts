import type { V1DaemonSet, V1Deployment, V1StatefulSet } from '@kubernetes/client-node';
import { WeightCondition } from '../../../../api/trafficweight/reasons.ts';
import { TRAFFIC_WEIGHTS, type TrafficWeight } from '../../../../api/trafficweight/trafficWeight.ts';
import type { KubeObject } from '../../../../runtime/client/resource.ts';
import { findCondition, type Condition } from '../../../../runtime/controller/conditions.ts';
import type { ObservedObject } from '../../observe/observation.ts';

/** How far the pods of a workload are, or a TrafficWeight is. */
export interface Readiness {
  readonly phase:
    /** It is being deleted: it exists until what it controls, or whoever has a finalizer on it, is done. Its status may be an old one. */
    | 'Ending'
    /** Its controller has not reported on this generation of the object. */
    | 'StatusMissing'
    /** Pods of this generation are missing, or pods of an older one are left. */
    | 'RollingOut'
    /** All pods are of this generation, and some are not available. */
    | 'Unavailable'
    /** The condition Ready of a TrafficWeight is not True. */
    | 'NotReady'
    | 'Ready';
  /** The condition Ready of a TrafficWeight. */
  readonly condition?: Pick<Condition, 'reason' | 'message'>;
  /** Pods that there should be; undefined without a status, and for a TrafficWeight. */
  readonly desired?: number;
  readonly available?: number;
  /** Pods of the present template, of all that there are or should be, while that is why it is not ready. */
  readonly updated?: { readonly pods: number; readonly of: number };
  /** Why no pods can be created, if the controller of Kubernetes says so. */
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
 * How far a workload or a TrafficWeight is.
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
 * The rules are those of `kubectl rollout status`.
 *
 * @param isOfOthers whether its pods may be of an older template as far as its own strategy says so: a partition, or OnDelete. In a stack, a
 *   partition that somebody sets would let the next wave begin.
 */
export function readinessOf(live: KubeObject, isOfOthers = false): Readiness {
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
  const kept = isOfOthers ? keptOf(live, desired) : 0;
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

/** From the worst. */
const PHASES: readonly Readiness['phase'][] = [
  'Ending',
  'StatusMissing',
  'RollingOut',
  'Unavailable',
  'NotReady',
  'Ready',
];

/**
 * The workload that is furthest from being ready, which stands for its component: one that does not exist, then one that is not as asked
 * for, then by its phase. Of equal ones the first. Undefined without any.
 */
export function worstOf<T extends Workload>(workloads: readonly T[]): T | undefined {
  return workloads.toSorted((a, b) => rankOf(a) - rankOf(b))[0];
}

function rankOf({ live, isCurrent }: Workload): number {
  if (live === undefined) return -2;
  return isCurrent ? PHASES.indexOf(readinessOf(live).phase) : -1;
}

/** The pods of all workloads. Undefined if those of one are not known: a sum of the others would be wrong. */
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

/** Whether pods of a workload are not available, and its status says so. */
export function isOpen(live: KubeObject): boolean {
  return ['RollingOut', 'Unavailable'].includes(readinessOf(live).phase);
}

/** Pods that stay as they are after a change of their template. @param desired all pods */
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
