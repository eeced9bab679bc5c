import { expect, it } from 'vitest';
import type { ComponentStatus, WaitingOn } from '../../../api/trafficstack/trafficStack.ts';
import { at } from '../testing/stacks.ts';
import { waitFor, type Blocker } from './waiting.ts';

const ROOT: WaitingOn = { component: 'disk', what: 'DaemonSet shop/disk', observed: 'Progressing: m', since: at(-60) };
const blocker = (name: string, over: Partial<ComponentStatus>): [string, Blocker] => [
  name,
  {
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
])('is for %s', (_, dependsOn, blockedBy, waitingOn) => {
  expect(waitFor(dependsOn, before)).toEqual({
    ...{ state: 'Waiting', reason: 'WaitingForDependencies', blockedBy, waitingOn },
    message: `waits for ${waitingOn.component}: ${waitingOn.observed}`,
  });
});
