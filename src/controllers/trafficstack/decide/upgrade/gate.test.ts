import { describe, expect, it } from 'vitest';
import { DEPLOYMENTS } from '../../../../runtime/client/resources.ts';
import type { Answer, LeftObject, Seen } from '../../observe/observation.ts';
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

interface Scene {
  readonly answer?: Answer;
  readonly web: There;
  readonly api?: There;
  readonly left?: LeftObject[];
  /** Default: all are what they are since the query was asked. */
  readonly seen?: Seen | undefined;
}

function plan(scene: Scene) {
  const { answer, web, api = 'old', left = [] } = scene;
  const ready = { type: 'Workload' as const, state: 'Ready' as const, reason: '', message: '', since: at(-10) };
  const status = ['db', 'web', 'api'].map((name) => ({ ...ready, name, revision: REVISION, replicas: 2 }));
  return planStack({
    stack: stackOf([DB, WEB, API], { components: status }),
    components: [observed(DB, { available: 2 }), observed(WEB, web), observed(API, api)],
    ...(answer && { gate: { query: 'up == 1', answer } }),
    ...{ left, withPods: new Set<string>(), now: NOW },
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
  expect(web).toMatchObject({ state: 'Waiting', message, replicas: 2, readyReplicas: 2 });
  expect(api).toMatchObject({
    ...{ state: 'Waiting', reason: 'WaitingForDependencies', blockedBy: ['web'] },
    waitingOn: { component: 'web', what: 'Deployment shop/web', observed: `Waiting: ${message}`, since: at(0) },
  });
});

describe('an answer to what was sent before', () => {
  const waits = 'waits to be changed: upgrade.query "up == 1" is asked again';
  const seenAt = (db: number, api: number): Seen => {
    const [one, other] = [seenSince(db, 'db'), seenSince(api, 'api')];
    return { ...one, settled: new Map([...one.settled, ...other.settled]) };
  };

  it.each<[string, Scene, number]>([
    ['the component before became ready', { web: 'old', seen: seenAt(4, 0) }, 4],
    ['another component became ready, which does not come before', { web: 'old', seen: seenAt(0, 4) }, 4],
    ['the component before is seen as ready for the first time', { web: 'old', seen: undefined }, Infinity],
    [
      'the component before became ready with another revision',
      { web: 'old', seen: { ...seenAt(0, 0), settled: new Map([['db', { as: 'Ready r0', at: 0 }]]) } },
      Infinity,
    ],
  ])('%s does not count, and the query is asked again', (_, scene, since) => {
    const early = plan({ ...scene, answer: answered({ is: 'True' }, 3) });
    expect(early.statuses[1]).toMatchObject({ reason: 'WaitingForGate', message: waits });
    expect(early.apply.map(({ component: name }) => name)).not.toContain('web');
    expect(early.askAgain).toEqual(new Map([['up == 1', since]]));
    const late = plan({ ...scene, answer: answered({ is: 'True' }, since) });
    expect([late.statuses[1]?.reason, late.askAgain.size]).toEqual(['Applying', 0]);
  });

  it('a component of the same wave began to change counts: both are changed at once', () => {
    const two = [component('one'), component('two')];
    const ready = { type: 'Workload' as const, state: 'Ready' as const, reason: '', message: '', since: at(-10) };
    const planned = planStack({
      stack: stackOf(two, { components: two.map(({ name }) => ({ ...ready, name, revision: REVISION })) }),
      components: two.map((each) => observed(each, 'old')),
      gate: { query: 'up == 1', answer: OPEN },
      ...{ left: [], withPods: new Set<string>(), seen: seenSince(-1, 'one', 'two'), now: NOW },
    });
    expect(planned.statuses.map(({ reason }) => reason)).toEqual(['Applying', 'Applying']);
  });

  it('is nothing to a stack without a change', () => {
    const planned = plan({ answer: OPEN, web: { available: 2 }, api: { available: 2 }, seen: undefined });
    expect(planned.askAgain).toEqual(new Map());
  });
});
