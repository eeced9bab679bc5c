import { expect, it } from 'vitest';
import { toClusterNode } from '../view/clusterNode.ts';
import { isChange } from './caches.ts';

const node = (resourceVersion: string, zone: string, heartbeat: string) =>
  toClusterNode({
    metadata: { name: 'n1', resourceVersion, labels: { 'topology.kubernetes.io/zone': zone } },
    status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: heartbeat as never }] },
  });

it.each([
  ['a heartbeat of a node', node('2', 'a', '2026-01-01T00:01:00Z'), false],
  ['another zone', node('2', 'b', '2026-01-01T00:00:00Z'), true],
])('%s: %s', (_, object, changes) => {
  expect(isChange({ type: 'update', object, old: node('1', 'a', '2026-01-01T00:00:00Z') })).toBe(changes);
});

it('an object that comes or goes is a change', () => {
  const object = node('1', 'a', '2026-01-01T00:00:00Z');
  expect([isChange({ type: 'add', object }), isChange({ type: 'delete', object })]).toEqual([true, true]);
});
