import type { V1ContainerState, V1ContainerStatus } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { podProblem } from './podProblem.ts';

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
