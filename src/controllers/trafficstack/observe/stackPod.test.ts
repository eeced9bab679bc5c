import type { V1ContainerStatus, V1ObjectMeta, V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { StackPod } from '../model/observation.ts';
import { COMPONENT_LABEL, STACK_LABEL } from '../names.ts';
import { identityOfPod, trimPod } from './stackPod.ts';

const container = (over: Partial<V1ContainerStatus>): V1ContainerStatus => {
  return { name: 'web', image: 'web:1', imageID: '', ready: false, restartCount: 2, ...over };
};
const trim = (status: V1ContainerStatus, spec: Partial<V1Pod['spec']> = {}) =>
  trimPod({
    metadata: { namespace: 'shop', name: 'web-1' },
    spec: { containers: [], ...spec },
    status: { containerStatuses: [status] },
  } as V1Pod);

it.each<[string, V1ContainerStatus, object]>([
  [
    'waits after a crash',
    container({
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 3, reason: 'Error' } },
    }),
    {
      waiting: { reason: 'CrashLoopBackOff', message: '' },
      ended: undefined,
      lastExit: 3,
      lastReason: 'Error',
      restarts: 2,
    },
  ],
  [
    'waits after it was killed',
    container({
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
    }),
    { ended: undefined, lastExit: 137, lastReason: 'OOMKilled' },
  ],
  [
    'has just ended',
    container({ state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }),
    { waiting: undefined, ended: 'OOMKilled', lastExit: 137, lastReason: 'OOMKilled' },
  ],
  [
    'has ended without a reason',
    container({ state: { terminated: { exitCode: 1 } } }),
    { ended: 'Error', lastExit: 1, isRunning: false },
  ],
  ['runs', container({ state: { running: {} } }), { isRunning: true, ended: undefined, lastExit: undefined }],
])('a container that %s', (_, status, expected) => {
  expect(trim(status).containers).toMatchObject([{ name: 'web', ...expected }]);
});

it('has its claims, and whether it has a node', () => {
  const volumes = [
    { name: 'data', persistentVolumeClaim: { claimName: 'data-web-1' } },
    { name: 'tmp', emptyDir: {} },
  ];
  expect(trim(container({}), { volumes })).toMatchObject({ claims: ['data-web-1'], nodeName: undefined });
  expect(trim(container({}), { nodeName: 'n1' })).toMatchObject({ claims: [], nodeName: 'n1' });
});

describe('the workload that made a pod', () => {
  const labels = {
    [STACK_LABEL]: 'main',
    [COMPONENT_LABEL]: 'web',
    'pod-template-hash': 'abc',
  };
  const of = (kind: string, name: string, over: Partial<V1ObjectMeta> = {}, controller = true) =>
    trimPod({
      metadata: {
        ...{ namespace: 'shop', name: 'p', labels, ...over },
        ownerReferences: [{ apiVersion: 'v1', kind, name, uid: 'u', controller }],
      },
    });

  it.each<[string, StackPod, string]>([
    ['a StatefulSet', of('StatefulSet', 'web'), 'StatefulSet web'],
    ['a DaemonSet', of('DaemonSet', 'web'), 'DaemonSet web'],
    ['a Deployment, by way of a ReplicaSet', of('ReplicaSet', 'web-abc'), 'Deployment web'],
    ['one with a hyphen', of('ReplicaSet', 'web-2-abc'), 'Deployment web-2'],
    ['a ReplicaSet of no Deployment', of('ReplicaSet', 'web'), ''],
    [
      'the same with a name that ends with a hyphen',
      of('ReplicaSet', 'web-', { labels: { [STACK_LABEL]: 'main' } }),
      '',
    ],
    ['a Job', of('Job', 'web'), ''],
    ['a node', of('Node', 'web-abc'), ''],
    ['one that owns it and is no controller', of('StatefulSet', 'web', {}, false), ''],
    ['none', trimPod({ metadata: { namespace: 'shop', name: 'p', labels } }), ''],
  ])('is %s', (_, { workload, component }, expected) => {
    expect(workload).toBe(expected);
    expect(component).toBe(expected === '' ? 'shop/main/' : 'shop/main/web');
  });
});

it.each([
  ['Failed', { reason: 'Evicted', message: 'low on memory' }, { reason: 'Evicted', message: 'low on memory' }],
  ['Failed', {}, { reason: '', message: '' }],
  ['Succeeded', {}, { reason: '', message: '' }],
  ['Running', { reason: 'NodeLost' }, undefined],
])('tells why a pod has finished, in the phase %s with %o', (phase, why, finished) => {
  const pod = { metadata: { name: 'web-1' }, spec: { containers: [] }, status: { phase, ...why } };
  expect(trimPod(pod as KubeObject).finished).toEqual(finished);
});

it('has a bounded size without its containers, claims and messages', () => {
  const large = 'x'.repeat(100_000);
  const waiting = container({ name: large, state: { waiting: { reason: large, message: large } } });
  const volumes = [{ name: large, persistentVolumeClaim: { claimName: large } }];
  const unscheduled = { type: 'PodScheduled', status: 'False', message: large };
  const whole = trimPod({
    metadata: { namespace: 'shop', name: 'web-1', labels: { [STACK_LABEL]: 'main', a: large }, annotations: { large } },
    spec: { containers: [], nodeName: 'n1', volumes },
    status: { phase: 'Failed', reason: large, containerStatuses: [waiting], conditions: [unscheduled] },
  } as KubeObject);
  const kept = identityOfPod(whole);
  expect(JSON.stringify(kept).length).toBeLessThan(500);
  expect(kept).toMatchObject({ key: 'shop/web-1', nodeName: 'n1', finished: {}, isUnread: true });
});
