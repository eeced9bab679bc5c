import { describe, expect, it } from 'vitest';
import type { ComponentState } from '../../../api/trafficstack/terms.ts';
import type { ComponentStatus } from '../../../api/trafficstack/trafficStack.ts';
import { at } from '../testing/stacks.ts';
import { componentEvents } from './componentEvents.ts';

const is = (state: ComponentState, over: Partial<ComponentStatus> = {}): ComponentStatus => {
  return { name: 'db', type: 'Workload', state, reason: 'X', message: 'why', since: at(0), revision: 'r1', ...over };
};
/** While nothing is decided. */
const undecided = (state: ComponentState, over: Partial<ComponentStatus> = {}) =>
  is('Unknown', { lastDecided: is(state), ...over });
/** A stack that is looked at for the first time. */
const unseen = is('Unknown', { reason: 'NotDecided', revision: undefined });
const READY = is('Ready', { replicas: 2, readyRevision: 'r1' });
const APPLYING = is('Progressing', { reason: 'Applying' });
const MISSING = { mode: 'External', reason: 'ExternalMissing' } as const;
const rolling = (reason: string, revision = 'r2') =>
  is('Failed', { reason, rolledBackFrom: { revision, version: 'db:2', message: 'late' } });
const undecidedRolling = (reason: string): ComponentStatus => {
  const { rolledBackFrom } = rolling(reason);
  return undecided('Failed', { lastDecided: is('Failed', { reason }), ...(rolledBackFrom && { rolledBackFrom }) });
};
const ROLLING_BACK =
  'Warning ComponentRollingBack: db gets its last ready revision back instead of the revision r2 (db:2), which has failed';

type Row = [name: string, before: ComponentStatus | undefined, after: ComponentStatus, ...told: string[]];

function expectEvents(before: ComponentStatus | undefined, after: ComponentStatus, told: readonly string[]): void {
  const events = componentEvents(before && [before], [after]);
  expect(events.map(({ type, reason, note }) => `${type} ${reason}: ${note}`)).toEqual(told);
}

const WAITING_TOLD = 'Normal ComponentWaiting: db is Waiting: why';
const STARTED_TOLD = 'Normal ComponentStarted: db is Progressing: why';
const READY_TOLD = 'Normal ComponentReady: db is Ready: why';
const RECOVERED_TOLD = 'Normal ComponentRecovered: db is Ready again: why';
const FAILED_TOLD = 'Warning ComponentFailed: db is Failed: why';

describe('faults: a component that', () => {
  it.each<Row>([
    ['fails', is('Progressing'), is('Failed'), FAILED_TOLD],
    ['fails at once', undefined, is('Failed'), FAILED_TOLD],
    ['fails after it was degraded', is('Degraded'), is('Failed'), FAILED_TOLD],
    ['is degraded', is('Ready'), is('Degraded'), 'Warning ComponentDegraded: db is Degraded: why'],
    ['is ready after a failure', is('Failed'), is('Ready'), RECOVERED_TOLD],
    ['is ready after it was degraded', is('Degraded'), is('Ready'), RECOVERED_TOLD],
    ['has another message', is('Failed', { message: 'before' }), is('Failed')],
    ['is not decided', is('Failed'), undecided('Failed')],
    ['is decided again', undecided('Failed'), is('Failed')],
    ['has recovered meanwhile', undecided('Failed'), is('Ready'), RECOVERED_TOLD],
  ])('%s', (_, before, after, ...told) => expectEvents(before, after, told));
});

describe('waiting: a component that', () => {
  it.each<Row>([
    ['waits from the first status on', undefined, is('Waiting'), WAITING_TOLD],
    ['waits when it is looked at', unseen, is('Waiting'), WAITING_TOLD],
    ['waits to be changed', READY, is('Waiting'), WAITING_TOLD],
    ['waits for something else', is('Waiting', { message: 'for another component' }), is('Waiting')],
    ['waits for the gate next', is('Waiting', { reason: 'WaitingForDependencies' }), is('Waiting'), WAITING_TOLD],
    ['was waiting while nothing was decided', undecided('Waiting'), is('Waiting')],
    ['is not decided', is('Waiting'), undecided('Waiting')],
    [
      'needs an object of another owner',
      undefined,
      is('Progressing', MISSING),
      'Normal ComponentWaiting: db is Progressing: why',
    ],
    [
      'has it, and cannot use it',
      is('Progressing', MISSING),
      is('Progressing', { ...MISSING, reason: 'ExternalUnusable' }),
    ],
  ])('%s', (_, before, after, ...told) => expectEvents(before, after, told));
});

describe('start and change: a component that', () => {
  it.each<Row>([
    ['is created at once', undefined, APPLYING, STARTED_TOLD],
    ['is created when it is looked at', unseen, APPLYING, STARTED_TOLD],
    ['is created after it waited', is('Waiting'), APPLYING, STARTED_TOLD],
    ['was created by an operator that was killed then', is('Waiting'), is('Progressing'), STARTED_TOLD],
    ['is changed', READY, is('Progressing', { revision: 'r2', replicas: 2 }), STARTED_TOLD],
    ['is changed while it starts', APPLYING, is('Progressing', { revision: 'r2' }), STARTED_TOLD],
    ['is changed after a failure', is('Failed'), is('Progressing', { revision: 'r2' }), STARTED_TOLD],
    ['has its name, which was another owner’s', is('Failed', { reason: 'ForeignObject' }), APPLYING, STARTED_TOLD],
    ['is wanted again while it is removed', is('Removing', { revision: undefined }), APPLYING, STARTED_TOLD],
    ['was deleted by somebody', READY, APPLYING, STARTED_TOLD],
    ['was deleted by somebody, and is gone', is('Degraded', { reason: 'BeingDeleted' }), APPLYING, STARTED_TOLD],
    ['is being deleted while it starts', is('Progressing', { replicas: 2 }), is('Progressing')],
    ['gets more pods by an autoscaler', READY, is('Progressing', { replicas: 3, readyRevision: 'r1' })],
    ['gets more pods since a node has joined', READY, is('Progressing', { reason: 'Applying', replicas: 2 })],
    ['gets more pods while it is degraded', is('Degraded'), is('Progressing', { replicas: 3 })],
    ['has pods that start', APPLYING, is('Progressing', { reason: 'RollingOut', replicas: 2 })],
    ['has no status yet', APPLYING, is('Unknown')],
    ['has a status now', is('Unknown'), is('Progressing', { reason: 'RollingOut', replicas: 2 })],
    ['is applied after a refused write', is('Progressing', { reason: 'WriteFailed' }), APPLYING],
    ['starts, and is of another owner', undefined, is('Progressing', { mode: 'External', reason: 'RollingOut' })],
    ['was starting while nothing was decided', undecided('Progressing'), is('Progressing')],
    ['is removed', READY, is('Removing')],
  ])('%s', (_, before, after, ...told) => expectEvents(before, after, told));
});

describe('ready: a component that', () => {
  it.each<Row>([
    ['is ready for the first time', is('Progressing'), READY, READY_TOLD],
    ['is ready at once, as one that is adopted', undefined, READY, READY_TOLD],
    ['is ready when it is looked at', unseen, READY, READY_TOLD],
    ['is ready after a change', is('Progressing', { revision: 'r1' }), READY, READY_TOLD],
    ['is as before a change that waited', is('Waiting', { revision: 'r2' }), READY, READY_TOLD],
    ['has the pods that an autoscaler added', is('Progressing', { readyRevision: 'r1' }), READY],
    ['has an answer again', is('Unknown', { readyRevision: 'r1' }), READY],
    ['was ready while nothing was decided', undecided('Ready'), READY],
    ['is not decided', READY, undecided('Ready')],
    ['has other figures', is('Ready', { replicas: 3 }), READY],
  ])('%s', (_, before, after, ...told) => expectEvents(before, after, told));
});

describe('rollback: a component that', () => {
  it.each<Row>([
    ['fails and is rolled back', is('Progressing'), rolling('RollingBack'), FAILED_TOLD, ROLLING_BACK],
    ['is rolled back after its query was asked', is('Failed'), rolling('RollingBack'), ROLLING_BACK],
    ['is being rolled back', rolling('RollingBack'), { ...rolling('RollingBack'), message: '1 of 2 pods' }],
    ['is rolled back', rolling('RollingBack'), rolling('RolledBack'), 'Normal ComponentRolledBack: db: why'],
    ['stays rolled back', rolling('RolledBack'), { ...rolling('RolledBack'), message: '2 of 2 pods' }],
    ['has fewer pods again', rolling('RolledBack'), rolling('RollingBack')],
    ['has nothing to go back to', is('Progressing'), rolling('RevisionMissing'), FAILED_TOLD],
    ['fails again', rolling('RolledBack', 'r3'), rolling('RollingBack'), ROLLING_BACK],
    ['is not decided', rolling('RollingBack'), undecidedRolling('RollingBack')],
    ['was rolled back while nothing was decided', undecidedRolling('RolledBack'), rolling('RolledBack')],
    [
      'goes on after that',
      undecidedRolling('RollingBack'),
      rolling('RolledBack'),
      'Normal ComponentRolledBack: db: why',
    ],
  ])('%s', (_, before, after, ...told) => expectEvents(before, after, told));
});

it('each component that has failed is named, also if several have', () => {
  const other = is('Failed', { name: 'api' });
  expect(componentEvents([other, is('Ready')], [other, is('Failed')]).map(({ note }) => note)).toEqual([
    'db is Failed: why',
  ]);
});

it('a component that waits, starts and is ready has three Events', () => {
  const way = [
    ...[unseen, is('Waiting', { message: 'waits for a' }), is('Waiting', { message: 'waits for b' })],
    ...[APPLYING, is('Unknown'), is('Progressing', { replicas: 2, readyReplicas: 0 })],
    ...[is('Progressing', { replicas: 2, readyReplicas: 1 }), READY],
  ];
  const told = way.flatMap((after, n) => componentEvents(n === 0 ? undefined : [way[n - 1]!], [after]));
  expect(told.map(({ reason }) => reason)).toEqual(['ComponentWaiting', 'ComponentStarted', 'ComponentReady']);
});
