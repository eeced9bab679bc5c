import type { Missing } from '../protocol/checkResult.ts';

/** The age of an agent's last report, by a clock that does not jump. */
export interface ReportAge {
  readonly ageMs: number;
  readonly intervalMs: number;
}

/**
 * Finds the agents that do not report:
 *
 * | pod of an agent | result |
 * |---|---|
 * | without a report | absent |
 * | last report older than two intervals | outdated |
 * | else | reports |
 *
 * @param pods names of the pods that must report: running and not being deleted
 * @param ageOf undefined if there is no report of the pod
 */
export function missingAgents(pods: Iterable<string>, ageOf: (pod: string) => ReportAge | undefined): Missing {
  const absent: string[] = [];
  const outdated: string[] = [];
  for (const pod of [...pods].sort()) {
    const age = ageOf(pod);
    if (age === undefined) absent.push(pod);
    else if (isOutdated(age)) outdated.push(pod);
  }
  return { absent, outdated };
}

/** Whether the last report is older than two intervals. */
export function isOutdated({ ageMs, intervalMs }: ReportAge): boolean {
  return ageMs > 2 * intervalMs;
}

/**
 * How many reports are missing since the last one: none within two intervals, then one for each further interval. The
 * rule of the original server with its CRD store.
 */
export function missedReports({ ageMs, intervalMs }: ReportAge): number {
  return Math.max(0, Math.floor(ageMs / intervalMs) - 1);
}
