import type { Finding } from '../../api/connectivitycheck/finding.ts';
import type { Exclusion } from '../../api/connectivitycheck/terms.ts';
import type { RefusedUrl } from './measurement.ts';

/** Path of the evaluations: GET, answers with Evaluations as JSON. */
export const EVALUATIONS_PATH = '/api/v1/evaluations';

/** What the server counts for one ConnectivityCheck. A pair is ordered: from one node to another, on one plane. */
export interface EvaluationCounts {
  /** Nodes that the check selects, and those of them that are left out. */
  readonly nodes: number;
  readonly excludedNodes: number;
  /**
   * Agents that report, and those of nodes that are not left out that should: silent and broken ones. And those of them
   * with a current report.
   */
  readonly agents: number;
  readonly reportingAgents: number;
  /** Reporting agents that were not authenticated. */
  readonly anonymousAgents: number;
  /** Pairs of the last reports, and those of them that failed or lost packets. */
  readonly observedPairs: number;
  readonly affectedPairs: number;
}

/** A URL of a check that agents do not request. */
export interface RefusedUrls extends RefusedUrl {
  /** Agents that refuse it. */
  readonly agents: number;
}

/** What the server finds for one ConnectivityCheck. */
export interface Evaluation {
  /** `metadata.generation` of the check that was evaluated. */
  readonly generation: number;
  /** Failed ones first; at most MOST_FINDINGS. */
  readonly findings: readonly Finding[];
  /** Number of findings beyond MOST_FINDINGS. */
  readonly omittedFindings: number;
  /**
   * The findings if nodes counted whose kubelet is silent, at most MOST_LASTING. A finding that is not in `findings`
   * stays while it is here, and none begins by that. Absent without such nodes.
   */
  readonly lasting?: readonly Finding[] | undefined;
  readonly counts: EvaluationCounts;
  /** URLs of the check that agents refuse. Absent if there are none. */
  readonly refused?: readonly RefusedUrls[] | undefined;
  /** Nodes that are left out, at most MOST_EXCLUDED, sorted by name. */
  readonly excluded: readonly { readonly node: string; readonly reason: Exclusion }[];
}

/** Limits that keep the status of a ConnectivityCheck below 16 KiB. */
export const MOST_FINDINGS = 12;
export const MOST_EXCLUDED = 10;
/** Findings of one evaluation that may stay. Those of a status are few; the limit bounds the answer. */
export const MOST_LASTING = 50;

/** By the name of the ConnectivityCheck. */
export type Evaluations = Readonly<Record<string, Evaluation>>;
