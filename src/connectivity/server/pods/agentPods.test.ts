import type { V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { Scene } from '../evaluation/testing/scene.ts';
import { toAgentPod } from './agentPod.ts';
import { expectedPods, namespacesOfName } from './agentPods.ts';

describe('expectedPods', () => {
  it.each([
    ['current', true, undefined, { pods: ['agent-n1', 'agent-n2', 'agent-n3'] }],
    ['not read yet', false, undefined, { problem: 'the pods of the agents are not read yet' }],
    ['refused from the start', false, { detail: 'pods is forbidden' }, { problem: 'pods is forbidden' }],
    ['refused later, so that it is stale', true, { detail: 'pods is forbidden' }, { problem: 'pods is forbidden' }],
  ])('with a cache that is %s', (_, synced, refusal, expected) => {
    const { pods } = new Scene();
    Object.assign(pods, { synced, refusal });
    expect(expectedPods(pods.asInformer())).toEqual(expected);
  });
});

describe('namespacesOfName', () => {
  it('has the namespaces of agents of the name, without pods that end or may not report', () => {
    const scene = new Scene();
    const pod = scene.pod('n1');
    const inNamespace = (namespace: string): V1Pod => ({ ...pod, metadata: { ...pod.metadata, namespace } });
    const ending = inNamespace('ending');
    ending.metadata!.deletionTimestamp = new Date();
    scene.pods.objects = [
      toAgentPod(pod),
      toAgentPod(inNamespace('other')),
      toAgentPod(inNamespace('tenant'), ['agents/netchecker-agent']),
      toAgentPod(ending),
    ];
    expect(namespacesOfName(scene.pods.asInformer(), 'agent-n1')).toEqual(['agents', 'other']);
    expect(namespacesOfName(scene.pods.asInformer(), 'agent-n2')).toEqual([]);
  });
});
