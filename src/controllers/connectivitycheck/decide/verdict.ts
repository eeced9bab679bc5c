import type { ConnectivityVerdict } from '../../../api/connectivitycheck/terms.ts';
import type { Severity } from '../../../api/connectivitycheck/finding.ts';

/** The input of a verdict. */
export interface VerdictInput {
  /** There was an evaluation of this generation of the spec, and it is not old. */
  readonly isEvaluated: boolean;
  readonly findings: readonly { readonly severity: Severity }[];
  /** Number of agents of the checked nodes; undefined if not known. */
  readonly agents?: number | undefined;
  /** Number of these agents that report; undefined if not known. */
  readonly reportingAgents?: number | undefined;
}

/**
 * Returns the verdict of a check. The first row that applies counts:
 *
 * | evaluated                           | reporting agents | findings     | verdict  |
 * | ----------------------------------- | ---------------- | ------------ | -------- |
 * | never, no longer, or no server      |                  |              | Unknown  |
 * |                                     | none             |              | Unknown  |
 * |                                     |                  | a Failed one | Failed   |
 * |                                     |                  | others       | Degraded |
 * |                                     | not all          | none         | Unknown  |
 * |                                     | all              | none         | Healthy  |
 *
 * The server leaves nodes that are down, come or go out of the agents that must report. It makes a finding of an agent
 * that is silent for long, so the last Unknown is short. A server that no longer answers is a Failed finding.
 */
export function verdictOf({ isEvaluated, findings, agents, reportingAgents }: VerdictInput): ConnectivityVerdict {
  if (!isEvaluated || agents === undefined || reportingAgents === undefined || reportingAgents === 0) return 'Unknown';
  if (findings.some(({ severity }) => severity === 'Failed')) return 'Failed';
  if (findings.length > 0) return 'Degraded';
  return reportingAgents < agents ? 'Unknown' : 'Healthy';
}
