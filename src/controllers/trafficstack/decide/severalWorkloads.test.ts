import { describe, expect, it } from 'vitest';
import type { ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import { DAEMONSETS } from '../../../runtime/client/resources.ts';
import type { ObservedComponent, ObservedObject } from '../model/observation.ts';
import { at, NOW, REVISION, stackOf } from '../testing/stacks.ts';
import { eventQueryOf, podQueryOf } from './cause.ts';
import { planComponent } from './component.ts';

/** One DaemonSet of three pods: so many that are updated, and so many that are available. */
type There = readonly [updated: number, available: number] | 'missing' | 'other' | 'no status' | 'no node';
const READY: There = [3, 3];
const NO_PODS = { desiredNumberScheduled: 0, updatedNumberScheduled: 0, numberAvailable: 0 };

function daemonSet(name: string, there: There): ObservedObject {
  const object = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { namespace: 'shop', name } };
  const [updatedNumberScheduled, numberAvailable] = typeof there === 'string' ? READY : there;
  const status = {
    ...(there !== 'no status' && { observedGeneration: 1 }),
    ...(there === 'no node' ? NO_PODS : { desiredNumberScheduled: 3, updatedNumberScheduled, numberAvailable }),
  };
  const live = { ...object, metadata: { ...object.metadata, uid: `uid-${name}`, generation: 1 }, status };
  const known = there === 'other' ? { ...live, metadata: { ...live.metadata, labels: { app: 'theirs' } } } : live;
  return {
    ...{ resource: DAEMONSETS, object, hash: name, fieldManager: 'agents' },
    live: there === 'missing' ? undefined : withOwner(known, there !== 'other'),
    isCurrent: there !== 'missing' && there !== 'other',
  };
}

function withOwner(live: { metadata: object }, isOwn: boolean) {
  const owner = { apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', name: 'main', uid: 'stack-uid' };
  return isOwn ? { ...live, metadata: { ...live.metadata, ownerReferences: [owner] } } : live;
}

const agents = (a: There, b: There): ObservedComponent => ({
  spec: { name: 'agents', type: 'ConnectivityAgents' },
  objects: [daemonSet('a', a), daemonSet('b', b)],
  ...{ pods: [], variables: {}, revision: REVISION },
});

function plan(component: ObservedComponent, prior?: Partial<ComponentStatus>) {
  const before: ComponentStatus = {
    ...{ name: 'agents', type: 'ConnectivityAgents', state: 'Ready', reason: 'AllAvailable', message: '' },
    ...{ since: at(-10), revision: REVISION, replicas: 6, ...prior },
  };
  const stack = stackOf([component.spec], prior === undefined ? {} : { components: [before] });
  return planComponent(component, { stack, before: new Map(), now: NOW, left: [], waves: new Map() });
}

const text = (name: string, available: number) => `DaemonSet shop/${name}: ${available} of 3 pods are available`;
const [A, B] = ['DaemonSet shop/a', 'DaemonSet shop/b'];

describe('a component with two workloads', () => {
  it.each<[string, There, There, string, string, string, number | undefined]>([
    ['is ready if both are', READY, READY, 'Ready', `${text('a', 3)}; ${text('b', 3)}`, A, 6],
    ['is as the first one is, if that is not ready', [3, 2], READY, 'Progressing', text('a', 2), A, 5],
    ['is as the last one is, if that is not ready', READY, [3, 1], 'Progressing', text('b', 1), B, 4],
    [
      'is as the one that is further from ready: pods are replaced',
      [3, 0],
      [2, 3],
      'Progressing',
      `${text('b', 3)}, 2 of 3 updated`,
      B,
      3,
    ],
    ['is as the first one, if both are the same', [3, 1], [3, 2], 'Progressing', text('a', 1), A, 3],
    [
      'is Unknown if one has no status, without a sum',
      ...([[3, 0], 'no status', 'Unknown'] as const),
      ...([`${B} has no status of its generation yet`, B, undefined] as const),
    ],
    ['has no sum while one is missing', READY, 'missing', 'Progressing', `to create: ${B}`, B, undefined],
    [
      'is Failed if one is of another owner, and names that one',
      ...(['no status', 'other', 'Failed', `${B} exists and is not of this stack: it is left as it is`] as const),
      ...([B, undefined] as const),
    ],
  ])('%s', (_, a, b, state, message, what, readyReplicas) => {
    const planned = plan(agents(a, b));
    expect(planned.status).toMatchObject({ state, message });
    expect(planned.what).toBe(what);
    expect(planned.status.readyReplicas).toBe(readyReplicas);
    expect(planned.status.replicas).toBe(readyReplicas === undefined ? undefined : 6);
  });

  it.each<[string, number, string]>([
    ['as many pods as before: it is Degraded', 6, 'Degraded'],
    ['more pods than before, as after a node has joined: it is Progressing', 4, 'Progressing'],
  ])('was ready, with %s', (_, replicas, state) => {
    expect(plan(agents(READY, [3, 2]), { replicas }).status.state).toBe(state);
  });

  it('is Ready without pods if no node is selected, as for kubectl rollout status, and says so', () => {
    const { state, message, replicas } = plan(agents('no node', READY)).status;
    const none = `${A}: 0 of 0 pods are available: no node is selected`;
    expect({ state, message, replicas }).toEqual({ state: 'Ready', message: `${none}; ${text('b', 3)}`, replicas: 3 });
  });

  it('has Events asked about the workload that is not ready', () => {
    expect(eventQueryOf(agents(READY, [3, 2]))?.uid).toBe('uid-b');
    expect(eventQueryOf(agents([3, 2], READY))?.uid).toBe('uid-a');
    expect(eventQueryOf(agents(READY, READY))).toBeUndefined();
  });

  it('has the pods of that workload read', () => {
    const unread = (a: There, b: There) => podQueryOf({ ...agents(a, b), arePodsRead: false })?.metadata?.name;
    expect([unread(READY, [3, 2]), unread([3, 2], READY), unread(READY, READY)]).toEqual(['b', 'a', undefined]);
  });
});
