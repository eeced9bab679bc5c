import type { V1Deployment } from '@kubernetes/client-node';
import type { TrafficWatch } from '../../../api/trafficwatch/schema.ts';
import type { NotMeasurable } from '../../../nodes/notMeasurable.ts';
import type { NodeUsage } from '../../../usage/evaluate/percent.ts';
import type { Snapshot } from '../../../usage/evaluate/snapshot.ts';
import type { Problem } from '../../../runtime/process/problem.ts';
import type { Failure } from '../../../runtime/status/failure.ts';

/** What was last written under a label key of a Node; remembered until it has stood for a while. */
export interface LabelWrite {
  readonly value: string;
  /** How often the same value was written again, because somebody had changed it. */
  readonly rewrites: number;
  /** Number of the pass in which it was last written. */
  readonly pass: number;
  /** The field manager that last changed it, where the API server told one. */
  readonly rival?: string;
}

/** What a decision needs to know of a Node; everything else is dropped before the object is cached. */
export interface NodeView {
  readonly name: string;
  /** Labels of the Node whose key ends in the operator's suffix. */
  readonly labels: Readonly<Record<string, string>>;
  /** When it joined, ms since the epoch by the API server's clock. */
  readonly createdAt: number;
  /** What this process wrote there lately, by label key; absent where it wrote nothing. */
  readonly writes?: Readonly<Record<string, LabelWrite>> | undefined;
}

/** A node and its usage in the last passes. */
export interface MeasuredNode {
  readonly node: NodeView;
  /** Its place among the nodes, from 0. */
  readonly place: number;
  /** Newest pass first; undefined where the pass failed or does not know the node. */
  readonly passes: readonly (NodeUsage | undefined)[];
}

/** What follows from the nodes and the passes alone, whatever the TrafficWatch. Each value is computed when it is read first. */
export interface PassFigures {
  /** One for each node, in their order. */
  readonly measured: readonly MeasuredNode[];
  /** Node name -> its place among the nodes, from 0. */
  readonly places: ReadonlyMap<string, number>;
  /** How many passes in a row, from the newest back, have a figure of any node. */
  readonly passesWithData: number;
  /** The nodes of which the newest pass has no figure, in their order. */
  readonly unmeasured: readonly NodeView[];
  /** One text for each node whose capacity fell, sorted by node: 'n1: capacity fell from ...'. */
  readonly capacityDrops: readonly string[];
  /** Names of the nodes that the newest pass measured without a driver of any device, sorted. */
  readonly withoutDrivers: readonly string[];
  /** The nodes with the highest figures, highest first, as many as a long status has places for them. */
  readonly hottest: readonly MeasuredNode[];
}

/** The nodes and the passes as all TrafficWatches see them. */
export interface PassView {
  readonly nodes: readonly NodeView[];
  /** The last passes over Prometheus, newest first; empty before the first one has ended. */
  readonly passes: readonly Snapshot[];
  /** Computed for the view that is read, and kept until another one is read: do not hold on to the result. */
  readonly figures: PassFigures;
}

/** The label keys of a TrafficWatch. */
export interface LabelKeys {
  /** The key that the spec names; undefined where there is no spec to read. */
  readonly spec: string | undefined;
  /** The key that the status names: the one that the labels had until now. */
  readonly inUse: string | undefined;
  /** The key that the status names, where the spec names another: a rename is under way. */
  readonly previous: string | undefined;
  /** `spec` and `previous`, as far as there are any. */
  readonly claimed: readonly string[];
}

/** The use that another live TrafficWatch (one without a deletionTimestamp) makes of a label key. */
export interface Claim {
  readonly uid: string;
  /** namespace/name */
  readonly key: string;
  /** RFC 3339 */
  readonly creationTimestamp: string;
  /** True when its spec names the key; false when only its status still does, in the middle of a rename. */
  readonly bySpec: boolean;
}

/**
 * Everything that a decision about one TrafficWatch may look at, read once at the start of a reconcile. Two equal
 * observations lead to the same plan, and a plan that was carried out leads to an observation that plans nothing.
 */
export interface Observation {
  readonly watch: TrafficWatch;
  readonly keys: LabelKeys;
  /** Label key -> who else claims it, for the keys that this TrafficWatch uses. */
  readonly claims: ReadonlyMap<string, readonly Claim[]>;
  /** The nodes and the passes; shared with the observations of other TrafficWatches. */
  readonly view: PassView;
  /** The Deployment of the TrafficWatch's namespace and name, whoever owns it. */
  readonly deployment: V1Deployment | undefined;
  /** The API server does not tell whether there is one: `deployment` says nothing then. */
  readonly deploymentUnknown?: boolean;
  /** What the API server does not let us read of Deployments; told to the user, no reason to try again sooner. */
  readonly refusals?: readonly Failure[];
  /** By name, the nodes without figures that can have none. */
  readonly notMeasurable: ReadonlyMap<string, NotMeasurable>;
  /** What is in the way of figures, as far as the operator measures by itself; empty when nothing is. */
  readonly measurementProblems: readonly Pick<Problem, 'reason' | 'message'>[];
  /** Set while the installed CRD is older than the operator: the fields that it lacks, and what to do, for people. */
  readonly crdProblem?: string | undefined;
  /** When the feed of passes started, ms since the epoch by our clock. */
  readonly feedStartedAt: number;
  /** ms since the epoch by our clock. */
  readonly now: number;
}
