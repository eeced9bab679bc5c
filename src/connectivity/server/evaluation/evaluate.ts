import type { CheckSettings } from '../../assign/checkSettings.ts';
import { localise, type Localisation } from '../../localise/localise.ts';
import type { ClusterView } from '../../localise/view.ts';
import { MOST_EXCLUDED, MOST_FINDINGS, type Evaluation, type EvaluationCounts } from '../../protocol/evaluation.ts';
import { clusterView, type ViewInput } from '../view/clusterView.ts';

/** Evaluates one check. */
export function evaluateCheck(input: ViewInput, check: CheckSettings): Evaluation {
  const view = clusterView(input, check);
  const localisation = localise(view);
  const excluded = view.nodes.flatMap(({ name, excluded: reason }) => (reason ? [{ node: name, reason }] : []));
  excluded.sort((a, b) => (a.node < b.node ? -1 : 1));
  const { findings } = localisation;
  return {
    generation: check.generation,
    findings: findings.slice(0, MOST_FINDINGS),
    omittedFindings: Math.max(0, findings.length - MOST_FINDINGS),
    counts: countsOf(input, view, localisation, excluded.length),
    excluded: excluded.slice(0, MOST_EXCLUDED),
  };
}

function countsOf(
  { reportOf }: ViewInput,
  { nodes, agents }: ClusterView,
  { observedPairs, affectedPairs }: Localisation,
  excludedNodes: number,
): EvaluationCounts {
  const reporting = agents.filter(({ state }) => state === 'Reporting');
  return {
    nodes: nodes.length,
    excludedNodes,
    agents: agents.filter(({ state }) => state === 'Reporting' || state === 'Silent').length,
    reportingAgents: reporting.length,
    anonymousAgents: reporting.filter(({ pod }) => reportOf(pod)?.authenticated !== true).length,
    observedPairs,
    affectedPairs,
  };
}
