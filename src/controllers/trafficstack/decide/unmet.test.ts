import { describe, expect, it } from 'vitest';
import type { ReadySpec } from '../../../api/trafficstack/trafficStack.ts';
import type { Answer, TimedFacts } from '../model/observation.ts';
import { answered, at, component, NOW, observed, REVISION, seenSince, stackOf } from '../testing/stacks.ts';
import { planComponent } from './component.ts';

const QUERY: ReadySpec = { query: 'up{job="web"} == 1' };
const TRUE = answered({ is: 'True' });
const FALSE = answered({ is: 'False', message: 'gives no series' });
const NONE = answered({ is: 'Unknown', message: 'refused' });
/** Its pods are available since its query was asked. */
const SINCE_THEN = seenSince(0, 'web');

interface Scene {
  readonly answer?: Answer;
  readonly prior?: 'Ready' | 'Degraded';
  readonly revision?: string;
  readonly seen?: TimedFacts | undefined;
}

/** The decision about a component whose pods are all available. */
function planned(ready: ReadySpec, scene: Scene) {
  const { answer, prior, revision = REVISION } = scene;
  const seen = 'seen' in scene ? scene.seen : SINCE_THEN;
  const spec = component('web', { ready });
  const before = { name: 'web', type: 'Workload', reason: 'x', message: '', since: at(-60), replicas: 2 } as const;
  const stack = stackOf([spec], prior && { components: [{ ...before, state: prior, revision }] });
  const web = { ...observed(spec, { available: 2 }, [], stack), ...(answer && { answer }) };
  return planComponent(web, { stack, before: new Map(), left: [], waves: new Map(), seen, now: NOW });
}
function stateOf(ready: ReadySpec, scene: Scene = {}): string {
  const { state, reason, message } = planned(ready, scene).status;
  return `${state} ${reason}: ${message}`;
}
const AVAILABLE = 'Deployment shop/web: 2 of 2 pods are available';

describe('an expression', () => {
  it.each([
    ['true', 'workload.status.availableReplicas >= self.replicas', `Ready AllAvailable: ${AVAILABLE}`],
    [
      'false',
      'workload.status.availableReplicas > 2',
      `Progressing NotReadyYet: ${AVAILABLE}; ready.expression "workload.status.availableReplicas > 2" is false`,
    ],
    [
      'about a field that is not there yet',
      'workload.status.x == 1',
      `Progressing NotReadyYet: ${AVAILABLE}; ready.expression "workload.status.x == 1": No such key: x`,
    ],
    [
      'no bool',
      'workload.status.availableReplicas',
      `Progressing NotReadyYet: ${AVAILABLE}; ready.expression "workload.status.availableReplicas" gives no bool`,
    ],
  ])('that is %s', (_, expression, expected) => {
    expect(stateOf({ expression })).toBe(expected);
  });

  it('that is no longer true makes a ready component degraded', () => {
    expect(stateOf({ expression: 'false' }, { prior: 'Ready' })).toMatch(/^Degraded NotReadyYet/);
    expect(stateOf({ expression: 'false' }, { prior: 'Degraded' })).toMatch(/^Degraded NotReadyYet/);
  });
});

it('a component that was ready is not new after its query had no answer: it has no deadline, and is Degraded after that', () => {
  const spec = component('web', { ready: QUERY, deadline: '1m' });
  let stack = stackOf([spec]);
  let now = NOW;
  const after = (seconds: number, answer: Answer, available = 2) => {
    now += seconds * 1_000;
    const web = { ...observed(spec, { available }, [], stack), answer };
    const around = { stack, before: new Map(), left: [], waves: new Map(), seen: SINCE_THEN, now };
    const { status, deadlineAt } = planComponent(web, around);
    stack = stackOf([spec], { components: [status] });
    return `${status.state} ${status.readyRevision ?? ''} ${deadlineAt ?? ''}`.trim();
  };
  expect(after(0, TRUE)).toBe('Ready r1');
  expect(after(9, NONE)).toBe('Unknown r1');
  expect(after(3_600, NONE)).toBe('Unknown r1');
  expect(after(1, FALSE)).toBe('Degraded r1');
  expect(after(1, { is: 'Pending' })).toBe('Unknown r1');
  expect(after(1, TRUE, 1)).toBe('Degraded r1');
});

describe('a query', () => {
  it.each<[string, Answer, string]>([
    ['is true', TRUE, 'Ready AllAvailable'],
    ['is false', FALSE, 'Progressing NotReadyYet'],
    ['has no answer', NONE, 'Unknown NotReadyYet'],
    ['is not asked yet', { is: 'Pending' }, 'Unknown NotReadyYet'],
  ])('that %s', (_, answer, state) => {
    expect(stateOf(QUERY, { answer })).toMatch(new RegExp(`^${state}: `));
  });

  it('that is false is reported with its result', () => {
    expect(stateOf(QUERY, { answer: FALSE })).toBe(
      `Progressing NotReadyYet: ${AVAILABLE}; ready.query "up{job="web"} == 1" gives no series`,
    );
  });

  it('that is not asked yet, as after a restart, leaves a ready component ready, unless its spec has changed', () => {
    const answer: Answer = { is: 'Pending' };
    expect(stateOf(QUERY, { answer, prior: 'Ready' })).toMatch(/^Ready/);
    expect(stateOf(QUERY, { answer, prior: 'Ready', revision: 'older' })).toMatch(/^Unknown/);
    expect(stateOf(QUERY, { answer: NONE, prior: 'Ready' })).toMatch(/^Unknown/);
  });

  it.each<[string, Answer, TimedFacts | undefined, number]>([
    ['pods became available', answered({ is: 'True' }, 3), seenSince(4, 'web'), 4],
    ['pods became available, also if it is false', answered({ is: 'False', message: '' }, 3), seenSince(4, 'web'), 4],
    ['pods are seen as available for the first time', TRUE, undefined, Infinity],
  ])('that was sent before its %s does not count, and is asked again', (_, answer, seen, since) => {
    expect(stateOf(QUERY, { answer, seen })).toBe(
      `Unknown NotReadyYet: ${AVAILABLE}; ready.query "up{job="web"} == 1" is asked again`,
    );
    const revision = 'older';
    expect(stateOf(QUERY, { answer, seen, prior: 'Ready', revision })).toMatch(/^Unknown .*is asked again$/);
    expect(planned(QUERY, { answer, seen })).toMatchObject({ isAvailable: true, requery: { ...QUERY, since } });
  });

  it('that was sent at any time counts for a component that is ready with this spec', () => {
    expect(stateOf(QUERY, { answer: TRUE, seen: undefined, prior: 'Ready' })).toMatch(/^Ready/);
    expect(stateOf(QUERY, { answer: FALSE, seen: undefined, prior: 'Ready' })).toMatch(/^Degraded/);
  });
});
