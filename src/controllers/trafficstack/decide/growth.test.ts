import { describe, expect, it } from 'vitest';
import type { ComponentSpec, ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import type { ObservedComponent } from '../model/observation.ts';
import { at, component, live, NOW, observed, pod, REVISION, stackOf } from '../testing/stacks.ts';
import { planComponent } from './component.ts';

const WEB = component('web', { deadline: '60s' });
const PULL = pod('web-1', { waiting: { reason: 'ImagePullBackOff', message: '' } });

/** Its Deployment, with so many pods that are available, of those that there should be. */
function pods(available: number, desired: number): ObservedComponent {
  const web = observed(WEB, { available }, [PULL]);
  const objects = web.objects.map((each) => {
    const scaled = live(each.object, available, { replicas: desired, updatedReplicas: desired });
    return { ...each, live: { ...scaled, spec: { ...(scaled as { spec?: object }).spec, replicas: desired } } };
  });
  return { ...web, objects };
}

/** Ready with two pods 10 s ago, if not another status. */
function decide(web: ObservedComponent, over: Partial<ComponentStatus> = {}, now = NOW) {
  const ready = { state: 'Ready', reason: 'X', message: 'm', replicas: 2, readyReplicas: 2 } as const;
  const prior = { name: 'web', type: 'Workload', since: at(-10), revision: REVISION, ...ready, ...over } as const;
  const { status, deadlineAt } = planComponent(web, {
    ...{ stack: stackOf([WEB], { components: [prior] }), before: new Map(), now, left: [], waves: new Map() },
  });
  return { ...status, deadlineAt };
}

const WAS_READY = { readyRevision: REVISION } as const;
const GROWING = { state: 'Progressing', ...WAS_READY } as const;
const UNKNOWN = { state: 'Unknown', ...WAS_READY, replicas: undefined, readyReplicas: undefined } as const;

describe('a component that was ready and', () => {
  it.each<[string, number, number, Partial<ComponentStatus>, string]>([
    ['has one more pod to start', 2, 3, {}, 'Progressing'],
    ['has the same pod to start still', 2, 3, { ...GROWING, replicas: 3 }, 'Progressing'],
    ['has another pod to start', 2, 4, { ...GROWING, replicas: 3 }, 'Progressing'],
    ['has lost one of its pods', 1, 2, {}, 'Degraded'],
    ['has lost one while it has more to start', 1, 3, {}, 'Degraded'],
    ['has lost one while it had more to start', 1, 3, { ...GROWING, replicas: 3 }, 'Degraded'],
    ['was Degraded, and is asked for more', 1, 3, { state: 'Degraded', readyReplicas: 1 }, 'Degraded'],
    ['had no status of its pods for a moment', 0, 2, UNKNOWN, 'Progressing'],
  ])('%s', (_, available, desired, prior, state) => {
    expect(decide(pods(available, desired), prior)).toMatchObject({ state, reason: 'ImagePullBackOff', ...WAS_READY });
  });

  it('has more pods to start is Degraded at its deadline, and not Failed', () => {
    const begun = { ...GROWING, replicas: 3 };
    expect(decide(pods(2, 3), begun, NOW + 49_999)).toMatchObject({ ...GROWING, deadlineAt: NOW + 50_000 });
    expect(decide(pods(2, 3), begun, NOW + 50_000)).toMatchObject({
      ...{ state: 'Degraded', reason: 'ImagePullBackOff', ...WAS_READY, since: at(50), deadlineAt: undefined },
      message: 'Deployment shop/web: 2 of 3 pods are available; pod shop/web-1, container web: ImagePullBackOff',
    });
  });

  it('had no status of its pods is Degraded at its deadline, too', () => {
    expect(decide(pods(0, 2), UNKNOWN, NOW + 49_999)).toMatchObject({ state: 'Progressing', deadlineAt: NOW + 50_000 });
    expect(decide(pods(0, 2), UNKNOWN, NOW + 50_000)).toMatchObject({ state: 'Degraded', deadlineAt: undefined });
  });

  it('has more pods to start is Ready when they are available', () => {
    expect(decide(pods(3, 3), { ...GROWING, replicas: 3 })).toMatchObject({ state: 'Ready', deadlineAt: undefined });
  });
});

it.each<[string, Partial<ComponentStatus>, string]>([
  ['Ready', {}, 'Progressing'],
  ['Unknown for a moment', UNKNOWN, 'Progressing'],
  ['Degraded', { state: 'Degraded' }, 'Degraded'],
])('a component whose available pods are replaced, and was %s', (_, prior, state) => {
  const web = observed(WEB, { available: 2 });
  const objects = web.objects.map((each) => ({
    ...each,
    live: live(each.object, 2, { replicas: 3, updatedReplicas: 1 }),
  }));
  expect(decide({ ...web, objects }, prior)).toMatchObject({ state, reason: 'RollingOut', ...WAS_READY });
});

describe('a Deployment without pods', () => {
  const stopped = (over: Partial<ComponentSpec> = {}): ObservedComponent => {
    const web = observed({ ...WEB, ...over }, { available: 0 });
    const objects = web.objects.map((each) => {
      const none = live(each.object, 0, { replicas: 0, updatedReplicas: 0 });
      return { ...each, live: { ...none, spec: { ...(none as { spec?: object }).spec, replicas: 0 } } };
    });
    return { ...web, objects };
  };
  const NONE = { workload: { kind: 'Deployment' as const, namespace: 'shop', replicas: 0 } };
  it.each<[string, ObservedComponent, Partial<ComponentStatus>, string, string]>([
    ['that was ready is Degraded', stopped(), {}, 'Degraded', 'ScaledToZero'],
    ['that was not is on its way', stopped(), { state: 'Progressing' }, 'Progressing', 'ScaledToZero'],
    ['for which the spec asks is Ready', stopped(NONE), {}, 'Ready', 'AllAvailable'],
    [
      'is Ready if the conditions of the user say so',
      stopped({ ready: { expression: 'true' } }),
      {},
      'Ready',
      'AllAvailable',
    ],
  ])('%s', (_, web, prior, state, reason) => expect(decide(web, prior)).toMatchObject({ state, reason }));
});

describe('a component that has more pods to start, and', () => {
  it.each<[string, Partial<ComponentStatus>]>([
    ['was ready with another spec', { revision: 'r0' }],
    ['was written again since', { state: 'Progressing', replicas: 3 }],
  ])('%s is Failed at its deadline', (_, prior) => {
    const { state, deadlineAt } = decide(pods(2, 3), prior);
    expect(state).toBe('Progressing');
    const begun = { ...GROWING, readyRevision: undefined, replicas: 3 };
    expect(decide(pods(2, 3), begun, deadlineAt)).toMatchObject({ state: 'Failed', reason: 'DeadlineExceeded' });
  });
});
