import type { Localisation } from '../../localise/localise.ts';
import { checkedNodes, type AgentView, type ClusterView } from '../../localise/view.ts';
import type { EvaluationCounts } from '../../protocol/evaluation.ts';

/**
 * Counts what one check sees.
 *
 * | agent | on a node that is checked | on a node that is left out |
 * |---|---|---|
 * | Reporting | counts | counts: all nodes of a new cluster are joining, and their agents do report |
 * | Silent, Broken | counts | does not: a node that is down or comes up would look like missing agents |
 * | else | does not | does not |
 *
 * @param isAuthenticated whether the report of an agent was
 */
export function countsOf(
  { nodes, agents }: Pick<ClusterView, 'nodes' | 'agents'>,
  { observedPairs, affectedPairs }: Pick<Localisation, 'observedPairs' | 'affectedPairs'>,
  isAuthenticated: (agent: AgentView) => boolean,
): EvaluationCounts {
  const checked = checkedNodes({ nodes });
  const reporting = agents.filter(({ state }) => state === 'Reporting');
  const missing = agents.filter(({ node, state }) => checked.has(node) && (state === 'Silent' || state === 'Broken'));
  return {
    nodes: nodes.length,
    excludedNodes: nodes.length - checked.size,
    agents: reporting.length + missing.length,
    reportingAgents: reporting.length,
    anonymousAgents: reporting.filter((agent) => !isAuthenticated(agent)).length,
    observedPairs,
    affectedPairs,
  };
}
