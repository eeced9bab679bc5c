import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { readinessOf } from './readiness.ts';

const workload = (kind: string, status: object | undefined, replicas?: number): KubeObject =>
  ({ kind, metadata: { generation: 3 }, spec: { replicas }, status }) as KubeObject;
const counts = (replicas: number, updatedReplicas: number, availableReplicas: number, observedGeneration = 3) => {
  return { replicas, updatedReplicas, availableReplicas, observedGeneration };
};
const rollingOut = (available: number, [pods, of]: readonly [number, number]) => {
  return { phase: 'RollingOut', desired: 2, available, updated: { pods, of } };
};

describe.each(['Deployment', 'StatefulSet'])('a %s', (kind) => {
  it.each([
    ['without a status', undefined, { phase: 'StatusMissing' }],
    ['with an empty status', {}, { phase: 'StatusMissing' }],
    ['with the status of an older generation', counts(2, 2, 2, 2), { phase: 'StatusMissing' }],
    ['with too few updated pods', counts(1, 1, 1), rollingOut(1, [1, 2])],
    ['with a pod that ends, and is still available', counts(2, 1, 2), rollingOut(2, [1, 2])],
    ['with pods of an older generation', counts(3, 2, 3), rollingOut(3, [2, 3])],
    ['with pods that are not available', counts(2, 2, 1), { phase: 'Unavailable', desired: 2, available: 1 }],
    ['with all pods', counts(2, 2, 2), { phase: 'Ready', desired: 2, available: 2 }],
    ['whose zero counts are left out', { observedGeneration: 3 }, rollingOut(0, [0, 2])],
  ])('%s', (_, status, readiness) => {
    expect(readinessOf(workload(kind, status, 2))).toEqual(readiness);
  });

  it('has one pod by default, and is ready without any if none is asked for', () => {
    expect(readinessOf(workload(kind, counts(1, 1, 1)))).toMatchObject({ phase: 'Ready', desired: 1 });
    expect(readinessOf(workload(kind, { observedGeneration: 3 }, 0))).toMatchObject({ phase: 'Ready', desired: 0 });
  });
});

describe('a DaemonSet', () => {
  it.each([
    [{}, { phase: 'StatusMissing' }],
    [{ desiredNumberScheduled: 3, updatedNumberScheduled: 2, numberAvailable: 3 }, { phase: 'RollingOut' }],
    [{ desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 2 }, { phase: 'Unavailable' }],
    [
      { desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3 },
      { phase: 'Ready', desired: 3 },
    ],
    [{ desiredNumberScheduled: 0 }, { phase: 'Ready', desired: 0, available: 0 }],
  ])('with %j', (status, readiness) => {
    const seen = 'desiredNumberScheduled' in status ? { observedGeneration: 3 } : {};
    expect(readinessOf(workload('DaemonSet', { ...status, ...seen }))).toMatchObject(readiness);
  });
});

it.each<[string, object, string, string]>([
  ['StatefulSet', { rollingUpdate: { partition: 1 } }, '1 of 2 updated', 'Ready'],
  ['StatefulSet', { rollingUpdate: { partition: 5 } }, '0 of 2 updated', 'Ready'],
  ['StatefulSet', { rollingUpdate: { partition: 1 } }, '0 of 2 updated', 'RollingOut'],
  ['StatefulSet', { rollingUpdate: { partition: 0 } }, '1 of 2 updated', 'RollingOut'],
  ['StatefulSet', { type: 'OnDelete' }, '0 of 2 updated', 'Ready'],
  ['DaemonSet', { type: 'OnDelete' }, '0 of 2 updated', 'Ready'],
  ['DaemonSet', { type: 'RollingUpdate' }, '1 of 2 updated', 'RollingOut'],
])('a %s of another owner with %j, %s: %s', (kind, updateStrategy, counted, phase) => {
  const updated = Number(counted[0]);
  const ofDaemons = { desiredNumberScheduled: 2, updatedNumberScheduled: updated, numberAvailable: 2 };
  const live = workload(kind, { ...counts(2, updated, 2), ...ofDaemons }, 2);
  const theirs = { ...live, ...{ spec: { replicas: 2, updateStrategy } } };
  expect(readinessOf(theirs, true).phase).toBe(phase);
  expect(readinessOf(theirs).phase).toBe('RollingOut');
});

it.each(['Deployment', 'StatefulSet', 'DaemonSet'])(
  'a %s that is being deleted is not ready, as its status is',
  (kind) => {
    const ofDaemons = { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 };
    const live = workload(kind, { ...counts(2, 2, 2), ...ofDaemons }, 2);
    expect(readinessOf(live).phase).toBe('Ready');
    const metadata = { ...live.metadata, deletionTimestamp: new Date() };
    expect(readinessOf({ ...live, metadata })).toEqual({ phase: 'Ending' });
  },
);

it('tells why no pods can be created', () => {
  const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota' }];
  const live = workload('Deployment', { ...counts(0, 0, 0), conditions }, 2);
  expect(readinessOf(live)).toMatchObject({ phase: 'RollingOut', problem: 'exceeded quota' });
});
