import type { ConnectivityCheckStatus, StatusFinding } from '../../../api/connectivitycheck/connectivityCheck.ts';
import { ConnectivityReason } from '../../../api/connectivitycheck/reasons.ts';
import type { PlannedEvent } from '../../../runtime/status/conditionEvents.ts';
import { findingReason } from './conditions.ts';
import { isSameFault } from './subjects.ts';

/** Events of one reconcile; the rest is summed up in one more. */
export const MOST_EVENTS = 10;

/**
 * The events that report the way from one status to the next.
 *
 * | finding                          | event                                              |
 * | -------------------------------- | -------------------------------------------------- |
 * | new, or its severity changed     | Warning, class and severity: `PodNetworkFailed`    |
 * | gone, and none is left out       | Normal `FindingCleared`, with its duration         |
 * | beyond ten events                | one `MoreFindings` with their number               |
 */
export function eventsOf(before: ConnectivityCheckStatus, after: ConnectivityCheckStatus, now: number): PlannedEvent[] {
  const [was, is] = [before.findings ?? [], after.findings ?? []];
  const appeared = is.filter(
    (finding) => !was.some((other) => isSameFault(finding, other) && finding.severity === other.severity),
  );
  const isComplete = (after.omittedFindings ?? 0) === 0;
  const cleared = isComplete ? was.filter((finding) => !is.some((other) => isSameFault(finding, other))) : [];
  const events = [...appeared.map(appearance), ...cleared.map((finding) => clearing(finding, now))];
  const more = events.length - MOST_EVENTS;
  if (more <= 0) return events;
  const type = appeared.length > 0 ? 'Warning' : 'Normal';
  const note = `${more} more findings appeared or cleared; see the status`;
  return [...events.slice(0, MOST_EVENTS), { type, reason: ConnectivityReason.MoreFindings, note }];
}

function appearance(finding: StatusFinding): PlannedEvent {
  return { type: 'Warning', reason: findingReason(finding), note: finding.message };
}

function clearing({ class: one, subjects, since }: StatusFinding, now: number): PlannedEvent {
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1000));
  const note = `${one} ${subjects.join(', ')} is gone after ${durationText(seconds)}`;
  return { type: 'Normal', reason: ConnectivityReason.FindingCleared, note };
}

/** Such as 35s, 5m10s or 2h5m. */
function durationText(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours > 0) return `${hours}h${minutes}m`;
  return minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds}s`;
}
