import { metaTime } from '../../../../runtime/controller/conditions.ts';
import type { ConnectivityCheckStatus, StatusFinding } from '../../../../api/connectivitycheck/connectivityCheck.ts';
import { SERVER_SUBJECTS, type Finding } from '../../../../api/connectivitycheck/finding.ts';
import type { Observation, ServerFailure } from '../../observe/observation.ts';
import { faultId, isSameFault, type Fault } from './fault.ts';
import type { Known } from '../known.ts';
import { findingsThatLast } from './lasting.ts';
import { continuedOutage, type Findings } from './outages.ts';

/** Returns the finding that the server does not answer, the only finding that the operator makes and not the server. */
export function serverFinding({ message }: ServerFailure): Finding {
  return {
    class: 'Server',
    subjects: [SERVER_SUBJECTS.answers],
    severity: 'Failed',
    message: `Connectivity server unusable: ${message}. The other findings are from its last evaluation.`,
    evidence: { affectedPairs: 0, observedPairs: 0, pairs: [] },
  };
}

/**
 * Returns the present findings by the table of `Known`. `since` is the start of the outage. A server that has never answered
 * for the check counts as being deployed, and causes no finding.
 *
 * @param now milliseconds since 1970
 */
export function findingsOf(
  known: Known,
  before: ConnectivityCheckStatus,
  { now, sightings }: Pick<Observation, 'now' | 'sightings'>,
): Findings {
  const was = before.findings ?? [];
  const omitted = before.omittedFindings ?? 0;
  const ofServer = was.filter((finding) => !isServerFinding(finding));
  const present = (finding: Finding): StatusFinding => {
    const identified = { ...finding, id: (finding as Fault).id ?? faultId(finding) };
    return { ...identified, since: sinceOf(identified, before, now) ?? metaTime(now) };
  };
  switch (known.kind) {
    case 'Evaluated': {
      const { list, omitted: beyond } = findingsThatLast(known.evaluation, was, sightings);
      return { list: list.map(present), omitted: beyond };
    }
    case 'ServerDown': {
      const hasAnswered = before.observedGeneration !== undefined;
      const down = hasAnswered ? [present(serverFinding(known.unreachable))] : [];
      return { list: [...down, ...ofServer], omitted };
    }
    case 'NotEvaluated':
      return { list: ofServer, omitted };
    case 'NotAsked':
    case 'Unanswered':
      return { list: was, omitted };
    case 'NotDeployed':
      return { list: [], omitted: 0 };
  }
}

function isServerFinding({ class: one, subjects }: Finding): boolean {
  return one === 'Server' && subjects.join() === SERVER_SUBJECTS.answers;
}

/** Returns when a finding began. Its outage knows this also if the list had no room for it, or if it was absent for a moment. */
function sinceOf(finding: Finding, { findings = [], outages = [] }: ConnectivityCheckStatus, now: number) {
  const listed = findings.find((other) => isSameFault(finding, other));
  return listed?.since ?? continuedOutage(finding, outages, now)?.start;
}
