import { NO_EVIDENCE } from '../evidence.ts';
import type { Rule } from '../situation.ts';

/**
 * Agents that should run and do not: each is a finding of the class Agent. Nothing is known of their nodes, so that the
 * severity is Degraded. Nodes that are left out have no finding.
 */
export const brokenAgents: Rule = ({ agents }) => {
  const broken = agents.all().filter(({ state }) => state === 'Broken');
  return broken.map(({ pod, node, problem = 'for an unknown reason' }) => {
    const message = `agent ${pod} on ${node} does not run: ${problem}`;
    return { class: 'Agent', subject: pod, severity: 'Degraded', message, evidence: NO_EVIDENCE };
  });
};
