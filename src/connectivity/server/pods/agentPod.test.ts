import type { V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { preferred, toAgentPod, type AgentPod } from './agentPod.ts';

const POD: V1Pod = {
  metadata: { name: 'a', namespace: 'agents', creationTimestamp: new Date(1_000) },
  spec: { nodeName: 'n1', serviceAccountName: 'agent', containers: [] },
  status: { phase: 'Running' },
};

describe('the ServiceAccount of a pod', () => {
  it.each([
    ['no list', [], true],
    ['its account', ['agents/agent'], true],
    ['one of several', ['other/agent', 'agents/agent'], true],
    ['the same name in another namespace', ['other/agent'], false],
    ['another one', ['agents/other'], false],
  ])('with %s', (_, accounts, isListed) => {
    expect(toAgentPod(POD, accounts)).toMatchObject({ isListed, mustReport: isListed });
  });
});

describe('preferred', () => {
  const agent = (name: string, startedAt: number, phase: AgentPod['phase'] = 'Running'): AgentPod => ({
    ...toAgentPod(POD),
    ...{ name, startedAt, phase },
  });
  const [early, late] = [agent('early', 1), agent('late', 2)];

  it.each([
    ['of two that do not report, the later: it replaces the other', early, late, [], 'late'],
    ['of two that report, the earlier: a false agent does not take its place', early, late, ['early', 'late'], 'early'],
    ['the one that reports', early, late, ['early'], 'early'],
    ['the one that reports, if it is the later', early, late, ['late'], 'late'],
    ['the one that runs, whatever was reported', agent('early', 1, 'Gone'), late, ['early'], 'late'],
  ])('%s', (_, one, other, reporting, name) => {
    const reports = (pod: AgentPod): boolean => reporting.includes(pod.name);
    expect([preferred(one, other, reports).name, preferred(other, one, reports).name]).toEqual([name, name]);
  });
});
