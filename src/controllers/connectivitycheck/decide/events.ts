import type { ConnectivityCheckStatus, StatusFinding } from '../../../api/connectivitycheck/connectivityCheck.ts';
import { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import type { PlannedEvent } from '../../../runtime/controller/conditions.ts';
import { findingReason } from './conditions.ts';
import { isSameFault } from './findings/fault.ts';
import { namesIn } from './subjects.ts';

/** The most events of one reconcile, before an event that counts the rest. */
export const MOST_EVENTS = 10;

/**
 * Returns the events that report the changes from one status to the next. Their notes have no measured values, so that
 * Kubernetes counts a repeated event in the existing one.
 *
 * | finding                           | event                                                                |
 * | --------------------------------- | -------------------------------------------------------------------- |
 * | new, or its severity changed      | Warning, class and severity: `PodNetworkFailed`                      |
 * | cleared, and the list is complete | Normal `FindingCleared`, with the reason if its node is not checked  |
 * | beyond ten events                 | one `MoreFindings` with their number                                 |
 */
export function eventsOf(before: ConnectivityCheckStatus, after: ConnectivityCheckStatus): PlannedEvent[] {
  const [was, is] = [before.findings ?? [], after.findings ?? []];
  const appeared = is.filter(
    (finding) => !was.some((other) => isSameFault(finding, other) && finding.severity === other.severity),
  );
  const isComplete = (after.omittedFindings ?? 0) === 0;
  const cleared = isComplete ? was.filter((finding) => !is.some((other) => isSameFault(finding, other))) : [];
  const events = [...appeared.map(appearance), ...cleared.map((finding) => clearing(finding, after))];
  const more = events.length - MOST_EVENTS;
  if (more <= 0) return events;
  const type = appeared.length > 0 ? 'Warning' : 'Normal';
  const note = `${more} more findings appeared or cleared; see the status`;
  return [...events.slice(0, MOST_EVENTS), { type, reason: ConnectivityReason.MoreFindings, note }];
}

function appearance(finding: StatusFinding): PlannedEvent {
  const { class: one, subjects, severity } = finding;
  const note = `${one} ${subjects.join(', ')} is ${severity}; status.findings has what was measured`;
  return { type: 'Warning', reason: findingReason(finding), note };
}

function clearing(finding: StatusFinding, after: ConnectivityCheckStatus): PlannedEvent {
  const note = clearedNote(finding, after);
  return { type: 'Normal', reason: ConnectivityReason.FindingCleared, note };
}

/** Returns the note of a cleared finding. It does not say that the problem ended if the subject is no longer checked. */
function clearedNote(
  { class: one, subjects }: StatusFinding,
  { conditions = [], excluded = [] }: ConnectivityCheckStatus,
): string {
  const name = `${one} ${subjects.join(', ')}`;
  if (conditions.some(({ reason }) => reason === ConnectivityReason.NotDeployed)) return `${name} is no longer checked`;
  const names = new Set(subjects.flatMap(namesIn));
  const left = excluded.filter(({ node }) => names.has(node)).map(({ node, reason }) => `${node}: ${reason}`);
  return left.length === 0 ? `Finding cleared: ${name}` : `${name} is no longer checked; left out: ${left.join(', ')}`;
}
