import { describe, expect, it } from 'vitest';
import type { ComponentStatus } from '../../../../api/trafficstack/trafficStack.ts';
import { CONFIG_MAPS, DEPLOYMENTS } from '../../../../runtime/client/resources.ts';
import type { Answer, LeftObject, TimedFacts } from '../../model/observation.ts';
import {
  answered,
  at,
  component,
  NOW,
  observed,
  REVISION,
  seenSince,
  stackOf,
  type There,
} from '../../testing/stacks.ts';
import { planStack } from '../plan.ts';

const DB = component('db');
const WEB = component('web', { dependsOn: ['db'] });
const API = component('api', { dependsOn: ['web'] });
const OPEN = answered({ is: 'True' });
const CLOSED = answered({ is: 'False', message: 'gives 0' });
const OLD_NAME: LeftObject = { component: 'web', resource: DEPLOYMENTS, live: { metadata: { name: 'site' } } };
const OLD_FILES: LeftObject = { component: 'web', resource: CONFIG_MAPS, live: { metadata: { name: 'web-etc-1' } } };

interface Scene {
  readonly answer?: Answer;
  readonly web: There;
  readonly api?: There;
  readonly left?: LeftObject[];
  /** Default: all are what they are since the query was asked. */
  readonly seen?: TimedFacts | undefined;
}

function plan(scene: Scene) {
  const { answer, web, api = 'old', left = [] } = scene;
  const ready = { type: 'Workload' as const, state: 'Ready' as const, reason: '', message: '', since: at(-10) };
  const status = ['db', 'web', 'api'].map((name) => ({ ...ready, name, revision: REVISION, replicas: 2 }));
  return planStack({
    stack: stackOf([DB, WEB, API], { components: status }),
    components: [observed(DB, { available: 2 }), observed(WEB, web), observed(API, api)],
    ...(answer && { gate: { query: 'up == 1', answer } }),
    ...{ left, withPods: new Map(), now: NOW },
    seen: 'seen' in scene ? scene.seen : seenSince(0, 'db', 'web', 'api'),
  });
}

describe('a component whose objects', () => {
  it.each<[string, There, Answer | undefined, string, LeftObject[]]>([
    ['differ, without a gate', 'old', undefined, 'Applying', []],
    ['differ, the query is true', 'old', OPEN, 'Applying', []],
    ['differ, the query is false', 'old', CLOSED, 'WaitingForGate', []],
    ['differ, there is no answer', 'old', answered({ is: 'Unknown', message: 'timeout' }), 'WaitingForGate', []],
    ['differ, it is not asked yet', 'old', { is: 'Pending' }, 'WaitingForGate', []],
    ['are missing: it is created', 'none', CLOSED, 'Applying', []],
    ['are missing, and are there under an older name', 'none', CLOSED, 'WaitingForGate', [OLD_NAME]],
    ['are missing: somebody deleted it while its files are replaced', 'none', CLOSED, 'Applying', [OLD_FILES]],
    ['are current', { available: 2 }, CLOSED, 'AllAvailable', []],
    ['are current, and older ones of it are there', { available: 2 }, CLOSED, 'AllAvailable', [OLD_NAME]],
  ])('%s', (_, web, answer, reason, left) => {
    const planned = plan({ web, left, ...(answer && { answer }) });
    expect(planned.statuses[1]?.reason).toBe(reason);
    const applied = planned.apply.map(({ component: name }) => name);
    expect(applied.includes('web')).toBe(reason !== 'WaitingForGate');
  });
});

it('names the query and what it gives, also to the components behind it', () => {
  const [, web, api] = plan({ web: 'old', answer: CLOSED }).statuses;
  const message = 'waits to be changed: upgrade.query "up == 1" gives 0';
  const waitingOn = {
    component: 'web',
    what: 'upgrade.query',
    observed: 'upgrade.query "up == 1" gives 0',
    since: at(0),
  };
  expect(web).toMatchObject({ state: 'Waiting', message, replicas: 2, readyReplicas: 2, waitingOn });
  expect(api).toMatchObject({
    ...{ state: 'Waiting', reason: 'WaitingForDependencies', blockedBy: ['web'] },
    waitingOn,
  });
});

describe('an answer to what was sent before', () => {
  const waits = 'waits to be changed: upgrade.query "up == 1" is asked again';
  const seenAt = (db: number, api: number): TimedFacts => {
    const [one, other] = [seenSince(db, 'db'), seenSince(api, 'api')];
    return { ...one, stable: new Map([...one.stable, ...other.stable]) };
  };

  it.each<[string, Scene, number]>([
    ['the component before became ready', { web: 'old', seen: seenAt(4, 0) }, 4],
    ['another component became ready, which does not come before', { web: 'old', seen: seenAt(0, 4) }, 4],
    ['the component before is seen as ready for the first time', { web: 'old', seen: undefined }, Infinity],
    [
      'the component before became ready with another revision',
      { web: 'old', seen: { ...seenAt(0, 0), stable: new Map([['db', { as: 'Ready r0', at: 0 }]]) } },
      Infinity,
    ],
  ])('%s does not count, and the query is asked again', (_, scene, since) => {
    const early = plan({ ...scene, answer: answered({ is: 'True' }, 3) });
    expect(early.statuses[1]).toMatchObject({ reason: 'WaitingForGate', message: waits });
    expect(early.apply.map(({ component: name }) => name)).not.toContain('web');
    expect(early.requery).toEqual(new Map([['up == 1', since]]));
    const late = plan({ ...scene, answer: answered({ is: 'True' }, since) });
    expect([late.statuses[1]?.reason, late.requery.size]).toEqual(['Applying', 0]);
  });

  it('a component of the same wave began to change counts: both are changed at once', () => {
    const two = [component('one'), component('two')];
    const ready = { type: 'Workload' as const, state: 'Ready' as const, reason: '', message: '', since: at(-10) };
    const planned = planStack({
      stack: stackOf(two, { components: two.map(({ name }) => ({ ...ready, name, revision: REVISION })) }),
      components: two.map((each) => observed(each, 'old')),
      gate: { query: 'up == 1', answer: OPEN },
      ...{ left: [], withPods: new Map(), seen: seenSince(-1, 'one', 'two'), now: NOW },
    });
    expect(planned.statuses.map(({ reason }) => reason)).toEqual(['Applying', 'Applying']);
  });

  it('is nothing to a stack without a change', () => {
    const planned = plan({ answer: OPEN, web: { available: 2 }, api: { available: 2 }, seen: undefined });
    expect(planned.requery).toEqual(new Map());
  });
});

/** The revision of the change before, instead of which another spec is asked for. */
const BEFORE = { revision: 'r0' };
const FAILED = { ...BEFORE, state: 'Failed', reason: 'DeadlineExceeded' } as const;
const UNREADY = { ...BEFORE, state: 'Waiting', reason: 'WaitingForDependencies', unreadyRevision: 'r-1' } as const;
const READY_QUERY = { ready: { query: 'up' } };

describe('a component of a change that', () => {
  it.each<[string, Partial<ComponentStatus>, number, boolean, typeof READY_QUERY?]>([
    ['has failed', FAILED, 0, false],
    ['has begun', { ...BEFORE, state: 'Progressing', reason: 'CrashLoopBackOff' }, 1, false],
    ['is being written', { ...BEFORE, state: 'Progressing', reason: 'Applying' }, 0, false],
    ['has no status of its pods', { ...BEFORE, state: 'Unknown', reason: 'StatusMissing' }, 1, false],
    ['its query says is not ready', { ...BEFORE, state: 'Progressing', reason: 'NotReadyYet' }, 2, false],
    ['has failed by its query', FAILED, 2, false, READY_QUERY],
    ['has failed, and was not written', FAILED, 2, true],
    ['is not written', { ...BEFORE, state: 'Progressing', reason: 'WriteFailed' }, 2, true],
    ['was ready', { ...BEFORE, state: 'Ready', readyRevision: 'r0' }, 2, true],
    ['was ready, and pods have a fault', { ...BEFORE, state: 'Degraded', readyRevision: 'r0' }, 1, true],
    ['was ready, and is Unknown', { ...BEFORE, state: 'Unknown', readyRevision: 'r0' }, 1, true],
    ['waits already', { ...BEFORE, state: 'Waiting', reason: 'WaitingForGate' }, 1, true],
    ['waits, after one that was never ready', UNREADY, 1, false],
    ['waits, after one that is ready by now', UNREADY, 2, true],
    ['waits, after one that its query said is not ready', UNREADY, 2, false, READY_QUERY],
    ['was rolled back', { ...FAILED, rolledBackFrom: { revision: 'r0', message: '' } }, 1, true],
    ['is in the way of somebody', { ...FAILED, reason: 'ForeignObject' }, 1, true],
    ['is on its way', { ...BEFORE, state: 'Progressing', reason: 'Ramping' }, 1, true],
  ])('%s is held at the closed gate, or not', (_, prior, available, isHeld, over) => {
    const spec = component('web', over);
    const status: ComponentStatus = {
      name: 'web',
      type: 'Workload',
      state: 'Ready',
      reason: '',
      message: '',
      since: at(-10),
    };
    const { objects, ...others } = observed(spec, { available });
    const planned = planStack({
      stack: stackOf([spec], { components: [{ ...status, ...prior }] }),
      components: [{ ...others, objects: objects.map((each) => ({ ...each, isCurrent: false })) }],
      gate: { query: 'up == 1', answer: CLOSED },
      ...{ left: [], withPods: new Map(), now: NOW, seen: seenSince(0) },
    });
    expect(planned.statuses[0]?.reason).toBe(isHeld ? 'WaitingForGate' : 'Applying');
  });
});

it.each<[string, Partial<ComponentStatus>, There, string | undefined]>([
  ['is new', {}, 'none', REVISION],
  ['is applied', { ...BEFORE, state: 'Ready', readyRevision: 'r0' }, 'old', REVISION],
  [
    'is not ready yet',
    { state: 'Progressing', revision: REVISION, unreadyRevision: REVISION },
    { available: 1 },
    REVISION,
  ],
  ['has failed', { ...FAILED, revision: REVISION, unreadyRevision: REVISION }, { available: 1 }, REVISION],
  ['is ready', { state: 'Progressing', revision: REVISION, unreadyRevision: REVISION }, { available: 2 }, undefined],
  ['is applied again', { ...BEFORE, revision: REVISION, state: 'Ready', readyRevision: REVISION }, 'old', undefined],
  [
    'is not ready after that',
    { state: 'Progressing', revision: REVISION, lastReadyRevision: REVISION },
    { available: 1 },
    undefined,
  ],
  ['has a fault since', { state: 'Ready', revision: REVISION, readyRevision: REVISION }, { available: 1 }, undefined],
])('a component that %s has the revision with which it was never ready', (_, prior, there, unready) => {
  const spec = component('web');
  const status = { name: 'web', type: 'Workload', state: 'Waiting', reason: '', message: '', since: at(-10) } as const;
  const planned = planStack({
    stack: stackOf([spec], { components: [{ ...status, ...prior }] }),
    components: [observed(spec, there)],
    ...{ left: [], withPods: new Map(), now: NOW, seen: seenSince(0) },
  });
  expect(planned.statuses[0]?.unreadyRevision).toBe(unready);
});

it.each<[string, There, string | undefined]>([
  ['keeps the revision with which it was never ready', { available: 1 }, 'r0'],
  ['forgets it when all its pods are available', { available: 2 }, undefined],
])('a component that waits %s', (_, there, unready) => {
  const specs = [component('db'), component('web', { dependsOn: ['db'] })];
  const status = { type: 'Workload', state: 'Progressing', reason: '', message: '', since: at(-10) } as const;
  const before = specs.map(({ name }) => ({ ...status, ...BEFORE, name, unreadyRevision: 'r0' }));
  const { objects, ...web } = observed(specs[1]!, there);
  const planned = planStack({
    stack: stackOf(specs, { components: before }),
    components: [
      observed(specs[0]!, 'old'),
      { ...web, objects: objects.map((each) => ({ ...each, isCurrent: false })), awaits: 'no CA' },
    ],
    ...{ left: [], withPods: new Map(), now: NOW, seen: seenSince(0) },
  });
  const found = planned.statuses.map(({ state, unreadyRevision }) => [state, unreadyRevision]);
  expect(found).toEqual([
    ['Progressing', REVISION],
    ['Waiting', unready],
  ]);
});
