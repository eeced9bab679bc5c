import { expect, it } from 'vitest';
import { trimNode } from '../../../nodes/cachedNode.ts';
import { stackOf } from '../testing/stacks.ts';
import { countNodesWith, countsNodes, mayChangeCount } from './nodes.ts';

const trim = trimNode('manager');
const node = (name: string, labels: Record<string, string>, over: object = {}) =>
  trim({ metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels }, ...over } });
const NODES = [node('a', { role: 'master', zone: '1' }), node('b', { role: 'master', zone: '2' }), node('c', {})];

it.each([
  [{ role: 'master' }, 2],
  [{ role: 'master', zone: '2' }, 1],
  [{ 'kubernetes.io/hostname': 'c' }, 1],
  [{ role: 'worker' }, 0],
  [{}, 3],
])('counts the nodes with %j', (labels, count) => {
  expect(countNodesWith(NODES, labels)).toBe(count);
});

it('a stack without a number of replicas counts nodes', () => {
  const spec = (highAvailability: object | undefined) =>
    countsNodes({ ...stackOf([]), spec: { components: [], ...(highAvailability && { highAvailability }) } });
  expect([spec({ nodeSelector: {} }), spec({ replicas: 3 }), spec(undefined)]).toEqual([true, false, false]);
});

it('a heartbeat changes no count; a new node, and one with another label, may', () => {
  const [old] = NODES;
  const update = (labels: Record<string, string>, over: object = {}) =>
    mayChangeCount({ type: 'update', old, object: node('a', labels, over) });
  expect(update({ role: 'master', zone: '1' }, { resourceVersion: '2' })).toBe(false);
  expect(update({ role: 'worker', zone: '1' })).toBe(true);
  expect(mayChangeCount({ type: 'add', object: node('d', {}) })).toBe(true);
});
