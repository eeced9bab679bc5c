import { NO_EVIDENCE, wordOf } from '../evidence.ts';
import type { Rule } from '../situation.ts';

/**
 * Kubelets that do not answer the agent of their own node. Agents report them only if they answered before.
 *
 * | host agent | kubelet | finding |
 * |---|---|---|
 * | Reporting | answers, or was not asked | none |
 * | Reporting | does not answer | Node |
 * | otherwise | | none |
 */
export const kubelets: Rule = ({ agents }) =>
  agents.all().flatMap((agent) => {
    const kubelet = agent.targets.find(({ target, ok }) => target === 'Kubelet' && !ok);
    if (agent.state !== 'Reporting' || agent.recent === true || kubelet === undefined) return [];
    const message = `kubelet of ${agent.node} does not answer on ${kubelet.address} (${wordOf(kubelet.error ?? 'Other')})`;
    return [{ class: 'Node', subject: agent.node, severity: 'Failed', message, evidence: NO_EVIDENCE }];
  });
