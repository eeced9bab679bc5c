import type { V1Node } from '@kubernetes/client-node';
import type { Exclusion } from '../../../api/connectivitycheck/terms.ts';
import { virtualMark } from '../../../nodes/virtualNodes.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';

/** The data that the server keeps of a Node. Times are ms since 1970, by the clocks of API servers and of kubelets: see `Ages`. */
export interface ClusterNode extends KubeObject {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly zone?: string;
  readonly createdAt: number;
  /** When the condition Ready became True; absent while it is not. */
  readonly readySince?: number;
  /** The condition Ready is Unknown: the kubelet does not report. */
  readonly isSilent?: boolean;
  readonly isCordoned: boolean;
  /** Being deleted, or about to: an autoscaler or an operator says so. */
  readonly isLeaving: boolean;
  /** Has no host, such as a node of EKS Fargate or KWOK. */
  readonly isVirtual?: true;
}

const ZONE_LABEL = 'topology.kubernetes.io/zone';
const OS_LABEL = 'kubernetes.io/os';
/** Taints of nodes that go. The autoscaler sets the first before it drains a node. */
const LEAVING_TAINTS = ['ToBeDeletedByClusterAutoscaler', 'node.kubernetes.io/out-of-service'];

/** Keeps what the server reads: a few hundred bytes. */
export function toClusterNode(whole: V1Node): ClusterNode {
  const { metadata = {}, spec, status } = whole;
  const { name = '', resourceVersion, labels = {}, creationTimestamp, deletionTimestamp } = metadata;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const zone = labels[ZONE_LABEL];
  return {
    metadata: { name, ...(resourceVersion !== undefined && { resourceVersion }) },
    name,
    labels,
    ...(zone !== undefined && { zone }),
    createdAt: timeOf(creationTimestamp) ?? 0,
    // A condition without a time is as old as the epoch: the node does not join.
    ...(ready?.status === 'True' && { readySince: timeOf(ready.lastTransitionTime) ?? 0 }),
    ...(ready?.status === 'Unknown' && { isSilent: true }),
    isCordoned: spec?.unschedulable === true,
    isLeaving: deletionTimestamp !== undefined || (spec?.taints ?? []).some(({ key }) => LEAVING_TAINTS.includes(key)),
    ...(virtualMark(whole) !== undefined && { isVirtual: true }),
  };
}

/** Whether a node has agents. They run only on Linux, and not on virtual nodes. A node without the label counts as Linux. */
export function hasAgents({ labels, isVirtual }: Pick<ClusterNode, 'labels' | 'isVirtual'>): boolean {
  return isVirtual !== true && (labels[OS_LABEL] ?? 'linux') === 'linux';
}

/** The API server sends texts; client-node's type says Date. */
function timeOf(time: Date | string | undefined): number | undefined {
  if (time === undefined) return undefined;
  const ms = new Date(time).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}

/** Network plugins need this long after a node is Ready, ms. */
const JOINING_MS = 60_000;

/** The moment for which nodes are judged. */
interface Moment {
  /** Time since the node was created or became Ready, ms, by a clock that does not jump. */
  readonly joinedMs: (node: ClusterNode) => number;
  /** Two intervals, ms: the last reports are that old at most. */
  readonly settlingMs: number;
  /** Time since a cause that a Node shows ended, ms, by a clock that does not jump; undefined if none did. */
  readonly endedMs: (node: string) => number | undefined;
}

/**
 * Decides why nothing is found of a node. The first row that applies counts:
 *
 * | node | exclusion |
 * |---|---|
 * | is being deleted, or has a taint of a node that goes | Leaving |
 * | the condition Ready is Unknown: the kubelet is silent | Unreachable |
 * | the condition Ready is False, or absent | NotReady |
 * | unschedulable | Cordoned |
 * | created, or Ready, for less than 60 s and two intervals | Joining |
 * | was Leaving, Unreachable, NotReady or Cordoned within two intervals | Joining |
 * | else | none |
 *
 * Why two intervals: the last reports of other agents may still have results of the time before.
 */
export function exclusionOf(node: ClusterNode, { joinedMs, settlingMs, endedMs }: Moment): Exclusion | undefined {
  const shown = shownExclusion(node);
  if (shown !== undefined) return shown;
  if (joinedMs(node) < JOINING_MS + settlingMs) return 'Joining';
  return (endedMs(node.name) ?? Infinity) < settlingMs ? 'Joining' : undefined;
}

/** The part of the decision that a Node itself shows. */
export function shownExclusion(node: ClusterNode): Exclusion | undefined {
  if (node.isLeaving) return 'Leaving';
  if (node.readySince === undefined) return node.isSilent === true ? 'Unreachable' : 'NotReady';
  return node.isCordoned ? 'Cordoned' : undefined;
}
