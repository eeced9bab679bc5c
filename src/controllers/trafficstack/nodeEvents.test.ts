import { expect, it } from 'vitest';
import { trimNode } from '../../nodes/cachedNode.ts';
import { withLostNodes } from './observe/evidence.ts';
import { at, NOW, pod, stackOf } from './testing/stacks.ts';
import { countNodesWith, countsNodes, mayChangeCount, mayChangePods } from './watches.ts';

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

const ready = (name: string, status: string) =>
  trim({
    metadata: { name },
    status: { conditions: [{ type: 'Ready', status, lastTransitionTime: new Date(at(0)) }] },
  } as object);

it('a pod is reported with its node if that is not Ready, unless its containers have all ended', () => {
  const nodes = new Map(['True', 'False', 'Unknown'].map((status) => [status, ready(status, status)]));
  const on = (nodeName: string | undefined, ended?: string) => ({ ...pod('a', { ended }), nodeName });
  const pods = [on('True'), on('False'), on('Unknown'), on('Unknown', 'Completed'), on(undefined), on('gone')];
  expect(withLostNodes(pods, nodes).map(({ lostNode }) => lostNode)).toEqual([
    undefined,
    { name: 'False', since: NOW },
    { name: 'Unknown', since: NOW },
    ...[undefined, undefined, undefined],
  ]);
});

it('a node changes pods when it stops to be Ready, and when it is Ready again', () => {
  const [good, bad] = [ready('n', 'True'), ready('n', 'Unknown')];
  const changes = (old: typeof good, object: typeof good) => mayChangePods({ type: 'update', old, object });
  expect([changes(good, bad), changes(bad, good), changes(good, good), changes(bad, bad)]).toEqual([
    ...[true, true, false, false],
  ]);
  expect(mayChangePods({ type: 'add', object: bad })).toBe(true);
});
