import type { AgentView } from '../../localise/view.ts';
import type { AgentPod } from '../pods/agentPod.ts';

/** The age of the last report. */
export interface ReportState {
  readonly ageMs: number;
  readonly intervalMs: number;
}

/** Without an assignment, agents report once a minute, and the first time within it. */
const FIRST_REPORT_MS = 60_000;
const SLACK_MS = 5_000;
/** An image takes minutes; a pod that waits for longer does not start. */
const LONGEST_WAIT_MS = 600_000;

/** How long an agent may run without a report, ms. */
export function graceMs(intervalMs: number): number {
  return Math.max(2 * intervalMs, FIRST_REPORT_MS) + SLACK_MS;
}

/**
 * Decides the state of an agent. The first row that applies counts:
 *
 * | pod | last report | state |
 * |---|---|---|
 * | Gone | | Absent |
 * | Waiting for up to 10 minutes | | Starting |
 * | Waiting for longer | | Absent |
 * | Running | within two intervals | Reporting |
 * | Stopped | within two intervals | Absent: a container that is restarted has time to report again |
 * | Running, Stopped | none, and it ran, or the server did, for less than the grace | Starting |
 * | Running, Stopped | older, and its container started within the grace, and within two intervals of the report | Starting |
 * | Running, Stopped | else | Silent |
 *
 * So an agent that crashes again and again stays Silent, also in the moments in which its container runs.
 *
 * @param time.runsMs since the start of the container, or of the server if that is later
 */
export function agentState(
  pod: Pick<AgentPod, 'phase'>,
  report: ReportState | undefined,
  time: { readonly runsMs: number; readonly graceMs: number },
): AgentView['state'] {
  if (pod.phase === 'Gone') return 'Absent';
  if (pod.phase === 'Waiting') return time.runsMs <= LONGEST_WAIT_MS ? 'Starting' : 'Absent';
  if (report !== undefined && report.ageMs <= 2 * report.intervalMs) {
    return pod.phase === 'Running' ? 'Reporting' : 'Absent';
  }
  const wasSilent = report !== undefined && report.ageMs - time.runsMs > 2 * report.intervalMs;
  return time.runsMs < time.graceMs && !wasSilent ? 'Starting' : 'Silent';
}
