import { expect, it } from 'vitest';
import type { AgentView, NodeView } from '../../localise/view.ts';
import { countsOf } from './counts.ts';

const PAIRS = { observedPairs: 12, affectedPairs: 1 };

function agent(node: string, state: AgentView['state'], pod = `pod-${node}`): AgentView {
  return { node, plane: 'Pod', pod, state, peers: [], targets: [], heard: [] };
}

it('counts no missing agent of a node that is left out, and those that report', () => {
  const nodes: NodeView[] = [
    { name: 'n1' },
    { name: 'n2', excluded: 'NotReady' },
    { name: 'n3', excluded: 'Unreachable' },
    { name: 'n4', excluded: 'Joining' },
  ];
  const agents = [agent('n1', 'Reporting'), agent('n2', 'Silent'), agent('n3', 'Silent'), agent('n4', 'Reporting')];
  expect(countsOf({ nodes, agents }, PAIRS, () => true)).toEqual({
    ...{ nodes: 4, excludedNodes: 3, agents: 2, reportingAgents: 2, anonymousAgents: 0 },
    ...PAIRS,
  });
});

it('expects agents that report, are silent or broken, and none that starts or is gone', () => {
  const agents = (['Reporting', 'Silent', 'Broken', 'Starting', 'Absent', 'Reporting'] as const).map((state, n) =>
    agent('n1', state, `pod${n}`),
  );
  const counts = countsOf({ nodes: [{ name: 'n1' }], agents }, PAIRS, ({ pod }) => pod === 'pod0');
  expect(counts).toMatchObject({ agents: 4, reportingAgents: 2, anonymousAgents: 1 });
});
