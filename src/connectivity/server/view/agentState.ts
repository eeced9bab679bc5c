import type { Plane } from '../../../api/connectivitycheck/terms.ts';
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
/** An image takes minutes; a pod that waits for longer, without a stated problem, does not start. */
const LONGEST_WAIT_MS = 600_000;

/** Returns how long an agent may run without a report, ms. */
export function graceMs(intervalMs: number): number {
  return Math.max(2 * intervalMs, FIRST_REPORT_MS) + SLACK_MS;
}

/**
 * Decides the state of an agent. The first row that applies counts:
 *
 * | pod | last report | state |
 * |---|---|---|
 * | Gone | | Absent |
 * | Waiting for up to 10 minutes; with a stated problem, for up to the grace | | Starting |
 * | Waiting for longer | | Broken |
 * | Running | within two intervals | Reporting |
 * | Stopped | within two intervals | Absent: a container that is restarted has time to report again |
 * | Stopped, and created within the grace | none or older | Starting |
 * | Stopped | else | Broken |
 * | Running | none or older, and it restarts again and again: see isLooping() | Broken |
 * | Running | older, by two intervals when its container started | Silent |
 * | Running | none or older, and its container, or the server, started within the grace | Starting |
 * | Running | else | Silent |
 *
 * A stored report of an earlier process counts as none. An agent that crashes again and again stays Broken, also in the
 * moments in which its container runs.
 */
export function agentState(
  pod: Pick<AgentPod, 'phase' | 'lastRunMs' | 'problem'>,
  report: LastReport | undefined,
  time: AgentTime,
): AgentView['state'] {
  const { ageMs, graceMs: grace } = time;
  const last = report?.isRestored === true ? undefined : report;
  const reports = last !== undefined && !isOutdated(last);
  switch (pod.phase) {
    case 'Gone':
      return 'Absent';
    case 'Waiting':
      return ageMs <= (pod.problem === undefined ? LONGEST_WAIT_MS : grace) ? 'Starting' : 'Broken';
    case 'Stopped':
      if (reports) return 'Absent';
      return ageMs <= grace ? 'Starting' : 'Broken';
    case 'Running':
      if (reports) return 'Reporting';
      if (isLooping(pod, time)) return 'Broken';
      return Math.min(time.runsMs, time.upMs) < grace && !wasSilent(last, time) ? 'Starting' : 'Silent';
  }
}

/** Durations, ms, by a clock that does not jump. */
export interface PodAge {
  /** Since the pod was created. */
  readonly ageMs: number;
  /** Since its container started. */
  readonly runsMs: number;
}

/** Durations, ms, by a clock that does not jump. */
export interface AgentTime extends PodAge {
  /** Since the server started. */
  readonly upMs: number;
  readonly graceMs: number;
}

/** The container has just started, and its last run was too short for a report. It will not report this time either. */
function isLooping({ lastRunMs }: Pick<AgentPod, 'lastRunMs'>, { ageMs, runsMs, graceMs: grace }: AgentTime): boolean {
  return ageMs > grace && runsMs < grace && lastRunMs !== undefined && lastRunMs < grace;
}

/** The agent had not reported for two intervals when its container started. */
function wasSilent(last: LastReport | undefined, { runsMs, upMs }: AgentTime): boolean {
  return last !== undefined && last.ageMs - Math.min(runsMs, upMs) > 2 * last.intervalMs;
}

/** The input besides the pods. */
export interface SilenceInput {
  /** Undefined if there is no report of the pod. */
  readonly reportOf: (pod: string) => LastReport | undefined;
  /** Whether nothing is found of a node, because it comes or goes, or is not Ready. */
  readonly isLeftOut: (node: string) => boolean;
  /** The interval of agents without a report, as the user states it, ms. */
  readonly intervalMs: number;
  readonly ageOf: (pod: AgentPod) => PodAge;
  /** Time since this process started to take reports, by a clock that does not jump, ms. */
  readonly upMs: number;
}

/**
 * Counts the agents that should report and do not, by plane. An agent is silent by its own interval, so the count means
 * the same at any interval: see `agentState`. A pod that was just started, such as in an upgrade of the agents, is not
 * silent, nor is an agent on a node that is left out.
 */
export function countSilent(pods: readonly AgentPod[], o: SilenceInput): Record<Plane, number> {
  const count: Record<Plane, number> = { Pod: 0, Host: 0 };
  for (const pod of pods) if (isSilent(pod, o) && !o.isLeftOut(pod.place)) count[pod.plane]++;
  return count;
}

function isSilent(pod: AgentPod, { reportOf, intervalMs, ageOf, upMs }: SilenceInput): boolean {
  const report = reportOf(pod.name);
  const time = {
    ...ageOf(pod),
    upMs,
    graceMs: graceMs(report?.intervalMs ?? intervalMs),
  };
  const state = agentState(pod, report, time);
  return state === 'Silent' || state === 'Broken';
}
