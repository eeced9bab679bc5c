import { expect, it } from 'vitest';
import type { StackPod } from '../../observe/observation.ts';
import { component, live, observed, pod } from '../../testing/stacks.ts';
import { brokenPodsOf } from './brokenPods.ts';

const DB = component('db', { workload: { ...component('db').workload, kind: 'StatefulSet' } });
const STATUS = { observedGeneration: 1, currentRevision: 'db-1', updateRevision: 'db-3' };
const ofRevision = (revisionHash: string, over: Partial<StackPod> = {}): StackPod => ({
  ...pod('db-1'),
  revisionHash,
  ...over,
});
const STUCK = pod('db-1', { waiting: { reason: 'ErrImagePull', message: '' } }).containers;
const READY = pod('db-1', { isReady: true, isRunning: true }).containers;

function broken(
  found: StackPod,
  { status = STATUS, isCurrent = true, spec = DB } = {},
  beside: readonly StackPod[] = [],
) {
  const { objects, ...others } = observed(spec, { available: 1 }, [found, ...beside]);
  const seen = objects.map((each) => ({ ...each, isCurrent, live: live(each.object, 1, status) }));
  return brokenPodsOf({ ...others, objects: seen }).map(({ live: { metadata } }) => metadata?.name);
}

it.each<[string, StackPod, boolean]>([
  ['of the failed revision', ofRevision('db-2'), true],
  ['of the failed revision that no node has room for', ofRevision('db-2', { containers: [] }), true],
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
  const named = { ...found, metadata: { name: 'db-1' } };
  expect(broken(named)).toEqual(isDeleted ? ['db-1'] : []);
});

it.each([
  ['db-0', ['db-1'], false],
  ['db-1', ['db-0'], true],
  ['db-1', ['db-0', 'db-2'], false],
  ['db-2', ['db-0', 'db-1'], true],
])(
  '%s that is stuck, beside %j of its revision, which all had: deleted if it is made anew of another',
  (name, others, is) => {
    const found = { ...pod(name), revisionHash: 'db-1', containers: STUCK, metadata: { name } };
    const beside = others.map((other) => ({ ...pod(other), revisionHash: 'db-1', containers: READY }));
    expect(broken(found, {}, beside)).toEqual(is ? [name] : []);
  },
);

it('none before the StatefulSet is written, and has seen it', () => {
  const found = ofRevision('db-2');
  expect(broken(found, { isCurrent: false })).toEqual([]);
  expect(broken(found, { status: { ...STATUS, observedGeneration: 0 } })).toEqual([]);
  expect(broken(found)).toHaveLength(1);
});

it('none of a Deployment', () => {
  expect(broken(ofRevision('db-2'), { spec: component('db') })).toEqual([]);
});
