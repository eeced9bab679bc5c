import type { ConnectivityCheckStatus, Outage } from '../../../api/connectivitycheck/connectivityCheck.ts';
import { MOST_OUTAGES } from '../../../api/connectivitycheck/statusSchema.ts';
import type { Findings } from './findings.ts';
import { isSameFault } from './subjects.ts';

/** A finding that is back within this time continues its outage, so that one that flaps does not fill the list: ms. */
export const CONTINUES_WITHIN_MS = 60_000;

/**
 * The outages, newest first.
 *
 * | finding                                       | its outage                          |
 * | --------------------------------------------- | ----------------------------------- |
 * | is there, and has an open outage              | stays                               |
 * | is there, and its outage ended within 60 s    | is open again, from its first start |
 * | is there otherwise                            | begins now                          |
 * | is gone                                       | ends now                            |
 * | is not listed, while the list leaves some out | stays open                          |
 *
 * @param now milliseconds since 1970
 */
export function outagesOf(findings: Findings, before: ConnectivityCheckStatus, now: number): Outage[] {
  const time = timestamp(now);
  const was = before.outages ?? [];
  const taken = new Set<Outage>();
  const begun: Outage[] = [];
  for (const finding of findings.list) {
    const outage = was.find((one) => !taken.has(one) && isSameFault(finding, one) && continues(one, now));
    if (outage) taken.add(outage);
    else begun.push({ class: finding.class, subjects: finding.subjects, start: finding.since });
  }
  const kept = was.map((outage): Outage => {
    if (taken.has(outage)) return { class: outage.class, subjects: outage.subjects, start: outage.start };
    return outage.end === undefined && findings.omitted === 0 ? { ...outage, end: time } : outage;
  });
  return [...begun, ...kept].slice(0, MOST_OUTAGES);
}

function continues({ end }: Outage, now: number): boolean {
  return end === undefined || now - Date.parse(end) < CONTINUES_WITHIN_MS;
}

/** RFC 3339 in whole seconds, as Kubernetes writes times. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
