import { expect, it } from 'vitest';
import type { StackPod } from '../../model/observation.ts';
import { component, live, NOW, observed, pod as podOf } from '../../testing/stacks.ts';
import { brokenPodsOf } from './rollback.ts';

const pod = (name: string, over: Parameters<typeof podOf>[1] = {}): StackPod => ({
  ...podOf(name, over),
  workload: 'StatefulSet db',
});
const DB = component('db', { workload: { ...component('db').workload, kind: 'StatefulSet' } });
const STATUS = { observedGeneration: 1, currentRevision: 'db-1', updateRevision: 'db-3' };
const ofRevision = (revisionHash: string, over: Partial<StackPod> = {}): StackPod => ({
  ...pod('db-0'),
  revisionHash,
  ...over,
});
const STUCK = pod('db-1', { waiting: { reason: 'ErrImagePull', message: '' } }).containers;
const READY = pod('db-1', { isReady: true, isRunning: true }).containers;

function broken(
  found: StackPod,
  { status = STATUS, isCurrent = true, spec = DB, asked = {}, isRolledBack = false } = {},
  neighbours: readonly StackPod[] = [],
) {
  const { objects, ...others } = observed(spec, { available: 1 }, [found, ...neighbours]);
  const seen = objects.map((each) => ({ ...each, isCurrent, live: { ...live(each.object, 1, status), spec: asked } }));
  const rolledBackFrom = isRolledBack ? { revision: 'r2', message: '' } : undefined;
  return brokenPodsOf({ ...others, objects: seen, rolledBackFrom }, NOW).map(
    ({ live: { metadata } }) => metadata?.name,
  );
}

it.each<[string, StackPod, boolean]>([
  ['of the failed revision', ofRevision('db-2'), true],
  ['of the failed revision that no node has room for', ofRevision('db-2', { containers: [] }), true],
  ['of the failed revision that may be ready', ofRevision('db-2', { containers: [], isUnread: true }), false],
  ['of the failed revision that is ready', ofRevision('db-2', { containers: READY }), false],
  ['that is being deleted', ofRevision('db-2', { isEnding: true }), false],
  ['of the wanted revision', ofRevision('db-3'), false],
  ['of the revision before that may get ready', ofRevision('db-1'), false],
  ['of the revision before that cannot start', ofRevision('db-1', { containers: STUCK }), true],
  ['of the revision before that no node has room for', ofRevision('db-1', { unscheduledMessage: 'no room' }), true],
  ['of the revision before that was ready', ofRevision('db-1', { containers: READY }), false],
  ['of the wanted revision that cannot start', ofRevision('db-3', { containers: STUCK }), false],
  ['of no revision', ofRevision(''), false],
])('a pod %s', (_, found, isDeleted) => {
  const named = { ...found, metadata: { name: 'db-0' } };
  expect(broken(named)).toEqual(isDeleted ? ['db-0'] : []);
});

const STUCK_AND = { revisionHash: 'db-1', containers: STUCK };
const NEW_AND = { revisionHash: 'db-3', containers: READY };
it.each<[string, Record<string, Partial<StackPod>>, string[]]>([
  ['next to one that is ready', { 'db-0': STUCK_AND, 'db-1': { ...STUCK_AND, containers: READY } }, ['db-0']],
  ['the first of several', { 'db-1': STUCK_AND, 'db-0': STUCK_AND }, ['db-0']],
  ['the next, after the first is replaced', { 'db-0': NEW_AND, 'db-1': STUCK_AND }, ['db-1']],
  ['none, before the first is made again', { 'db-1': STUCK_AND }, []],
  ['none, while the first ends', { 'db-0': { ...STUCK_AND, isEnding: true }, 'db-1': STUCK_AND }, []],
  ['none, while a new one is not ready', { 'db-1': { ...NEW_AND, containers: STUCK }, 'db-0': STUCK_AND }, []],
])('of stuck pods of the last revision that all had: %s', (_, pods, deleted) => {
  const [found, ...neighbours] = Object.entries(pods).map(([name, over]) => ({
    ...pod(name),
    ...over,
    metadata: { name },
  }));
  expect(broken(found!, {}, neighbours)).toEqual(deleted);
});

it.each([
  ['stays until the deadline, as it may get ready', 599, false, []],
  ['goes after the deadline', 600, false, ['db-0']],
  ['goes when its component is rolled back', 1, true, ['db-0']],
])('a pod of the failed revision that runs %s', (_, age, isRolledBack, deleted) => {
  const runs = pod('db-0', { isRunning: true });
  const found = { ...runs, revisionHash: 'db-2', createdAt: NOW - age * 1_000, metadata: { name: 'db-0' } };
  expect(broken(found, { isRolledBack })).toEqual(deleted);
});

it('none that would be made again unchanged, since somebody has set a partition', () => {
  const found = { ...pod('db-0'), ...STUCK_AND, metadata: { name: 'db-0' } };
  const of = (partition: number) => broken(found, { asked: { updateStrategy: { rollingUpdate: { partition } } } });
  expect([of(0), of(1)]).toEqual([['db-0'], []]);
});

it('none before the StatefulSet is written, and has seen it', () => {
  const found = ofRevision('db-2');
  expect(broken(found, { isCurrent: false })).toEqual([]);
  expect(broken(found, { status: { ...STATUS, observedGeneration: 0 } })).toEqual([]);
  expect(broken(found)).toHaveLength(1);
});

it('none of a Deployment', () => {
  expect(broken(ofRevision('db-2'), { spec: component('db') })).toEqual([]);
});

it.each([
  ['an older StatefulSet', 'shop/database-0', 'StatefulSet database'],
  ['one whose name begins as its own', 'shop/db-old-0', 'StatefulSet db-old'],
  ['an older DaemonSet of the same name', 'shop/db-x7k2p', 'DaemonSet db'],
  ['another namespace', 'data/db-0', 'StatefulSet db'],
])('none of %s, which is still there', (_, key, workload) => {
  expect(broken({ ...ofRevision('db-2'), key, workload })).toEqual([]);
  const stuck = { ...ofRevision('db-1', { containers: STUCK }), key, workload };
  expect(broken(stuck)).toEqual([]);
});

it('of a stuck pod, whatever pods an older StatefulSet has', () => {
  const found = { ...pod('db-0'), ...STUCK_AND, metadata: { name: 'db-0' } };
  expect(broken(found, {}, [{ ...pod('database-0'), workload: 'StatefulSet database', isEnding: true }])).toEqual([
    'db-0',
  ]);
});
