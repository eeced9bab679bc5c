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
  blocker('begins', { state: 'Progressing' }),
  blocker('waits', { state: 'Waiting', waitingOn: ROOT }),
  blocker('failed', { state: 'Failed' }),
]);
const failed = { component: 'failed', what: 'Deployment shop/failed', observed: 'Failed: of failed', since: at(-10) };

it('is for nothing if all is ready', () => {
  expect(waitFor([], before)).toBeUndefined();
  expect(waitFor(['ready'], before)).toBeUndefined();
});

it.each<[string, string[], string[], WaitingOn]>([
  [
    'one that begins',
    ['ready', 'begins'],
    ['begins'],
    { component: 'begins', what: 'Deployment shop/begins', observed: 'Progressing: of begins', since: at(-10) },
  ],
  ['the root of one that waits', ['waits', 'begins'], ['waits', 'begins'], ROOT],
  ['one that has failed before others', ['waits', 'begins', 'failed'], ['waits', 'begins', 'failed'], failed],
])('is for %s', (_, dependsOn, blockedBy, waitingOn) => {
  expect(waitFor(dependsOn, before)).toEqual({
    ...{ state: 'Waiting', reason: 'WaitingForDependencies', blockedBy, waitingOn },
    message: `waits for ${waitingOn.component}: ${waitingOn.observed}`,
  });
});
