import type { V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { trimPod } from './stackPod.ts';

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
    { waiting: { reason: 'CrashLoopBackOff', message: '' }, ended: undefined, lastExit: 3, restarts: 2 },
  ],
  [
    'has just ended',
    container({ state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } }),
    { waiting: undefined, ended: 'OOMKilled', lastExit: 137 },
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
  expect(trim(container({}), { volumes })).toMatchObject({ claims: ['data-web-1'], isScheduled: false });
  expect(trim(container({}), { nodeName: 'n1' })).toMatchObject({ claims: [], isScheduled: true });
});
