import type { Plane } from '../../../api/connectivitycheck/terms.ts';
import type { AgentPod } from '../pods/agentPod.ts';
import { agentState, graceMs, type LastReport } from './agentState.ts';

/** The input besides the pods. */
export interface SilenceInput {
  /** Undefined if there is no report of the pod. */
  readonly reportOf: (pod: string) => LastReport | undefined;
  /** Whether nothing is found of a node, because it comes or goes, or is not Ready. */
  readonly isLeftOut: (node: string) => boolean;
  /** The interval of agents without a report, as the user states it, ms. */
  readonly intervalMs: number;
  /** Wall clock, ms. */
  readonly now: number;
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

function isSilent(pod: AgentPod, { reportOf, intervalMs, now, upMs }: SilenceInput): boolean {
  const report = reportOf(pod.name);
  const time = {
    ageMs: now - pod.createdAt,
    runsMs: now - pod.startedAt,
    upMs,
    graceMs: graceMs(report?.intervalMs ?? intervalMs),
  };
  const state = agentState(pod, report, time);
  return state === 'Silent' || state === 'Broken';
}
