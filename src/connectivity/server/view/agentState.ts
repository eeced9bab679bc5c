import type { AgentView } from '../../localise/view.ts';
import { isOutdated, type ReportAge } from '../api/check.ts';
import type { AgentPod } from '../pods/agentPod.ts';

/** The last report of an agent to this process. */
export interface LastReport extends ReportAge {
  /** It came from the store, which an earlier process wrote: the agent has not reported to this one. */
  readonly isRestored: boolean;
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
 * | Running | none, restored or older, and its container, or the server, started within the grace | Starting |
 * | Running | else | Silent |
 */
export function agentState(
  pod: Pick<AgentPod, 'phase'>,
  report: LastReport | undefined,
  time: { readonly runsMs: number; readonly graceMs: number },
): AgentView['state'] {
  if (pod.phase === 'Gone') return 'Absent';
  if (pod.phase === 'Waiting') return time.runsMs <= LONGEST_WAIT_MS ? 'Starting' : 'Absent';
  if (report !== undefined && !report.isRestored && !isOutdated(report)) return 'Reporting';
  return time.runsMs < time.graceMs ? 'Starting' : 'Silent';
}
