import type { V1Pod, V1PodStatus } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { toAgentPod } from './agentPod.ts';

const STARTED = '2026-01-01T00:00:10Z';
const running = (startedAt: string) => ({ name: 'agent', state: { running: { startedAt } } });
const RUNNING = { phase: 'Running', podIPs: [{ ip: '198.18.0.1' }], containerStatuses: [running(STARTED)] };

/** The API server sends texts in place of dates. */
function pod(status: object, changes: Partial<V1Pod> = {}): V1Pod {
  const metadata = {
    name: 'a',
    namespace: 'ns',
    uid: 'u',
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  const spec = { nodeName: 'n1', containers: [{ name: 'agent', env: [{ name: 'A', value: 'b' }] }] };
  return { metadata, spec, status: status as V1PodStatus, ...changes } as unknown as V1Pod;
}

describe('toAgentPod', () => {
  it('keeps what the server reads, and nothing else', () => {
    expect(toAgentPod(pod(RUNNING))).toEqual({
      metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '7' },
      name: 'a',
      node: 'n1',
      plane: 'Pod',
      addresses: ['198.18.0.1'],
      phase: 'Running',
      startedAt: Date.parse(STARTED),
      mustReport: true,
    });
  });

  it.each<[string, V1Pod, string, boolean]>([
    ['waits for an image', pod({ phase: 'Pending' }), 'Waiting', false],
    ['whose container does not run', pod({ ...RUNNING, containerStatuses: [{ state: {} }] }), 'Stopped', true],
    ['has ended', pod({ phase: 'Failed' }), 'Gone', false],
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
