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
const READY = pod('db-1', { isReady: true, isRunning: true }).containers;

function broken(found: StackPod, { status = STATUS, isCurrent = true, spec = DB } = {}) {
  const { objects, ...others } = observed(spec, { available: 1 }, [found]);
  const seen = objects.map((each) => ({ ...each, isCurrent, live: live(each.object, 1, status) }));
  return brokenPodsOf({ ...others, objects: seen }).map(({ live: { metadata } }) => metadata?.name);
}

it.each<[string, StackPod, boolean]>([
  ['of the failed revision', ofRevision('db-2'), true],
  ['of the failed revision that no node has room for', ofRevision('db-2', { containers: [] }), true],
  ['of the failed revision that is ready', ofRevision('db-2', { containers: READY }), false],
  ['that is being deleted', ofRevision('db-2', { isEnding: true }), false],
  ['of the wanted revision', ofRevision('db-3'), false],
  ['of the revision before', ofRevision('db-1'), false],
  ['of no revision', ofRevision(''), false],
])('a pod %s', (_, found, isDeleted) => {
  const named = { ...found, metadata: { name: 'db-1' } };
  expect(broken(named)).toEqual(isDeleted ? ['db-1'] : []);
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
