import type { ConnectivityCheckStatus, StatusFinding } from '../../../api/connectivitycheck/connectivityCheck.ts';
import type { Finding } from '../../../api/connectivitycheck/finding.ts';
import type { ServerFailure } from '../observe/observation.ts';
import type { Known } from './known.ts';
import { isSameFault } from './subjects.ts';

/** The present findings. */
export interface Findings {
  /** With the Server first, then as the server sorts them. */
  readonly list: readonly StatusFinding[];
  /** Findings beyond the limit of an evaluation. */
  readonly omitted: number;
}

/** How long a new server may take to answer, ms. */
export const STARTING_MS = 60_000;

/** The finding that the server does not answer. */
export function serverFinding({ message }: ServerFailure): Finding {
  return {
    class: 'Server',
    subjects: ['server'],
    severity: 'Failed',
    message: `The connectivity server does not answer: ${message}. The other findings are as it last knew them.`,
    evidence: { affectedPairs: 0, observedPairs: 0, pairs: [] },
  };
}

/**
 * The present findings by the table of `Known`. A finding keeps its `since` from the status, where it is known by class
 * and subjects; otherwise it is there since now. What an evaluation has is shown at once, and what it lacks is gone at
 * once: the server already decides by current reports.
 *
 * A server that never evaluated the check may just have been deployed, with its image to be pulled: it is no finding
 * until it has not answered for STARTING_MS.
 *
 * @param now RFC 3339
 */
export function findingsOf(known: Known, before: ConnectivityCheckStatus, now: string): Findings {
  const was = before.findings ?? [];
  const omitted = before.omittedFindings ?? 0;
  const ofNetwork = was.filter((finding) => finding.class !== 'Server');
  const since = (finding: Finding): StatusFinding => ({ ...finding, since: sinceOf(finding, before) ?? now });
  switch (known.kind) {
    case 'Evaluated':
      return { list: known.evaluation.findings.map(since), omitted: known.evaluation.omittedFindings };
    case 'ServerDown':
      if (before.observedGeneration === undefined && known.failure.ageMs < STARTING_MS) return { list: was, omitted };
      return { list: [since(serverFinding(known.failure)), ...ofNetwork], omitted };
    case 'NotEvaluated':
      return { list: ofNetwork, omitted };
    case 'NotAsked':
      return { list: was, omitted };
  }
}

/** An outage still knows a finding that had no place in the list for a while. */
function sinceOf(finding: Finding, { findings = [], outages = [] }: ConnectivityCheckStatus): string | undefined {
  const listed = findings.find((other) => isSameFault(finding, other));
  return listed?.since ?? outages.find((outage) => outage.end === undefined && isSameFault(finding, outage))?.start;
}
