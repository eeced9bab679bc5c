import { describe, expect, it } from 'vitest';
import type { ComponentState } from '../../../api/trafficstack/terms.ts';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import type { ObservedComponent } from '../model/observation.ts';
import { at, component, live, NOW, observed, pod, REVISION, stackOf } from '../testing/stacks.ts';
import { planComponent } from './component.ts';
import { planStack } from './plan.ts';
import type { Blocker } from './waiting.ts';

const WEB = component('web', { dependsOn: ['db'], deadline: '60s' });
const PULL = pod('web-1', { waiting: { reason: 'ImagePullBackOff', message: '' } });
const statusOf = (name: string, state: ComponentState, over: Partial<ComponentStatus> = {}): ComponentStatus => {
  return {
    name,
    type: 'Workload',
    state,
    reason: 'X',
    message: 'm',
    since: at(-10),
    replicas: 2,
    revision: REVISION,
    ...over,
  };
};
const db = (state: ComponentState): ReadonlyMap<string, Blocker> =>
  new Map([['db', { status: statusOf('db', state), what: 'StatefulSet shop/db' }]]);
/** With the status of web before. */
const after = (state?: ComponentState, over: Partial<ComponentStatus> = {}): TrafficStack =>
  stackOf([WEB], state === undefined ? {} : { components: [statusOf('web', state, over)] });
function plan(web: ObservedComponent, { stack = after(), before = db('Ready'), now = NOW } = {}) {
  const { status, apply, deadlineAt } = planComponent(web, { stack, before, now, left: [], waves: new Map() });
  return { ...status, applies: apply.map(({ resource }) => resource.kind), deadlineAt };
}

it.each<[string, Parameters<typeof observed>[1], object]>([
  ['is not made', 'none', { state: 'Waiting', reason: 'WaitingForSecret', message: 'no CA', applies: [] }],
  ['is not changed', 'old', { state: 'Waiting', reason: 'WaitingForSecret', applies: [] }],
  ['is corrected if it is current', { available: 2 }, { state: 'Ready', applies: ['Deployment'] }],
])('a component whose objects the operator lacks something for: %s', (_, there, expected) => {
  expect(plan({ ...observed(WEB, there), awaits: 'no CA' })).toMatchObject(expected);
});

describe('the state of a component', () => {
  it.each<[string, ObservedComponent, ComponentState, ComponentState | undefined, ComponentState, string, number]>([
    ['missing, all is ready', observed(WEB, 'none'), 'Ready', undefined, 'Progressing', 'Applying', 1],
    [
      'missing, and something is not',
      observed(WEB, 'none'),
      'Degraded',
      undefined,
      'Waiting',
      'WaitingForDependencies',
      0,
    ],
    ['of an older spec, all is ready', observed(WEB, 'old'), 'Ready', 'Ready', 'Progressing', 'Applying', 1],
    [
      'of an older spec, and something is not',
      observed(WEB, 'old'),
      'Unknown',
      'Ready',
      'Waiting',
      'WaitingForDependencies',
      0,
    ],
    ['current, and its pods too', observed(WEB, { available: 2 }), 'Ready', 'Progressing', 'Ready', 'AllAvailable', 1],
    ['current, whatever it depends on', observed(WEB, { available: 2 }), 'Failed', 'Ready', 'Ready', 'AllAvailable', 1],
    ['current, pods begin', observed(WEB, { available: 1 }), 'Ready', 'Progressing', 'Progressing', 'RollingOut', 1],
    [
      'current, pods are stuck',
      observed(WEB, { available: 1 }, [PULL]),
      'Ready',
      'Progressing',
      'Progressing',
      'ImagePullBackOff',
      1,
    ],
    [
      'current, pods that were ready are not',
      observed(WEB, { available: 1 }),
      'Ready',
      'Ready',
      'Degraded',
      'PodsUnavailable',
      1,
    ],
    [
      'current, and goes on so',
      observed(WEB, { available: 1 }, [PULL]),
      'Ready',
      'Degraded',
      'Degraded',
      'ImagePullBackOff',
      1,
    ],
  ])('that is %s', (_, web, ofDb, before, state, reason, applied) => {
    const planned = plan(web, { before: db(ofDb), stack: after(before) });
    expect([planned.state, planned.reason, planned.applies.length]).toEqual([state, reason, applied]);
  });

  it('is Progressing after another spec, although the status says Ready: the operator was killed before it told', () => {
    const web = { ...observed(WEB, { available: 1 }), revision: 'r2' };
    expect(plan(web, { stack: after('Ready') })).toMatchObject({ state: 'Progressing', deadlineAt: NOW + 60_000 });
  });

  it('is Unknown without a status of its generation', () => {
    const web = observed(WEB, { available: 2 });
    const objects = web.objects.map((each) => ({ ...each, live: live(each.object, 2, { observedGeneration: 0 }) }));
    expect(plan({ ...web, objects })).toMatchObject({ state: 'Unknown', reason: 'StatusMissing' });
  });

  it.each([
    ['is Degraded while pods of one that was ready are made again', 2, 'Degraded'],
    ['is Progressing while it gets more pods than it had', 1, 'Progressing'],
  ])('%s', (_, replicas, state) => {
    const web = observed(WEB, { available: 2 });
    const objects = web.objects.map((each) => ({ ...each, live: live(each.object, 1, { updatedReplicas: 1 }) }));
    expect(plan({ ...web, objects }, { stack: after('Ready', { replicas }) })).toMatchObject({ state });
  });

  it('is Waiting while an object of its name is of a component that is being removed', () => {
    const web = observed(WEB, 'old');
    const objects = web.objects.map((each) => ({ ...each, heldBy: 'site' }));
    expect(plan({ ...web, objects })).toMatchObject({
      ...{ state: 'Waiting', reason: 'WaitingForRemoval', applies: [] },
      message: 'Deployment shop/web is still of the component site, which is being removed',
      blockedBy: ['site'],
      waitingOn: {
        ...{ component: 'site', what: 'Deployment shop/web', since: at(0) },
        observed: 'it still has Deployment shop/web',
      },
    });
    const waitingOn = { component: 'site', what: 'Deployment shop/web', observed: '', since: at(-7) };
    const waits = after('Waiting', { reason: 'WaitingForRemoval', waitingOn });
    expect(plan({ ...web, objects }, { stack: waits }).waitingOn).toMatchObject({ since: at(-7) });
    const removing = statusOf('site', 'Removing', {
      message: 'waits for api, which depends on it and is not gone yet',
    });
    expect(plan({ ...web, objects }, { stack: stackOf([WEB], { components: [removing] }) }).waitingOn).toMatchObject({
      ...{ observed: `Removing: ${removing.message}`, since: at(-10) },
    });
  });

  it('is Failed if an object is of another owner, which is not applied', () => {
    const web = observed(WEB, 'old');
    const objects = web.objects.map((each) => ({ ...each, live: { ...each.live, metadata: { name: 'web' } } }));
    expect(plan({ ...web, objects })).toMatchObject({
      ...{ state: 'Failed', reason: 'ForeignObject', applies: [] },
      message: 'Deployment shop/web exists and is not of this stack: it is left as it is',
    });
    const metadata = { annotations: { 'meta.helm.sh/release-name': 'site' } };
    const ofHelm = web.objects.map((each) => ({ ...each, live: { metadata } }));
    expect(plan({ ...web, objects: ofHelm }).message).toBe(
      'Deployment shop/web exists and is not of this stack, but of the helm release site: it is left as it is',
    );
    const gone = observed(WEB, 'none');
    expect(plan(gone, { stack: after('Failed', { reason: 'ForeignObject' }) })).toMatchObject({ state: 'Progressing' });
  });

  it('keeps the objects of one that waits as they are', () => {
    const spec = component('web', {
      dependsOn: ['db'],
      workload: { ...WEB.workload, services: [{ ports: [{ port: 80 }] }] },
    });
    const web = observed(spec, { available: 2 });
    const objects = web.objects.map((each, n) => ({ ...each, isCurrent: n === 0 }));
    expect(plan({ ...web, objects }, { before: db('Progressing') })).toMatchObject({
      state: 'Waiting',
      applies: ['Service'],
    });
  });

  it('has the figures and the image of its workload', () => {
    expect(plan(observed(WEB, { available: 1 }))).toMatchObject({
      ...{ replicas: 2, readyReplicas: 1, version: 'web:1' },
      message: 'Deployment shop/web: 1 of 2 pods are available',
    });
  });
});

it.each([
  ['with an address becomes headless', '10.0.0.1', true],
  ['without an address gets one', 'None', false],
])('a Service %s: it is deleted first, then created', (_, clusterIP, headless) => {
  const services = [{ ...(headless && { headless }), ports: [{ port: 80 }] }];
  const web = observed(component('web', { workload: { ...WEB.workload, services } }), 'old');
  const [service, workload] = web.objects;
  const live = { ...service!.object, spec: { clusterIP } } as KubeObject;
  const seen = { ...web, objects: [{ ...service!, live }, workload!] };
  const around = { stack: after('Ready'), before: db('Ready'), now: NOW, left: [], waves: new Map() };
  const { apply, drop } = planComponent(seen, around);
  expect(apply.map(({ resource }) => resource.kind)).toEqual(['Deployment']);
  expect(drop).toEqual([{ component: 'web', resource: service!.resource, live }]);
});

describe('the time of a state', () => {
  it.each<[ComponentState, string]>([
    ['Progressing', at(-10)],
    ['Unknown', at(-10)],
    ['Waiting', at(0)],
  ])('after %s', (before, since) => {
    expect(plan(observed(WEB, { available: 1 }), { stack: after(before) }).since).toBe(since);
  });

  it('begins again with another spec', () => {
    const web = { ...observed(WEB, { available: 1 }), revision: 'r2' };
    expect(plan(web, { stack: after('Progressing') }).since).toBe(at(0));
  });
});

describe('the deadline', () => {
  const web = observed(WEB, { available: 1 }, [PULL]);

  it('runs while pods begin', () => {
    expect(plan(web, { stack: after('Progressing') }).deadlineAt).toBe(NOW + 50_000);
    expect(plan(observed(WEB, { available: 2 })).deadlineAt).toBeUndefined();
    expect(plan(observed(WEB, 'none'), { before: db('Waiting') }).deadlineAt).toBeUndefined();
  });

  it('makes the component Failed, with what was observed', () => {
    const now = NOW + 50_000;
    expect(plan(web, { stack: after('Unknown'), now })).toMatchObject({
      ...{ state: 'Failed', reason: 'DeadlineExceeded', since: at(50), applies: ['Deployment'] },
      message:
        'not ready within 60s: Deployment shop/web: 1 of 2 pods are available; pod shop/web-1, container web: ImagePullBackOff',
    });
    expect(plan(web, { stack: after('Unknown'), now: now - 1 }).state).toBe('Progressing');
  });

  it('is 10 minutes by default', () => {
    const unset = observed(component('web', { dependsOn: ['db'] }), { available: 1 }, [PULL]);
    const now = NOW - 10_000 + 600_000;
    expect(plan(unset, { stack: after('Progressing'), now: now - 1 })).toMatchObject({ state: 'Progressing' });
    expect(plan(unset, { stack: after('Progressing'), now }).message).toMatch(/^not ready within 10m:/);
  });

  it('leaves it so until it is ready, or its spec changes', () => {
    const stack = after('Failed', { reason: 'DeadlineExceeded' });
    expect(plan(web, { stack })).toMatchObject({ state: 'Failed', reason: 'DeadlineExceeded', since: at(-10) });
    expect(plan(observed(WEB, 'old'), { stack }).state).toBe('Failed');
    // The write that failed has succeeded since.
    expect(plan(web, { stack: after('Failed', { reason: 'WriteFailed' }) }).reason).toBe('DeadlineExceeded');
    expect(plan(observed(WEB, { available: 2 }), { stack }).state).toBe('Ready');
    // Another image, or another deadline.
    for (const there of ['old', { available: 1 }] as const) {
      const changed = { ...observed(WEB, there), revision: 'r2' };
      expect(plan(changed, { stack })).toMatchObject({ state: 'Progressing', since: at(0), revision: 'r2' });
    }
  });
});

it('a new component waits for the root of a chain of which all has run once', () => {
  const [one, two, three] = [
    component('db'),
    component('api', { dependsOn: ['db'] }),
    component('site', { dependsOn: ['api'] }),
  ];
  const crash = pod('api-1', { waiting: { reason: 'CrashLoopBackOff', message: '' }, lastExit: 1 });
  const { statuses } = planStack({
    stack: stackOf([one, two, three], { components: [one, two].map(({ name }) => statusOf(name, 'Ready')) }),
    components: [
      observed(one, { available: 0 }, [PULL]),
      observed(two, { available: 0 }, [crash]),
      observed(three, 'none'),
    ],
    ...{ left: [], withPods: new Map(), now: NOW },
  });
  expect(statuses).toMatchObject([
    { state: 'Degraded', reason: 'ImagePullBackOff' },
    { state: 'Degraded', reason: 'CrashLoopBackOff' },
    { state: 'Waiting', blockedBy: ['api'], waitingOn: { component: 'db', what: 'Deployment shop/db' } },
  ]);
});
