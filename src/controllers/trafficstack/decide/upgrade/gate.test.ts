import { describe, expect, it } from 'vitest';
import { DEPLOYMENTS } from '../../../../runtime/client/resources.ts';
import type { Answer, LeftObject } from '../../observe/observation.ts';
import { at, component, NOW, observed, REVISION, stackOf, type There } from '../../testing/stacks.ts';
import { planStack } from '../plan.ts';

const DB = component('db');
const WEB = component('web', { dependsOn: ['db'] });
const API = component('api', { dependsOn: ['web'] });
const CLOSED: Answer = { is: 'False', message: 'gives 0' };
const OLD_NAME: LeftObject = { component: 'web', resource: DEPLOYMENTS, live: { metadata: { name: 'site' } } };

function plan({ answer, web, left = [] }: { answer?: Answer; web: There; left?: LeftObject[] }) {
  const ready = { type: 'Workload' as const, state: 'Ready' as const, reason: '', message: '', since: at(-10) };
  const status = ['db', 'web', 'api'].map((name) => ({ ...ready, name, revision: REVISION, replicas: 2 }));
  return planStack({
    stack: stackOf([DB, WEB, API], { components: status }),
    components: [observed(DB, { available: 2 }), observed(WEB, web), observed(API, 'old')],
    ...(answer && { gate: { query: 'up == 1', answer } }),
    ...{ left, withPods: new Set<string>(), now: NOW },
  });
}

describe('a component whose objects', () => {
  it.each<[string, There, Answer | undefined, string, LeftObject[]]>([
    ['differ, without a gate', 'old', undefined, 'Applying', []],
    ['differ, the query is true', 'old', { is: 'True' }, 'Applying', []],
    ['differ, the query is false', 'old', CLOSED, 'WaitingForGate', []],
    ['differ, there is no answer', 'old', { is: 'Unknown', message: 'timeout' }, 'WaitingForGate', []],
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
