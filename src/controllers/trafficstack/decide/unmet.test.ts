import { describe, expect, it } from 'vitest';
import type { ReadySpec } from '../../../api/trafficstack/trafficStack.ts';
import type { Answer } from '../observe/observation.ts';
import { at, component, NOW, observed, REVISION, stackOf } from '../testing/stacks.ts';
import { planComponent } from './component.ts';

const QUERY: ReadySpec = { query: 'up{job="web"} == 1' };
/** The state of a component whose pods are all available. */
function stateOf(ready: ReadySpec, answer?: Answer, prior?: 'Ready' | 'Degraded', revision = REVISION) {
  const spec = component('web', { ready });
  const before = { name: 'web', type: 'Workload', reason: 'x', message: '', since: at(-60), replicas: 2 } as const;
  const stack = stackOf([spec], prior && { components: [{ ...before, state: prior, revision }] });
  const seen = { ...observed(spec, { available: 2 }, [], stack), ...(answer && { answer }) };
  const { state, reason, message } = planComponent(seen, { stack, before: new Map(), left: [], now: NOW }).status;
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

  it('that is not true any more makes a ready component degraded', () => {
    expect(stateOf({ expression: 'false' }, undefined, 'Ready')).toMatch(/^Degraded NotReadyYet/);
    expect(stateOf({ expression: 'false' }, undefined, 'Degraded')).toMatch(/^Degraded NotReadyYet/);
  });
});

it('a component that was ready is not new after its query had no answer: it has no deadline, and is Degraded after that', () => {
  const spec = component('web', { ready: QUERY, deadline: '1m' });
  let stack = stackOf([spec]);
  let now = NOW;
  const after = (seconds: number, answer: Answer, available = 2) => {
    now += seconds * 1_000;
    const seen = { ...observed(spec, { available }, [], stack), answer };
    const { status, deadlineAt } = planComponent(seen, { stack, before: new Map(), left: [], now });
    stack = stackOf([spec], { components: [status] });
    return `${status.state} ${status.readyRevision ?? ''} ${deadlineAt ?? ''}`.trim();
  };
  expect(after(0, { is: 'True' })).toBe('Ready r1');
  expect(after(9, { is: 'Unknown', message: 'refused' })).toBe('Unknown r1');
  expect(after(3_600, { is: 'Unknown', message: 'refused' })).toBe('Unknown r1');
  expect(after(1, { is: 'False', message: 'gives 0' })).toBe('Degraded r1');
  expect(after(1, { is: 'Pending' })).toBe('Unknown r1');
  expect(after(1, { is: 'True' }, 1)).toBe('Degraded r1');
});

describe('a query', () => {
  it.each<[string, Answer, string]>([
    ['is true', { is: 'True' }, 'Ready AllAvailable'],
    ['is false', { is: 'False', message: 'gives no series' }, 'Progressing NotReadyYet'],
    ['has no answer', { is: 'Unknown', message: 'refused' }, 'Unknown NotReadyYet'],
    ['is not asked yet', { is: 'Pending' }, 'Unknown NotReadyYet'],
  ])('that %s', (_, answer, state) => {
    expect(stateOf(QUERY, answer)).toMatch(new RegExp(`^${state}: `));
  });

  it('that is false is told with what it gives', () => {
    expect(stateOf(QUERY, { is: 'False', message: 'gives no series' })).toBe(
      `Progressing NotReadyYet: ${AVAILABLE}; ready.query "up{job="web"} == 1" gives no series`,
    );
  });

  it('that is not asked yet, as after a restart, leaves a ready component ready, unless its spec has changed', () => {
    expect(stateOf(QUERY, { is: 'Pending' }, 'Ready')).toMatch(/^Ready/);
    expect(stateOf(QUERY, { is: 'Pending' }, 'Ready', 'older')).toMatch(/^Unknown/);
    expect(stateOf(QUERY, { is: 'Unknown', message: 'refused' }, 'Ready')).toMatch(/^Unknown/);
  });
});
