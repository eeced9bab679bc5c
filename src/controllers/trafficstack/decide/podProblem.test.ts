import { expect, it } from 'vitest';
import type { StackPod } from '../model/observation.ts';
import { identityOfPod } from '../observe/stackPod.ts';
import { NOW, pod } from '../testing/stacks.ts';
import { podProblemOf } from './podProblem.ts';

const waits = (reason: string, message = '', lastExit?: number, restarts = 0) =>
  pod('a', { waiting: { reason, message }, lastExit, restarts });
const unscheduled = {
  ...pod('b'),
  nodeName: undefined,
  unscheduledMessage: '0/3 nodes are available: insufficient cpu',
};

const CRASHED = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' }, lastExit: 3 };
const lost = (name: string, over: Parameters<typeof pod>[1] = {}): StackPod => {
  return { ...pod(name, over), lostNode: { name: 'n2', since: NOW } };
};
const ON_N2 = 'pod shop/a is on node n2, which is NotReady since 2026-01-01T00:00:00Z';
const EVICTED: StackPod = {
  ...pod('e', { ended: 'Error', lastExit: 137 }),
  finished: { reason: 'Evicted', message: 'The node was low on resource: memory.' },
};
const EVICTED_MESSAGE = 'pod shop/e: Evicted: The node was low on resource: memory.';
const ENDED = 'pod shop/e, container web: Error; it ended with exit code 137';
const NO_ROOM = 'pod shop/b: 0/3 nodes are available: insufficient cpu';

it.each<[string, StackPod[], string | undefined]>([
  ['none, without pods', [], undefined],
  ['none, while a container is being created', [waits('ContainerCreating'), waits('PodInitializing')], undefined],
  [
    'a namespace with too many bytes of pods',
    [identityOfPod(waits('ErrImagePull'))],
    'pod shop/a: not read, since the pods of stacks in its namespace take more than 8 MiB together; remove pods, containers or claims',
  ],
  [
    'what is known of another pod',
    [identityOfPod(pod('b', CRASHED)), pod('a', CRASHED)],
    'pod shop/a, container web: CrashLoopBackOff: back-off; it ended with exit code 3',
  ],
  ['none, if all are ready', [pod('a', { isRunning: true, isReady: true })], undefined],
  [
    'an image',
    [waits('ImagePullBackOff', 'Back-off pulling image "x"')],
    'pod shop/a, container web: ImagePullBackOff: Back-off pulling image "x"',
  ],
  [
    'a Secret that is missing, which the operator does not read',
    [waits('CreateContainerConfigError', 'secret "database" not found')],
    'pod shop/a, container web: CreateContainerConfigError: secret "database" not found',
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
    [pod('a', { ended: 'OOMKilled', lastExit: 137, lastReason: 'OOMKilled', restarts: 1 })],
    'pod shop/a, container web: OOMKilled; it ended with exit code 137, 1 restart',
  ],
  [
    'what killed a container that waits for its next start',
    [pod('a', { ...CRASHED, lastExit: 137, lastReason: 'OOMKilled', restarts: 2 })],
    'pod shop/a, container web: CrashLoopBackOff: back-off; it ended with exit code 137 (OOMKilled), 2 restarts',
  ],
  [
    'the exit code alone, if the reason adds nothing',
    [pod('a', { ...CRASHED, lastReason: 'Error' })],
    'pod shop/a, container web: CrashLoopBackOff: back-off; it ended with exit code 3',
  ],
  [
    'the same of one that ended well',
    [pod('a', { ...CRASHED, lastExit: 0, lastReason: 'Completed' })],
    'pod shop/a, container web: CrashLoopBackOff: back-off; it ended with exit code 0',
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
  ['a node that is not Ready', [lost('a', { isReady: true })], ON_N2],
  ['the same, whatever the pod reported before', [lost('a', CRASHED)], ON_N2],
  ['the same, before a pod that finds no room', [lost('a'), unscheduled, pod('c', { isRunning: true })], ON_N2],
  [
    'a container that cannot start before a node that is not Ready',
    [lost('a'), pod('c', CRASHED)],
    'pod shop/c, container web: CrashLoopBackOff: back-off; it ended with exit code 3',
  ],
  [
    'a node that is not Ready, if a pod cannot end there',
    [pod('b', { isRunning: true, isReady: true }), { ...lost('a'), isEnding: true }],
    'pod shop/a is ending on node n2, which is NotReady since 2026-01-01T00:00:00Z',
  ],
  [
    'what is wrong with another pod, and then the one that cannot end',
    [unscheduled, { ...lost('a'), isEnding: true }],
    'pod shop/b: 0/3 nodes are available: insufficient cpu; ' +
      'pod shop/a is ending on node n2, which is NotReady since 2026-01-01T00:00:00Z',
  ],
  ['the problem of the new pod, after an eviction', [{ ...EVICTED, createdAt: NOW + 1 }, unscheduled], NO_ROOM],
  ['none, after an eviction, while the new pod has just begun', [EVICTED, waits('ContainerCreating')], undefined],
  ['not the lost node of a pod that was evicted', [{ ...lost('a'), finished: EVICTED.finished }, unscheduled], NO_ROOM],
  ['an eviction, if there is no other pod', [EVICTED], EVICTED_MESSAGE],
  ['the same, while another pod ends', [EVICTED, { ...pod('c', CRASHED), isEnding: true }], EVICTED_MESSAGE],
  ['a pod that has finished without a reason', [{ ...EVICTED, finished: { reason: '', message: '' } }], ENDED],
  ['a probe', [pod('a', { isRunning: true })], 'pod shop/a, container web: running, and not ready'],
  [
    'a container that cannot start before a pod without room and one that is not ready',
    [unscheduled, pod('c', { isRunning: true }), waits('CreateContainerConfigError', 'no ConfigMap')],
    'pod shop/a, container web: CreateContainerConfigError: no ConfigMap',
  ],
  [
    'the problem of the newest pod, except a pod that ends',
    [
      { ...waits('CrashLoopBackOff', 'old'), createdAt: 1 },
      { ...waits('ErrImagePull', 'new'), createdAt: 2 },
      { ...waits('ImagePullBackOff', 'ends'), createdAt: 3, isEnding: true },
    ],
    'pod shop/a, container web: ErrImagePull: new',
  ],
  [
    'the problem of the first pod by name',
    [{ ...unscheduled, key: 'shop/z' }, unscheduled],
    'pod shop/b: 0/3 nodes are available: insufficient cpu',
  ],
])('is %s', (_, pods, message) => {
  expect(podProblemOf(pods)?.message).toBe(message);
});
