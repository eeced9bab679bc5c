import type { V1Deployment } from '@kubernetes/client-node';
import type { LabelSelector } from '../../../api/labelSelector.ts';
import type { PodPlacementEntry } from '../../../api/podplacement/schema.ts';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { CachedNode } from '../../../nodes/cachedNode.ts';
import type { NotMeasurable } from '../../../nodes/notMeasurable.ts';
import type { CapacitySource, NodeUsage } from '../../../usage/evaluate/percent.ts';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import type { Problem, Failure } from '../../../runtime/process/problem.ts';
import type { LabelKeys, Claim } from '../model/labelKeys.ts';

/** Why a TrafficWatch is beyond the limits, and what to do, for users. */
export interface LimitProblem {
  readonly reason: 'TooManyTrafficWatches' | 'TooManyReadings';
  readonly message: string;
}

/** The last write of a label of a Node. Kept until nobody has changed the label for a while. */
export interface LabelWrite {
  readonly value: string;
  /** How often the same value was written again, because another client had changed it. */
  readonly rewrites: number;
  /** Number of the pass in which it was last written. */
  readonly pass: number;
  /** The field manager that last changed the label, if known. */
  readonly rival?: string;
}

/** The parts of a Node that a decision uses. */
export interface NodeView extends Partial<
  Pick<CachedNode, 'otherLabels' | 'hostname' | 'ownedKeys' | 'otherOwners' | 'writtenAt'>
> {
  readonly name: string;
  /** Labels of the Node whose key ends in the operator's suffix. */
  readonly labels: Readonly<Record<string, string>>;
  /** The creation time of the Node, ms since the epoch by the API server's clock. */
  readonly createdAt: number;
  /** The recent label writes of this process to the Node, by label key. Absent if there are none. */
  readonly writes?: Readonly<Record<string, LabelWrite>> | undefined;
}

/** A node and its usage in the last passes. */
export interface MeasuredNode {
  readonly node: NodeView;
  /** Its index in the list of nodes. */
  readonly place: number;
  /** Newest pass first; undefined if the pass failed or has no series of the node. */
  readonly passes: readonly (NodeUsage | undefined)[];
}

/** Figures that are the same for all TrafficWatches with the same reading and selector. Each is computed on first read. */
export interface PassFigures {
  /** One entry for each node, in the order of the nodes. */
  readonly measured: readonly MeasuredNode[];
  /** Node name -> its index in the list of nodes. */
  readonly places: ReadonlyMap<string, number>;
  /** How many passes in a row, from the newest back, have a figure for any selected node. */
  readonly passesWithData: number;
  /** The nodes for which the newest pass has no figure, in the order of the nodes. */
  readonly unmeasured: readonly NodeView[];
  /** One text for each node whose capacity fell, sorted by node: 'n1: capacity fell from ...'. */
  readonly capacityDrops: readonly string[];
  /** How many nodes the newest pass measured by each source of their capacity. Without the sources of no node. */
  readonly capacitySources: ReadonlyMap<CapacitySource, number>;
  /** Names of the nodes that the newest pass measured without a driver of any device, sorted. */
  readonly withoutDrivers: readonly string[];
  /** Names of the nodes that have a figure although their samples are late (Snapshot.lateNodes), sorted. */
  readonly late: readonly string[];
  /** The nodes with the highest percent, highest first: as many as the status of a large cluster reserves for them. */
  readonly hottest: readonly MeasuredNode[];
}

/** The nodes and the passes, shared by the observations of all TrafficWatches with the same reading and selector. */
export interface PassView {
  /** The nodes that the selector of the TrafficWatch selects; all nodes without a selector. */
  readonly nodes: readonly NodeView[];
  /** The nodes that the selector leaves out. They have no verdict. */
  readonly outside: readonly NodeView[];
  /**
   * The last passes over Prometheus, newest first, as the reading of the TrafficWatch shows them; empty before the first
   * one has ended.
   */
  readonly passes: readonly Snapshot[];
  /** Cached only until the figures of another view are read. Do not keep a reference to the result. */
  readonly figures: PassFigures;
}

/** The pods of the workload that `spec.targetRef` names, or why they are not known. */
export type Target =
  | { readonly selector: LabelSelector }
  | {
      readonly selector?: undefined;
      /** The pods that the target will have when it exists, if its kind tells. */
      readonly expected?: LabelSelector;
      readonly reason: 'TargetNotFound' | 'TargetKindUnknown' | 'TargetWithoutPods' | 'TargetUnreadable';
      /** A sentence for users: what is wrong, and what to do. */
      readonly message: string;
    };

/** Whether the admission policy, or else the webhook, that adds the node affinity to pods is there, and if not, why. */
export interface PolicyState {
  readonly reason:
    | ('PolicyInstalled' | 'PolicyNotServed' | 'PolicyMissing' | 'PolicyUnreadable')
    | ('WebhookInstalled' | 'WebhookNotReady' | 'PlacementPending');
  /** The problem and its solution, for users; '' if pods get the affinity. */
  readonly message: string;
  /** Set if the policy is older than the operator: it reads TrafficWatches and no PodPlacement. */
  readonly isOutdated?: boolean;
}

/** A pod for which the scheduler found no node, and for which a node did not match the pod's affinity or selector. */
export interface WaitingPod {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The label keys by which the pod requires that its node is not unfit. Never empty. */
  readonly keys: readonly string[];
  /** Since when the scheduler finds no node: ms since the epoch by the API server's clock. */
  readonly since: number;
}

/** The waiting pods of a namespace. No field is set while they are not read yet. */
export interface WaitingPodsRead {
  readonly pods?: readonly WaitingPod[] | undefined;
  /** Set if more pods wait, of which nothing else is known, since the pods of the namespace take too much memory. */
  readonly isPartial?: true;
  /** The message of the API server if it refuses to list or watch pods. */
  readonly refusal?: string | undefined;
}

/** The entry of the TrafficWatch in the PodPlacement of the namespace, from which the admission policy takes its terms. */
export interface Placed {
  /** The entry that the API server has; undefined if there is none. */
  readonly entry: PodPlacementEntry | undefined;
  /** True if the PodPlacement has no room for the entry. */
  readonly isOmitted?: boolean;
  /** Why the PodPlacement cannot be written or read. */
  readonly problem?: Failure | undefined;
}

/** The known facts about a workload that the operator does not own. */
export interface ForeignWorkload {
  /** Undefined with `spec.podSelector`. */
  readonly target: Target | undefined;
  /** The admission policy that adds the node affinity to its pods. */
  readonly policy: PolicyState;
  /** The entry from which that policy works. */
  readonly placed: Placed;
}

/**
 * Everything that the decision about one TrafficWatch uses, read once at the start of a reconcile. Equal observations
 * lead to equal plans. After a plan is applied, the next observation leads to a plan without writes.
 */
export interface Observation {
  readonly watch: TrafficWatch;
  readonly keys: LabelKeys;
  /** Label key -> claims of other TrafficWatches, for the keys that this TrafficWatch claims. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
  /** The nodes and the passes; shared with the observations of other TrafficWatches with the same reading and selector. */
  readonly view: PassView;
  /** The Deployment of the TrafficWatch's namespace and name, whoever owns it. */
  readonly deployment: V1Deployment | undefined;
  /** True if the Deployment may not be read. `deployment` is undefined then, even if the Deployment exists. */
  readonly deploymentUnknown?: boolean;
  /** A message for users if the operator may not write the Deployment: what to do. `deployment` is undefined then. */
  readonly deploymentProblem?: string | undefined;
  /** Missing rights to read Deployments. The status reports them; they cause no retry. */
  readonly refusals?: readonly Failure[];
  /** Undefined with `spec.deployment`. */
  readonly workload?: ForeignWorkload | undefined;
  /** The waiting pods of its namespace. Undefined while no node is unfit for a required affinity: they are not read. */
  readonly waitingPods?: WaitingPodsRead | undefined;
  /** The nodes that cannot be measured, by name. */
  readonly notMeasurable: ReadonlyMap<string, NotMeasurable>;
  /**
   * Node name -> label key -> when the label changed: ms since the epoch by the API server's clock. Only labels that
   * changed earlier than `writtenAt` of their node. Absent if no TrafficWatch needs it.
   */
  readonly labelTimes?: ReadonlyMap<string, Readonly<Record<string, number>>>;
  /**
   * Node name -> since when it has no figure for the reading of the TrafficWatch: ms since the epoch by our clock. Empty if
   * no TrafficWatch of that reading needs it. Time in which passes fail, or the node cannot be measured, does not count.
   */
  readonly missingSince?: ReadonlyMap<string, number>;
  /** True while the rate window is only partly filled after an outage of the measurement. */
  readonly isWindowFilling?: boolean;
  /** Problems of the measurement that the operator deploys. Empty if there are none. */
  readonly measurementProblems: readonly Pick<Problem, 'reason' | 'message'>[];
  /** A message for users while the installed CRD is older than the operator: the missing fields and what to do. */
  readonly crdProblem?: string | undefined;
  /** Set if the TrafficWatch is beyond the limits. The message for users says which limit, and what to do. */
  readonly limitProblem?: LimitProblem | undefined;
  /** A message for users if the API server has dropped fields of the spec: which fields, and what to do. */
  readonly specProblem?: string | undefined;
  /** When the feed of passes started, ms since the epoch by our clock. */
  readonly feedStartedAt: number;
  /** ms since the epoch by our clock. */
  readonly now: number;
}
