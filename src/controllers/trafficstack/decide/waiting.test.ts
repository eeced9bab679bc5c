import { expect, it } from 'vitest';
import type { ComponentStatus, WaitingOn } from '../../../api/trafficstack/trafficStack.ts';
import { at } from '../testing/stacks.ts';
import { waitFor, type Blocker } from './waiting.ts';

const ROOT: WaitingOn = { component: 'disk', what: 'DaemonSet shop/disk', observed: 'Progressing: m', since: at(-60) };
const blocker = (name: string, over: Partial<ComponentStatus>, dependsOn?: string[]): [string, Blocker] => [
  name,
  {
    dependsOn,
    status: { name, type: 'Workload', state: 'Ready', reason: 'X', message: `of ${name}`, since: at(-10), ...over },
    what: `Deployment shop/${name}`,
  },
];
const before = new Map([
  blocker('ready', {}),
  blocker('begins', { state: 'Progressing', reason: 'RollingOut' }),
  blocker('shifts', { state: 'Progressing', reason: 'Ramping' }),
  blocker('pulls', { state: 'Progressing', reason: 'ImagePullBackOff' }),
  blocker('crashes', { state: 'Progressing', reason: 'CrashLoopBackOff', since: at(-20) }),
  blocker('disk', { state: 'Degraded' }),
  blocker('longFailed', { state: 'Failed', since: at(-20) }),
  blocker('waits', { state: 'Waiting', waitingOn: ROOT }),
  blocker('failed', { state: 'Failed' }),
  ...(['Degraded', 'Progressing', 'Failed', 'Unknown'] as const).map((state) =>
    blocker(`broken${state}`, { state, reason: 'CrashLoopBackOff' }, ['ready', 'pulls']),
  ),
  blocker('far', { state: 'Degraded' }, ['brokenFailed']),
  blocker('readyAgain', { state: 'Degraded' }, ['ready']),
  blocker('behindWaiting', { state: 'Degraded' }, ['waits']),
  blocker('behindTwo', { state: 'Degraded' }, ['begins', 'shifts']),
  blocker('behindFailed', { state: 'Degraded' }, ['begins', 'pulls', 'failed']),
  blocker('foreign', { state: 'Failed', reason: 'ForeignObject' }, ['pulls']),
]);
const root = (component: string, state = 'Progressing'): WaitingOn => ({
  ...{ component, what: `Deployment shop/${component}` },
  ...{ observed: `${state}: of ${component}`, since: at(-10) },
});
const failed = root('failed', 'Failed');

it('is for nothing if all is ready', () => {
  expect(waitFor([], before)).toBeUndefined();
  expect(waitFor(['ready'], before)).toBeUndefined();
});

it.each<[string, string[], string[], WaitingOn]>([
  ['one that begins', ['ready', 'begins'], ['begins'], root('begins')],
  ['the root of one that waits', ['begins', 'waits'], ['begins', 'waits'], ROOT],
  ['one with a fault before one that may need time', ['begins', 'pulls'], ['begins', 'pulls'], root('pulls')],
  ['a weight that is on its way only needs time, too', ['shifts', 'pulls'], ['shifts', 'pulls'], root('pulls')],
  [
    'that which has had a fault for longest',
    ['pulls', 'crashes'],
    ['pulls', 'crashes'],
    { ...root('crashes'), since: at(-20) },
  ],
  [
    'the first that has failed',
    ['failed', 'longFailed'],
    ['failed', 'longFailed'],
    { ...root('longFailed', 'Failed'), since: at(-20) },
  ],
  ['one that has failed before others', ['waits', 'begins', 'failed'], ['waits', 'begins', 'failed'], failed],
  ...['Degraded', 'Progressing', 'Failed', 'Unknown'].map((state): [string, string[], string[], WaitingOn] => [
    `what one that is ${state} depends on`,
    [`broken${state}`],
    [`broken${state}`],
    root('pulls'),
  ]),
  ['what is two steps away', ['far'], ['far'], root('pulls')],
  ['one whose dependencies are ready', ['readyAgain'], ['readyAgain'], root('readyAgain', 'Degraded')],
  ['the root of one that waits, behind one that runs', ['behindWaiting'], ['behindWaiting'], ROOT],
  ['the first dependency of one that runs', ['behindTwo'], ['behindTwo'], root('begins')],
  ['the dependency that has failed, of one that runs', ['behindFailed'], ['behindFailed'], failed],
  ['one whose object is in the way', ['foreign'], ['foreign'], root('foreign', 'Failed')],
])('is for %s', (_, dependsOn, blockedBy, waitingOn) => {
  expect(waitFor(dependsOn, before)).toEqual({
    ...{ state: 'Waiting', reason: 'WaitingForDependencies', blockedBy, waitingOn },
    message: `waits for ${waitingOn.component}: ${waitingOn.observed}`,
  });
});

it('finds the root of many broken components that depend on all before them', () => {
  const names = Array.from({ length: 200 }, (_, number) => `c${number}`);
  const all = names.map((name, number) => blocker(name, { state: 'Degraded' }, names.slice(0, number)));
  expect(waitFor(names, new Map(all))?.waitingOn).toEqual(root('c0', 'Degraded'));
});
