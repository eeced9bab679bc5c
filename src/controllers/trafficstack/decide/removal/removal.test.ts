import { describe, expect, it } from 'vitest';
import type { InventoryEntry } from '../../../../api/trafficstack/trafficStack.ts';
import { DEPLOYMENTS, SERVICES } from '../../../../runtime/client/resources.ts';
import type { LeftObject, Observation } from '../../observe/observation.ts';
import { at, component, NOW, observed, stackOf } from '../../testing/stacks.ts';
import { planStack } from '../plan.ts';

const entry = (name: string, ...dependsOn: string[]): InventoryEntry => {
  return { component: name, dependsOn, objects: [{ kind: 'Deployment', namespace: 'shop', name }] };
};
const left = (name: string, over: object = {}): LeftObject => {
  return { component: name, resource: DEPLOYMENTS, live: { metadata: { namespace: 'shop', name, ...over } } };
};
function plan(inventory: InventoryEntry[], over: Partial<Observation> = {}) {
  const stack = stackOf([], { inventory });
  const {
    remove,
    statuses,
    inventory: kept,
  } = planStack({
    ...{ stack, components: [], left: [], withPods: new Set<string>(), now: NOW },
    ...over,
  });
  return {
    remove: remove.map(({ resource, live: object }) => `${resource.kind} ${object.metadata?.name}`),
    statuses: statuses.map(({ name, state, message }) => `${name} ${state}: ${message}`),
    inventory: kept.map((each) => each.component),
  };
}

describe('what is in the inventory and not in the spec', () => {
  const both = [entry('db'), entry('web', 'db')];

  it('is deleted, what depends on others first', () => {
    expect(plan(both, { left: [left('db'), left('web')] })).toEqual({
      remove: ['Deployment web'],
      statuses: [
        'db Removing: waits for web, which depends on it and is not gone yet',
        'web Removing: being deleted: Deployment shop/web',
      ],
      inventory: ['db', 'web'],
    });
  });

  it('waits until the pods of what depends on it are gone, too', () => {
    const planned = plan(both, { left: [left('db')], withPods: new Set(['web']) });
    expect([planned.remove, planned.statuses[1]]).toEqual([[], 'web Removing: its pods are ending']);
  });

  it('is deleted next when that is gone', () => {
    expect(plan(both, { left: [left('db')] })).toMatchObject({ remove: ['Deployment db'], inventory: ['db'] });
  });

  it('is not deleted twice', () => {
    const gone = left('db', { deletionTimestamp: new Date() });
    expect(plan([entry('db')], { left: [gone] })).toMatchObject({ remove: [], inventory: ['db'] });
  });

  it('leaves the inventory when it is gone', () => {
    expect(plan(both)).toEqual({ remove: [], statuses: [], inventory: [] });
  });

  it('stays until a component of the spec that needed it is ready without it', () => {
    const web = component('web');
    const inventoryAfter = (there: Parameters<typeof observed>[1], inventory: InventoryEntry[]) => {
      const stack = stackOf([web], { inventory });
      const planned = planStack({
        ...{ stack, left: [left('db')], withPods: new Set<string>(), now: NOW },
        components: [observed(web, there)],
      });
      return { inventory: planned.inventory, removes: planned.remove.length };
    };
    const applied = inventoryAfter('old', both);
    expect(applied).toMatchObject({
      removes: 0,
      inventory: [{ component: 'web', dependsOn: ['db'] }, { component: 'db' }],
    });
    const begins = inventoryAfter({ available: 1 }, [...applied.inventory]);
    expect(begins).toMatchObject({ removes: 0, inventory: [{ dependsOn: ['db'] }, { component: 'db' }] });
    const ready = inventoryAfter({ available: 2 }, [...begins.inventory]);
    expect(ready).toMatchObject({
      removes: 1,
      inventory: [{ component: 'web', dependsOn: [] }, { component: 'db' }],
    });
  });
});

it('an object that a component has no more is deleted when it is ready, and stays in the inventory until it is gone', () => {
  const web = component('web');
  const stack = stackOf([web], { inventory: [entry('web'), entry('other', 'web')] });
  const old = { component: 'web', resource: SERVICES, live: { metadata: { namespace: 'shop', name: 'old' } } };
  const scene = { stack, left: [old], withPods: new Set(['other']), now: NOW };
  expect(planStack({ ...scene, components: [observed(web, { available: 1 })] }).remove).toEqual([]);
  const { remove, inventory } = planStack({ ...scene, components: [observed(web, { available: 2 })] });
  expect(remove).toEqual([old]);
  expect(inventory[0]?.objects.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['Deployment web', 'Service old']);
});

it('the inventory has what exists and is ours, and what is about to be created', () => {
  const [web, db, theirs] = [component('web', { dependsOn: ['db'] }), component('db'), component('theirs')];
  const stack = stackOf([web, db, theirs]);
  const foreign = observed(theirs, 'none');
  const objects = foreign.objects.map((each) => ({ ...each, live: { metadata: { name: 'theirs' } } }));
  const components = [observed(db, 'none'), observed(web, 'none'), { ...foreign, objects }];
  const planned = planStack({ stack, components, left: [], withPods: new Set<string>(), now: NOW });
  expect(planned.inventory.map((each) => each.component)).toEqual(['db']);
  expect(planned.apply.map((each) => each.component)).toEqual(['db']);
  expect(planned.deadlineAt).toBe(Date.parse(at(600)));
});

describe('what this process may not read', () => {
  const weight = { kind: 'TrafficWeight', namespace: '', name: 'dns' };
  const unread = (component: string): InventoryEntry[] => [{ component, dependsOn: [], objects: [weight] }];
  const objectsOf = (inventory: InventoryEntry[], over: Partial<Observation>) =>
    planStack({
      ...{ stack: stackOf([], { inventory }), components: [], left: [], withPods: new Set(), now: NOW },
      ...over,
    }).inventory.map(({ component: name, objects }) => [name, ...objects.map((each) => `${each.kind} ${each.name}`)]);

  it('stays in the inventory, also if its component is not in the spec any more', () => {
    expect(objectsOf(unread('dns'), { unread: unread('dns') })).toEqual([['dns', 'TrafficWeight dns']]);
  });

  it('stays beside what its component has now, once', () => {
    const entries = [{ ...entry('dns'), objects: [...entry('dns').objects, weight] }];
    const both = ['dns', 'Deployment dns', 'TrafficWeight dns'];
    expect(objectsOf(entries, { unread: unread('dns'), left: [left('dns')] })).toEqual([both]);
    const dns = observed(component('dns'), 'none');
    expect(objectsOf(entries, { unread: unread('dns'), components: [dns] })).toEqual([both]);
  });
});
