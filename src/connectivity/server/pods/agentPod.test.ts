import type { V1Container, V1ContainerState, V1ContainerStatus, V1Pod, V1PodStatus } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { CONNECTIVITY_AGENT_FLAGS } from '../../../commands/connectivityAgent/command.ts';
import { flagName, variableName } from '../../../options/flagTable.ts';
import { agentDaemonSets } from '../../objects/agents.ts';
import { defaultConnectivityOptions, PEER_PORT } from '../../objects/names.ts';
import { peerPortOf, podProblem, preferred, toAgentPod, type AgentPod } from './agentPod.ts';

const CREATED = '2026-01-01T00:00:00Z';
const STARTED = '2026-01-01T00:00:10Z';
const running = (startedAt: string) => ({ name: 'agent', state: { running: { startedAt } } });
const RUNNING = { phase: 'Running', podIPs: [{ ip: '198.18.0.1' }], containerStatuses: [running(STARTED)] };

/** The API server sends texts instead of dates. */
function pod(status: object, changes: Partial<V1Pod> = {}): V1Pod {
  const metadata = {
    name: 'a',
    namespace: 'ns',
    uid: 'u',
    resourceVersion: '7',
    creationTimestamp: CREATED,
  };
  const spec = { nodeName: 'n1', containers: [{ name: 'agent', env: [{ name: 'A', value: 'b' }] }] };
  return { metadata, spec, status: status as V1PodStatus, ...changes } as unknown as V1Pod;
}

const POD: V1Pod = {
  metadata: { name: 'a', namespace: 'agents', creationTimestamp: new Date(1_000) },
  spec: { nodeName: 'n1', serviceAccountName: 'agent', containers: [] },
  status: { phase: 'Running' },
};

describe('toAgentPod', () => {
  it('keeps what the server reads, and nothing else', () => {
    expect(toAgentPod(pod(RUNNING))).toEqual({
      metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '7' },
      name: 'a',
      node: 'n1',
      place: 'n1',
      plane: 'Pod',
      addresses: ['198.18.0.1'],
      peerPort: 8_082,
      phase: 'Running',
      createdAt: Date.parse(CREATED),
      startedAt: Date.parse(STARTED),
      mustReport: true,
      isListed: true,
    });
  });

  it.each<[string, V1Pod, string, boolean]>([
    ['waits for an image', pod({ phase: 'Pending' }), 'Waiting', false],
    ['whose container does not run', pod({ ...RUNNING, containerStatuses: [{ state: {} }] }), 'Stopped', true],
    ['has failed', pod({ phase: 'Failed' }), 'Stopped', false],
    ['has ended', pod({ phase: 'Succeeded' }), 'Gone', false],
    ['is being deleted', pod(RUNNING, { metadata: { name: 'a', deletionTimestamp: new Date(0) } }), 'Gone', false],
  ])('a pod that %s', (_, object, phase, mustReport) => {
    expect(toAgentPod(object)).toMatchObject({ phase, mustReport });
  });

  it.each<[string, Partial<V1Pod>]>([
    ['hostNetwork', { spec: { hostNetwork: true, containers: [] } }],
    ['its label', { metadata: { name: 'a', labels: { app: 'netchecker-agent-hostnet' } } }],
  ])('is on the host plane by %s', (_, changes) => {
    expect(toAgentPod(pod(RUNNING, changes)).plane).toBe('Host');
  });
});

describe('the ServiceAccount of a pod', () => {
  it.each([
    ['no list', [], true],
    ['its account', ['agents/agent'], true],
    ['one of several', ['other/agent', 'agents/agent'], true],
    ['the same name in another namespace', ['other/agent'], false],
    ['another ServiceAccount', ['agents/other'], false],
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
    ['that crashed', { phase: 'Running', containerStatuses: [{ ...container, state: waiting }] }, 'Stopped'],
    ['that was evicted', { phase: 'Failed' }, 'Stopped'],
    ['that has ended', { phase: 'Succeeded' }, 'Gone'],
  ])('%s', (_, status, phase) => {
    expect(toAgentPod({ ...POD, status }).phase).toBe(phase);
    const metadata = { ...POD.metadata, deletionTimestamp: new Date() };
    expect(toAgentPod({ ...POD, metadata, status }).phase).toBe('Gone');
  });
});

describe('the last run of a container', () => {
  it('is the run of the container that ended last', () => {
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

describe('the port of an agent', () => {
  const KEY = 'peerPort' satisfies keyof typeof CONNECTIVITY_AGENT_FLAGS;
  const FLAG = flagName(KEY);
  const NAMED = { ports: [{ name: 'peer', containerPort: 9_001, protocol: 'TCP' }] };
  const variable = (value: string): Partial<V1Container> => ({ env: [{ name: variableName(KEY), value }] });

  it.each<[string, Partial<V1Container>, number | undefined]>([
    ['a flag with two dashes', { args: ['connectivity-agent', `--${FLAG}=9000`] }, 9_000],
    ['a flag with one dash, and its value apart', { args: [`-${FLAG}`, '9000', '-v', '5'] }, 9_000],
    ['a flag in the command', { command: ['node', 'main.js', `--${FLAG}=9000`] }, 9_000],
    ['a flag twice: the last one counts', { args: [`--${FLAG}=1`, `--${FLAG}=9000`] }, 9_000],
    ['a flag and other statements', { args: [`--${FLAG}=9000`], ...variable('9002'), ...NAMED }, 9_000],
    ['a variable', { ...variable('9002'), ...NAMED }, 9_002],
    ['a named port', NAMED, 9_001],
    ['a named port of UDP only', { ports: [{ ...NAMED.ports[0]!, protocol: 'UDP' }] }, PEER_PORT],
    ['a flag that only the pod can resolve, and a named port', { args: [`--${FLAG}=$(PORT)`], ...NAMED }, 9_001],
    ['a flag that only the pod can resolve', { args: [`--${FLAG}=$(PORT)`] }, undefined],
    ['a variable from a field', { env: [{ name: variableName(KEY), valueFrom: {} }] }, undefined],
    ['no port between 1 and 65535', { args: [`--${FLAG}=65536`] }, undefined],
    ['nothing', { args: ['connectivity-agent', '--plane=Pod'] }, PEER_PORT],
  ])('the port of a pod that states %s', (_, container, port) => {
    expect(peerPortOf({ containers: [{ name: 'agent', ...container }] })).toBe(port);
  });

  it('is the port of the deployed agents', () => {
    const options = { ...defaultConnectivityOptions('system'), peerPort: 9_000 };
    for (const { spec } of agentDaemonSets(options)) expect(peerPortOf(spec?.template.spec)).toBe(9_000);
  });

  it('is the default of the flag without a statement', () => {
    expect(CONNECTIVITY_AGENT_FLAGS[KEY].default).toBe(String(PEER_PORT));
  });
});

const container = (state: V1ContainerState, lastState?: V1ContainerState): V1ContainerStatus => ({
  ...{ name: 'agent', image: '', imageID: '', ready: false, restartCount: 0, state },
  ...(lastState && { lastState }),
});
const RUNS = { running: { startedAt: new Date() } };
const waits = (reason: string) => ({ waiting: { reason } });
const ended = (exitCode: number, reason?: string) => ({ terminated: { exitCode, ...(reason && { reason }) } });
const scheduled = (message?: string) => ({
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', ...(message && { message }) }],
});

describe('podProblem', () => {
  it.each([
    ['nothing is said', {}, undefined],
    ['it runs', { containerStatuses: [container(RUNS)] }, undefined],
    ['it is being created', { containerStatuses: [container(waits('ContainerCreating'))] }, undefined],
    ['its image cannot be pulled', { containerStatuses: [container(waits('ErrImagePull'))] }, 'ErrImagePull'],
    [
      'it ends again and again',
      { containerStatuses: [container(waits('CrashLoopBackOff'), ended(1))] },
      'CrashLoopBackOff, exit code 1',
    ],
    ['it has ended', { containerStatuses: [container(ended(0, 'Completed'))] }, 'Completed, exit code 0'],
    ['it runs again', { containerStatuses: [container(RUNS, ended(137, 'OOMKilled'))] }, 'OOMKilled, exit code 137'],
    ['an init container has ended', { initContainerStatuses: [container(ended(0))] }, undefined],
    ['an init container fails', { initContainerStatuses: [container(ended(2))] }, 'Error, exit code 2'],
    ['it was evicted', { phase: 'Failed', reason: 'Evicted' }, 'Evicted'],
    ['it failed for no reason', { phase: 'Failed' }, 'Failed'],
    ['no node is free', scheduled("didn't have free ports"), "Unschedulable: didn't have free ports"],
    ['the message is long', scheduled('x'.repeat(300)), `Unschedulable: ${'x'.repeat(200)}…`],
    ['there is no message', scheduled(), 'Unschedulable'],
  ])('if %s', (_, status, problem) => {
    expect(podProblem(status)).toBe(problem);
  });
});
