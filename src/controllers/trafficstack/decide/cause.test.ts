import { describe, expect, it } from 'vitest';
import type { WorkloadKind } from '../../../api/trafficstack/terms.ts';
import type { SeenEvent, StackPod } from '../model/observation.ts';
import { component, live, NOW, observed, pod, type There } from '../testing/stacks.ts';
import { causeOf, eventQueryOf, podQueryOf } from './cause.ts';

const seen = (reason: string, message: string, at = 0, isWarning = true): SeenEvent => {
  return { isWarning, reason, message, at: NOW + at };
};
const QUOTA = seen('FailedCreate', 'create Pod db-0 in StatefulSet db failed error: exceeded quota: none');
const MOUNT = seen('FailedMount', 'MountVolume.SetUp failed for volume "files" : configmap "x" not found\n');
const PROBE = seen('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503');
const CREATING = pod('a', { waiting: { reason: 'ContainerCreating', message: '' } });
const RUNNING = pod('a', { isRunning: true });

it.each<[string, StackPod[], SeenEvent[], [string, string] | undefined]>([
  ['nothing, without Events', [], [], undefined],
  ['a creation that is refused', [], [QUOTA], ['FailedCreate', `FailedCreate: ${QUOTA.message}`]],
  ['nothing, if a creation has succeeded since', [], [QUOTA, seen('SuccessfulCreate', '', 1_000, false)], undefined],
  [
    'a refusal in the second of a creation: the others were refused',
    [],
    [seen('SuccessfulCreate', '', 0, false), QUOTA],
    ['FailedCreate', `FailedCreate: ${QUOTA.message}`],
  ],
  [
    'a volume that cannot be mounted',
    [CREATING],
    [seen('FailedScheduling', 'was so', 5_000), MOUNT, seen('Pulled', 'image is there', 6_000, false)],
    ['FailedMount', `pod shop/a: ${MOUNT.reason}: ${MOUNT.message.trim()}`],
  ],
  [
    'the answer of a probe',
    [RUNNING],
    [PROBE, seen('FailedMount', 'was so', 9_000)],
    ['ContainerNotReady', `pod shop/a, container web: running, and not ready; Unhealthy: ${PROBE.message}`],
  ],
  [
    'no Event, if a status tells',
    [pod('a', { waiting: { reason: 'ErrImagePull', message: 'no' } })],
    [MOUNT],
    ['ErrImagePull', 'pod shop/a, container web: ErrImagePull: no'],
  ],
])('the cause is %s', (_, pods, events, cause) => {
  const found = causeOf({ pods, events }, {});
  expect(found && [found.reason, found.message]).toEqual(cause);
});

it('is what a Deployment says about its pods that cannot be created', () => {
  expect(causeOf({ pods: [RUNNING] }, { problem: 'exceeded quota' })).toEqual({
    reason: 'ReplicaFailure',
    message: 'exceeded quota',
  });
});

it('is that a Deployment is paused, whatever its pods are', () => {
  const message = 'it is paused: continue with kubectl rollout resume';
  expect(causeOf({ pods: [RUNNING] }, { isPaused: true })).toEqual({ reason: 'DeploymentPaused', message });
});

const uid = (name: string, value: StackPod): StackPod => ({ ...value, metadata: { namespace: 'shop', uid: name } });

it.each<[string, WorkloadKind, StackPod[], string | undefined]>([
  ['the workload, of which pods are missing', 'StatefulSet', [], 'uid-db'],
  ['nothing, if a Deployment says so itself', 'Deployment', [], undefined],
  ['a pod that is being created', 'StatefulSet', [uid('a', CREATING)], 'a'],
  ['a pod without a container yet', 'Deployment', [uid('a', { ...CREATING, containers: [] })], 'a'],
  ['a pod that runs and is not ready', 'Deployment', [uid('a', RUNNING), uid('b', CREATING)], 'a'],
  [
    'nothing, if its node is not Ready',
    'StatefulSet',
    [uid('a', { ...RUNNING, lostNode: { name: 'n2', since: NOW } })],
    undefined,
  ],
  [
    'nothing, if a pod tells why',
    'StatefulSet',
    [uid('a', { ...pod('a'), unscheduledMessage: 'no room', containers: [] })],
    undefined,
  ],
])('Events are asked about %s', (_, kind, pods, about) => {
  const { workload } = component('db');
  const db = observed(component('db', { workload: { ...workload, kind } }), { available: 0 }, pods);
  expect(eventQueryOf(db)?.uid).toBe(about);
});

it('no Events are asked for while objects are applied, or all pods are available', () => {
  const { workload } = component('db');
  const db = component('db', { workload: { ...workload, kind: 'StatefulSet' } });
  expect(eventQueryOf(observed(db, 'none'))).toBeUndefined();
  expect(eventQueryOf(observed(db, 'old'))).toBeUndefined();
  expect(eventQueryOf(observed(db, { available: 2 }))).toBeUndefined();
});

describe('the pods of a built-in component, which are in no cache', () => {
  const { workload } = component('db');
  const db = component('db', { workload: { ...workload, kind: 'StatefulSet' } });
  const builtIn = (there: There, arePodsRead?: boolean, pods: StackPod[] = []) => {
    return { ...observed(db, there, pods), ...(arePodsRead !== undefined && { arePodsRead }) };
  };

  it.each<[string, There, boolean | undefined, string | undefined]>([
    ['are read if some are not available', { available: 1 }, false, 'uid-db'],
    ['are not read while all are available', { available: 2 }, false, undefined],
    ['are not read while objects are applied', 'old', false, undefined],
    ['are not read before its workload exists', 'none', false, undefined],
    ['are not read again after they were', { available: 1 }, true, undefined],
    ['are not read of a component whose pods are in the cache', { available: 1 }, undefined, undefined],
  ])('%s', (_, there, arePodsRead, uidOfWorkload) => {
    expect(podQueryOf(builtIn(there, arePodsRead))?.metadata?.uid).toBe(uidOfWorkload);
  });

  it('are not read if a Deployment says that they cannot be created', () => {
    const [object] = observed(component('db'), { available: 1 }).objects;
    const conditions = [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota' }];
    const failing = { ...object!, live: live(object!.object, 1, { conditions }) };
    expect(podQueryOf({ objects: [object!], pods: [], arePodsRead: false })).toBe(object!.live);
    expect(podQueryOf({ objects: [failing], pods: [], arePodsRead: false })).toBeUndefined();
  });

  it('come before Events, which may be about one of them', () => {
    expect(eventQueryOf(builtIn({ available: 1 }, false))).toBeUndefined();
    expect(eventQueryOf(builtIn({ available: 1 }, true))?.uid).toBe('uid-db');
    expect(eventQueryOf(builtIn({ available: 1 }, true, [uid('a', RUNNING)]))?.uid).toBe('a');
  });
});
