import { expect, it } from 'vitest';
import type { ComponentStatus } from '../../../../src/api/trafficstack/trafficStack.ts';
import { component } from '../scene.ts';
import { DB, stack, violations, WEB, workload, type Entry } from './entries.ts';

/** The judge names what is changed before its wave. */
const QUEUE = '/registry/deployments/default/queue';
/** web depends on db; queue, which depends on nothing, is of another branch. */
const branches = (version: number, status: readonly Partial<ComponentStatus>[] = []): Entry => {
  const db = component('db', { kind: 'StatefulSet', image: `db:${version}` });
  const web = component('web', { image: `web:${version}`, dependsOn: ['db'] });
  // Not in the order of their waves.
  return stack({ spec: { components: [web, component('queue', { image: `queue:${version}` }), db] }, status });
};
const ready: Partial<ComponentStatus> = { name: 'web', state: 'Ready', version: 'web:1' };
const up = (...status: Partial<ComponentStatus>[]): Entry[] => [
  ...[branches(1), workload(DB, 'db:1'), workload(QUEUE, 'queue:1'), workload(WEB, 'web:1')],
  ...[branches(1, status), branches(2, status), workload(DB, 'db:2')],
];

it.each<[string, Entry[], string[]]>([
  ['goes wave by wave', [...up(ready), workload(QUEUE, 'queue:2'), workload(WEB, 'web:2')], []],
  [
    'before an earlier wave of another branch is changed',
    [...up(ready), workload(WEB, 'web:2')],
    ['web with web:2 was applied: before queue of an earlier wave was ready'],
  ],
  [
    'before an earlier wave of another branch is available',
    [...up(ready), workload(QUEUE, 'queue:2', { available: 1 }), workload(WEB, 'web:2')],
    ['web with web:2 was applied: before queue of an earlier wave was ready'],
  ],
  [
    'goes on if an earlier wave loses a pod later',
    [...up(ready), workload(QUEUE, 'queue:2'), workload(QUEUE, 'queue:2', { available: 1 }), workload(WEB, 'web:2')],
    [],
  ],
  ['corrects what was never ready at any time', [...up(), workload(WEB, 'web:2')], []],
  [
    'corrects what was never ready before its dependency is changed',
    [...[branches(1), workload(DB, 'db:1'), workload(WEB, 'web:1')], branches(2), workload(WEB, 'web:2')],
    [],
  ],
  [
    'creates what is new at any time',
    [branches(1), workload(QUEUE, 'queue:1'), branches(2), workload(DB, 'db:2'), workload(WEB, 'web:2')],
    [],
  ],
])('%s', (_, entries, wanted) => {
  expect(violations(...entries)).toEqual(wanted);
});
