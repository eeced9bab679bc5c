import type { Localisation } from '../../localise/localise.ts';
import type { AgentView, ClusterView } from '../../localise/view.ts';
import type { EvaluationCounts } from '../../protocol/evaluation.ts';

/** States of an agent that reports, or should. */
const EXPECTED: readonly AgentView['state'][] = ['Reporting', 'Silent', 'Broken'];

/**
 * Counts what one check sees. The agents of nodes that are left out do not count: a node that is down or comes up would
 * otherwise look like agents that do not report.
 *
 * @param isAuthenticated whether the report of an agent was
 */
export function countsOf(
  { nodes, agents }: Pick<ClusterView, 'nodes' | 'agents'>,
  { observedPairs, affectedPairs }: Pick<Localisation, 'observedPairs' | 'affectedPairs'>,
  isAuthenticated: (agent: AgentView) => boolean,
): EvaluationCounts {
  const checked = new Set(nodes.filter(({ excluded }) => excluded === undefined).map(({ name }) => name));
  const expected = agents.filter(({ node, state }) => checked.has(node) && EXPECTED.includes(state));
  const reporting = expected.filter(({ state }) => state === 'Reporting');
  return {
    nodes: nodes.length,
    excludedNodes: nodes.length - checked.size,
    agents: expected.length,
    reportingAgents: reporting.length,
    anonymousAgents: reporting.filter((agent) => !isAuthenticated(agent)).length,
    observedPairs,
    affectedPairs,
  };
}
