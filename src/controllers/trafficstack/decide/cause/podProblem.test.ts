import { expect, it } from 'vitest';
import type { StackPod } from '../../observe/observation.ts';
import { pod } from '../../testing/stacks.ts';
import { podProblemOf } from './podProblem.ts';

const waits = (reason: string, message = '', lastExit?: number, restarts = 0) =>
  pod('a', { waiting: { reason, message }, lastExit, restarts });
const unscheduled = {
  ...pod('b'),
  isScheduled: false,
  unscheduledMessage: '0/3 nodes are available: insufficient cpu',
};

it.each<[string, StackPod[], string | undefined]>([
  ['none, without pods', [], undefined],
  ['none, while a container is being created', [waits('ContainerCreating'), waits('PodInitializing')], undefined],
  ['none, if all are ready', [pod('a', { isRunning: true, isReady: true })], undefined],
  [
    'an image',
    [waits('ImagePullBackOff', 'Back-off pulling image "x"')],
    'pod shop/a, container web: ImagePullBackOff: Back-off pulling image "x"',
  ],
  [
    'a crash, with its exit code',
    [waits('CrashLoopBackOff', 'back-off 10s', 3)],
    'pod shop/a, container web: CrashLoopBackOff: back-off 10s; it ended with exit code 3',
  ],
  [
    'a crash, with its restarts',
    [waits('CrashLoopBackOff', 'back-off 10s', 0, 2)],
    'pod shop/a, container web: CrashLoopBackOff: back-off 10s; it ended with exit code 0, 2 restarts',
  ],
  [
    'a container that has just ended',
    [pod('a', { ended: 'OOMKilled', lastExit: 137, restarts: 1 })],
    'pod shop/a, container web: OOMKilled; it ended with exit code 137, 1 restart',
  ],
  ['none, after an init container', [pod('a', { ended: 'Completed', lastExit: 0 })], undefined],
  [
    'a crash before, while it runs again',
    [pod('a', { isRunning: true, lastExit: 3, restarts: 4 })],
    'pod shop/a, container web: running, and not ready; it ended with exit code 3, 4 restarts',
  ],
  ['no room', [unscheduled], 'pod shop/b: 0/3 nodes are available: insufficient cpu'],
  [
    'a claim without a volume',
    [{ ...unscheduled, unscheduledMessage: 'unbound immediate PersistentVolumeClaims', claims: ['data-b'] }],
    'pod shop/b: unbound immediate PersistentVolumeClaims; its claims: data-b',
  ],
  [
    'a claim that nobody provisions',
    [{ ...unscheduled, unscheduledMessage: undefined, claims: ['data-b'] }],
    'pod shop/b: no node is chosen yet; its claims: data-b',
  ],
  ['a probe', [pod('a', { isRunning: true })], 'pod shop/a, container web: running, and not ready'],
  [
    'a container that cannot start before a pod without room and one that is not ready',
    [unscheduled, pod('c', { isRunning: true }), waits('CreateContainerConfigError', 'no ConfigMap')],
    'pod shop/a, container web: CreateContainerConfigError: no ConfigMap',
  ],
  [
    'that of the newest pod, but for one that ends',
    [
      { ...waits('CrashLoopBackOff', 'old'), createdAt: 1 },
      { ...waits('ErrImagePull', 'new'), createdAt: 2 },
      { ...waits('ImagePullBackOff', 'ends'), createdAt: 3, isEnding: true },
    ],
    'pod shop/a, container web: ErrImagePull: new',
  ],
  [
    'that of the first pod by name',
    [{ ...unscheduled, key: 'shop/z' }, unscheduled],
    'pod shop/b: 0/3 nodes are available: insufficient cpu',
  ],
])('is %s', (_, pods, message) => {
  expect(podProblemOf(pods)?.message).toBe(message);
});
