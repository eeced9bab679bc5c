import { metaTime } from '../../../../runtime/controller/conditions.ts';
import type {
  ConnectivityCheckStatus,
  Outage,
  StatusFinding,
} from '../../../../api/connectivitycheck/connectivityCheck.ts';
import { MOST_OUTAGES } from '../../../../api/connectivitycheck/schema.ts';
import type { Finding } from '../../../../api/connectivitycheck/finding.ts';
import { BACK_WITHIN_MS, isSameFault, type Fault } from '../../model/findingHistory.ts';

/** The present findings. */
export interface Findings {
  /** With the Server first, then Failed ones, as the server sorts them. */
  readonly list: readonly StatusFinding[];
  /** Findings beyond the limit of an evaluation. */
  readonly omitted: number;
}

/** A Failed finding that comes back within this time continues its outage, so that a flapping one does not fill the list: ms. */
const CONTINUES_WITHIN_MS = 60_000;

/**
 * Returns the outages, newest first.
 *
 * | finding                                                              | its outage                          |
 * | -------------------------------------------------------------------- | ----------------------------------- |
 * | is present, and has an open outage                                   | continues                           |
 * | is present, and its outage ended within 60 s; Degraded: 10 minutes   | is open again, from its first start |
 * | is present otherwise                                                 | begins now                          |
 * | is cleared                                                           | ends now                            |
 * | is not listed, while the list leaves some out                        | stays open                          |
 *
 * @param now milliseconds since 1970
 */
export function outagesOf(findings: Findings, before: ConnectivityCheckStatus, now: number): Outage[] {
  const time = metaTime(now);
  const was = (before.outages ?? []).map((outage) => notAfter(outage, now));
  const taken = new Set<Outage>();
  const begun: Outage[] = [];
  for (const finding of findings.list) {
    const outage = continuedOutage(finding, was, now);
    if (outage) taken.add(outage);
    else begun.push({ class: finding.class, subjects: finding.subjects, id: finding.id, start: finding.since });
  }
  const kept = was.map((outage): Outage => {
    const { end, ...open } = outage;
    if (taken.has(outage)) return open;
    return end === undefined && findings.omitted === 0 ? { ...outage, end: time } : outage;
  });
  return [...begun, ...kept].slice(0, MOST_OUTAGES);
}

/**
 * Returns an outage with no time in the future: the operator that led before may have a clock that is ahead. A future end would
 * continue the outage until the clock of this operator has reached it.
 */
function notAfter(outage: Outage, now: number): Outage {
  const { start, end } = outage;
  if (!isFuture(start, now) && (end === undefined || !isFuture(end, now))) return outage;
  return { ...outage, start: pastTime(start, now), ...(end !== undefined && { end: pastTime(end, now) }) };
}

function isFuture(time: string, now: number): boolean {
  return Date.parse(time) > now;
}

/** Returns a time of the status, or the present time if it is in the future. */
export function pastTime(time: string, now: number): string {
  return isFuture(time, now) ? metaTime(now) : time;
}

/** The outage that a present finding continues; undefined if it begins one. */
export function continuedOutage(
  finding: Fault & Pick<Finding, 'severity'>,
  outages: readonly Outage[],
  now: number,
): Outage | undefined {
  const withinMs = finding.severity === 'Degraded' ? BACK_WITHIN_MS : CONTINUES_WITHIN_MS;
  return outages.find(
    (outage) => isSameFault(finding, outage) && (outage.end === undefined || now - Date.parse(outage.end) < withinMs),
  );
}
