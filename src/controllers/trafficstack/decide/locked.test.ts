import { expect, it } from 'vitest';
import type { InventoryEntry } from '../../../api/trafficstack/trafficStack.ts';
import { DEPLOYMENTS, SERVICES } from '../../../runtime/client/resources.ts';
import type { LeftObject } from '../model/observation.ts';
import { NOW, stackOf } from '../testing/stacks.ts';
import { planStack } from './plan.ts';

const inventory: InventoryEntry[] = [
  { component: 'db', dependsOn: [], objects: [] },
  { component: 'web', dependsOn: ['db'], objects: [] },
];
const left = (component: string): LeftObject => {
  return { component, resource: DEPLOYMENTS, live: { metadata: { namespace: 'shop', name: component } } };
};
/** The objects that the operator may not delete. */
const locked = [{ component: 'web', resource: SERVICES, live: { metadata: { namespace: 'other', name: 'web' } } }];
const TOLD =
  'the operator may not delete in namespace other, so Kubernetes deletes these when the stack is gone, in no order: Service other/web';

it.each<[string, LeftObject[], string[], boolean]>([
  ['what it may delete of the same component comes first', [left('db'), left('web')], ['web'], false],
  ['nothing waits for it', [left('db')], ['db'], false],
  ['the removal ends with it', [], [], true],
])('of a stack that is being deleted, with an object that the operator may not delete: %s', (_, all, removed, ends) => {
  const stack = stackOf([], { inventory });
  const planned = planStack({ stack, components: [], left: all, locked, withPods: new Map(), now: NOW });
  expect(planned.remove.map(({ component }) => component)).toEqual(removed);
  expect(planned.isRemoved).toBe(ends);
  expect(planned.statuses.find(({ name }) => name === 'web')).toMatchObject({
    ...{ state: 'Removing', reason: 'NamespaceNotAllowed', message: TOLD },
  });
  expect(planned.inventory.map(({ component }) => component)).toContain('web');
});
