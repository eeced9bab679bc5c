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

describe('the phase of a pod', () => {
  const container = { name: 'agent', image: '', imageID: '', ready: true, restartCount: 0 };
  const [running, waiting] = [{ running: { startedAt: new Date(5_000) } }, { waiting: { reason: 'CrashLoopBackOff' } }];
  it.each([
    ['Pending', { phase: 'Pending' }, 'Waiting'],
    ['running', { phase: 'Running', containerStatuses: [{ ...container, state: running }] }, 'Running'],
    ['of which nothing is said', { phase: 'Running' }, 'Running'],
    ['that crashed', { phase: 'Running', containerStatuses: [{ ...container, state: waiting }] }, 'Down'],
    ['that was evicted', { phase: 'Failed' }, 'Down'],
    ['that has ended', { phase: 'Succeeded' }, 'Gone'],
  ])('%s', (_, status, phase) => {
    expect(toAgentPod({ ...POD, status }).phase).toBe(phase);
    const metadata = { ...POD.metadata, deletionTimestamp: new Date() };
    expect(toAgentPod({ ...POD, metadata, status }).phase).toBe('Gone');
  });
});

describe('the last run of a container', () => {
  it('is that of the container that ended last', () => {
    const container = { name: 'agent', image: '', imageID: '', ready: true, restartCount: 1 };
    const run = (from: number, to: number) => ({
      ...container,
      lastState: { terminated: { exitCode: 1, startedAt: new Date(from), finishedAt: new Date(to) } },
    });
    expect(toAgentPod(POD)).not.toHaveProperty('lastRunMs');
    const status = { phase: 'Running', containerStatuses: [run(1_000, 9_000), run(8_000, 10_000)] };
    expect(toAgentPod({ ...POD, status }).lastRunMs).toBe(2_000);
  });
});

describe('the place of a pod that is not scheduled', () => {
  const withFields = (key: string) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key, operator: 'In', values: ['n7'] }] }],
        },
      },
    },
  });
  it.each([
    ['the node of its DaemonSet', withFields('metadata.name'), 'n7'],
    ['none otherwise', withFields('metadata.other'), ''],
    ['none without an affinity', {}, ''],
  ])('%s', (_, spec, place) => {
    expect(toAgentPod({ ...POD, spec: { containers: [], ...spec } })).toMatchObject({ node: '', place });
  });
});
