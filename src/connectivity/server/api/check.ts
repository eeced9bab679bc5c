import type { Missing } from '../../protocol/checkResult.ts';

/** The pods that must report, or why they are not known. */
export type ExpectedPods = { readonly pods: readonly string[] } | { readonly problem: string };

/** The age of an agent's last report, by a clock that does not jump. */
export interface ReportAge {
  readonly ageMs: number;
  readonly intervalMs: number;
}

/** How long agents that have not reported yet count as starting. */
export interface StartGrace {
  /** Time since the start of the server, ms, by a clock that does not jump. */
  readonly sinceStartMs: number;
  /** As the user states it. */
  readonly intervalMs: number;
}

/** The agents that do not report, and those that may not have had the time. */
export interface AgentCheck extends Missing {
  /** Pods without a report, soon after the start of the server. Sorted. */
  readonly awaited: readonly string[];
}

/**
 * Finds the agents that do not report:
 *
 * | pod of an agent | result |
 * |---|---|
 * | without a report, up to two intervals after the start of the server | awaited |
 * | without a report, later | absent |
 * | last report older than two intervals | outdated |
 * | else | reports |
 *
 * Two intervals in both cases: an agent sends one report in each, and a report may fail or take almost an interval. A
 * report that the store has counts as received at the start. The interval of an agent without a report is what the user
 * states, not the longest of the other agents: one of a day would keep all others from being absent.
 *
 * @param pods names of the pods that must report: running and not being deleted
 * @param ageOf undefined if there is no report of the pod
 */
export function checkAgents(
  pods: Iterable<string>,
  ageOf: (pod: string) => ReportAge | undefined,
  { sinceStartMs, intervalMs }: StartGrace,
): AgentCheck {
  const found = { absent: [] as string[], outdated: [] as string[], awaited: [] as string[] };
  const withoutReport = isOutdated({ ageMs: sinceStartMs, intervalMs }) ? found.absent : found.awaited;
  for (const pod of [...pods].sort()) {
    const age = ageOf(pod);
    if (age === undefined) withoutReport.push(pod);
    else if (isOutdated(age)) found.outdated.push(pod);
  }
  return found;
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

/** Reports of pods that are not known to run. */
const MOST_UNKNOWN = 1_000;
/** Reports while the pods are not known: two agents on each of 10,000 nodes, and some more. */
const MOST_AGENTS = 25_000;

/** The data that decides whether a report is kept. */
interface Admission {
  readonly reports: { get(pod: string): unknown; readonly size: number };
  /** Whether the pod is known to run. */
  readonly isExpected: (pod: string) => boolean;
  readonly expected: () => ExpectedPods;
}

/** Decides whether a report is kept. As in the original server, a report for an unknown pod is kept, up to a limit. */
export function mayReport({ reports, isExpected, expected }: Admission, name: string): boolean {
  if (reports.get(name) !== undefined || isExpected(name)) return true;
  // Below this number no pods need to be counted, however many unknown ones report.
  if (reports.size < MOST_UNKNOWN) return true;
  const found = expected();
  return reports.size < ('problem' in found ? MOST_AGENTS : found.pods.length + MOST_UNKNOWN);
}
