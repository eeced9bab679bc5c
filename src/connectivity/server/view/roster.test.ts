import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { toAgentPod } from '../pods/agentPod.ts';
import { toClusterNode } from './clusterNode.ts';
import { rosterOf } from './roster.ts';

/** As KWOK shows a pod on its nodes: it runs, and nothing of it ever reports. */
function pod(nodeName: string): V1Pod {
  return {
    metadata: { name: `agent-${nodeName}`, namespace: 'agents', labels: { app: 'netchecker-agent' } },
    spec: { nodeName, containers: [] },
    status: { phase: 'Running', podIPs: [{ ip: '10.0.0.1' }] },
  };
}

it.each<[why: string, Omit<V1Node, 'kind'>, has: boolean]>([
  ['a node', {}, true],
  ['a node of KWOK with its annotation alone', { metadata: { annotations: { 'kwok.x-k8s.io/node': 'fake' } } }, false],
  ['EKS Fargate', { metadata: { labels: { 'eks.amazonaws.com/compute-type': 'fargate' } } }, false],
  ['a taint of Liqo', { spec: { taints: [{ key: 'virtual-node.liqo.io/not-allowed', effect: 'NoExecute' }] } }, false],
  ['Windows', { metadata: { labels: { 'kubernetes.io/os': 'windows' } } }, false],
])('%s %j is checked, and its agent counts: %s', (_why, { metadata, ...rest }, has) => {
  const node = toClusterNode({ metadata: { name: 'a', ...metadata }, ...rest });
  const roster = rosterOf(
    [node],
    ['a', 'b'].map((name) => toAgentPod(pod(name))),
    [],
    () => false,
  );
  expect(roster.nodes.map(({ name }) => name)).toEqual(has ? ['a'] : []);
  // The Node of the other pod is not read yet.
  expect(roster.agents.map(({ place }) => place)).toEqual(has ? ['a', 'b'] : ['b']);
});
