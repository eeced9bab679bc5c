import { expect, it } from 'vitest';
import { pod } from '../testing/stacks.ts';
import { type StackPod, isMadeBy } from './observation.ts';

it.each<[string, Partial<StackPod>, boolean]>([
  ['its own', {}, true],
  ['the pod of a copied Deployment', { workload: 'Deployment copy' }, false],
  ['the pod of another kind', { workload: 'StatefulSet web' }, false],
  ['the pod of no workload', { workload: '' }, false],
  ['the pod of another namespace', { key: 'shop-2/web-1' }, false],
])('a Deployment of the inventory has made only %s', (_, over, expected) => {
  const made = { ...pod('web-1'), ...over };
  expect(isMadeBy(made, { kind: 'Deployment', namespace: 'shop', name: 'web' })).toBe(expected);
});
