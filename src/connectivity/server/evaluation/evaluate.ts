import type { CheckSettings } from '../../assign/checkSettings.ts';
import { localise, type Localisation } from '../../localise/localise.ts';
import type { AgentView, ClusterView } from '../../localise/view.ts';
import { MOST_EXCLUDED, MOST_FINDINGS, type Evaluation, type EvaluationCounts } from '../../protocol/evaluation.ts';
import { graceMs } from '../view/agentState.ts';
import { clusterView, type ViewInput } from '../view/clusterView.ts';

/** What was evaluated for one check, and the result. */
export interface CheckResult {
  readonly view: ClusterView;
  readonly evaluation: Evaluation;
  /**
   * The server has just started, and a running agent has not had the time to report to it. A restart mends no network, so
   * nothing must be taken from the findings of the time before.
   */
  readonly isEarly: boolean;
}

/** Evaluates one check. */
export function evaluateCheck(input: ViewInput, check: CheckSettings): CheckResult {
  const view = clusterView(input, check);
  const localisation = localise(view);
  const excluded = view.nodes.flatMap(({ name, excluded: reason }) => (reason ? [{ node: name, reason }] : []));
  excluded.sort((a, b) => (a.node < b.node ? -1 : 1));
  const { findings } = localisation;
  return {
    view,
    isEarly: isEarly(input, view, check.intervalMs),
    evaluation: {
      generation: check.generation,
      findings: findings.slice(0, MOST_FINDINGS),
      omittedFindings: Math.max(0, findings.length - MOST_FINDINGS),
      counts: countsOf(input, view, localisation, excluded.length),
      excluded: excluded.slice(0, MOST_EXCLUDED),
    },
  };
}

function isEarly({ sinceStartMs, roster }: ViewInput, { nodes, agents }: ClusterView, intervalMs: number): boolean {
  if (sinceStartMs >= graceMs(intervalMs)) return false;
  const excluded = excludedNames(nodes);
  return agents.some(
    ({ state, node, plane }) =>
      state === 'Starting' && !excluded.has(node) && roster.agentOf(node, plane)?.phase === 'Running',
  );
}

function excludedNames(nodes: ClusterView['nodes']): ReadonlySet<string> {
  return new Set(nodes.flatMap(({ name, excluded }) => (excluded === undefined ? [] : [name])));
}

/** States of an agent that must report, and does not. */
const MISSING: readonly AgentView['state'][] = ['Silent', 'Broken'];

function countsOf(
  { reportOf }: ViewInput,
  { nodes, agents }: ClusterView,
  { observedPairs, affectedPairs }: Localisation,
  excludedNodes: number,
): EvaluationCounts {
  const reporting = agents.filter(({ state }) => state === 'Reporting');
  const excluded = excludedNames(nodes);
  const missing = agents.filter(({ state, node }) => MISSING.includes(state) && !excluded.has(node));
  return {
    nodes: nodes.length,
    excludedNodes,
    agents: reporting.length + missing.length,
    reportingAgents: reporting.length,
    anonymousAgents: reporting.filter(({ pod }) => reportOf(pod)?.authenticated !== true).length,
    observedPairs,
    affectedPairs,
  };
}
