import type { Exclusion } from '../../../api/connectivitycheck/terms.ts';
import type { ClusterNode } from './clusterNode.ts';

/** Network plugins need this long after a node is Ready, ms. */
const JOINING_MS = 60_000;

/** The moment for which nodes are judged. */
export interface Moment {
  /** Wall clock, ms. It is compared only with times of the API server. */
  readonly now: number;
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
export function exclusionOf(node: ClusterNode, { now, settlingMs, endedMs }: Moment): Exclusion | undefined {
  const shown = shownExclusion(node);
  if (shown !== undefined) return shown;
  const since = Math.max(node.createdAt, node.readySince ?? 0);
  if (now - since < JOINING_MS + settlingMs) return 'Joining';
  return (endedMs(node.name) ?? Infinity) < settlingMs ? 'Joining' : undefined;
}

/** The part of the decision that a Node itself shows. */
export function shownExclusion(node: ClusterNode): Exclusion | undefined {
  if (node.isLeaving) return 'Leaving';
  if (node.readySince === undefined) return node.isSilent === true ? 'Unreachable' : 'NotReady';
  return node.isCordoned ? 'Cordoned' : undefined;
}
