import type { Finding } from '../../api/connectivitycheck/finding.ts';
import type { Exclusion } from '../../api/connectivitycheck/terms.ts';
import type { RefusedUrl } from './measurement.ts';

/** Path of the evaluations: GET, answers with Evaluations as JSON. */
export const EVALUATIONS_PATH = '/api/v1/evaluations';

/** The counts of one ConnectivityCheck. A pair is ordered: from one node to another, on one plane. */
export interface EvaluationCounts {
  /** Nodes that the check selects. */
  readonly nodes: number;
  /** Selected nodes that are left out. */
  readonly excludedNodes: number;
  /** Agents that report, and silent or broken agents of nodes that are not left out. */
  readonly agents: number;
  /** Agents with a current report. */
  readonly reportingAgents: number;
  /** Reporting agents that were not authenticated. */
  readonly anonymousAgents: number;
  /** Pairs in the last reports. */
  readonly observedPairs: number;
  /** Observed pairs that failed, lost packets, or lose large packets. */
  readonly affectedPairs: number;
}

/** A URL of a check that agents do not request. */
export interface RefusedUrls extends RefusedUrl {
  /** Agents that refuse it. */
  readonly agents: number;
}

/** The server's result for one ConnectivityCheck. */
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
/** The most findings in `lasting` of one evaluation. A status has few findings; the limit bounds the size of the answer. */
export const MOST_LASTING = 50;

/** By the name of the ConnectivityCheck. */
export type Evaluations = Readonly<Record<string, Evaluation>>;
