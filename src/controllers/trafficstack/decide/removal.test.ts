import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ComponentSpec, InventoryEntry } from '../../../api/trafficstack/trafficStack.ts';
import { DEPLOYMENTS, SERVICES } from '../../../runtime/client/resources.ts';
import type { LeftObject, Observation, ObservedComponent } from '../model/observation.ts';
import { at, component, NOW, observed, pod, stackOf } from '../testing/stacks.ts';
import { planStack } from './plan.ts';

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
    ...{ stack, components: [], left: [], withPods: new Map(), now: NOW },
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
    const planned = plan(both, { left: [left('db')], withPods: new Map([['web', [pod('web-1')]]]) });
    expect([planned.remove, planned.statuses[1]]).toEqual([[], 'web Removing: its pods are ending']);
  });

  it('names a pod that cannot end, since its node is not Ready', () => {
    const kept = { ...pod('db-1'), isEnding: true, lostNode: { name: 'n2', since: NOW } };
    const where = 'pod shop/db-1 is ending on node n2, which is NotReady since 2026-01-01T00:00:00Z';
    const withPods = new Map([['db', [pod('db-0'), kept]]]);
    expect(plan([entry('db')], { withPods }).statuses).toEqual([`db Removing: its pods are ending; ${where}`]);
    expect(plan([entry('db')], { withPods, left: [left('db')] }).statuses).toEqual([
      `db Removing: being deleted: Deployment shop/db; ${where}`,
    ]);
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
        ...{ stack, left: [left('db')], withPods: new Map(), now: NOW },
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

it('what depends on what is looked at as often in a large stack as in a small one', () => {
  const readsOf = (count: number): number => {
    let reads = 0;
    const inventory = Array.from({ length: count }, (_, n): InventoryEntry => {
      const { dependsOn, ...rest } = entry(`c${n}`, ...Array.from({ length: n }, (_each, other) => `c${other}`));
      return {
        ...rest,
        get dependsOn() {
          reads += 1;
          return dependsOn;
        },
      };
    });
    const objects = inventory.map(({ component: name }) => left(name));
    expect(plan(inventory, { left: objects }).remove).toEqual([`Deployment c${count - 1}`]);
    return reads / count;
  };
  expect(readsOf(20)).toBe(readsOf(2));
});

it('an object that a component no longer has is deleted when it is ready, and stays in the inventory until it is gone', () => {
  const web = component('web');
  const stack = stackOf([web], { inventory: [entry('web'), entry('other', 'web')] });
  const old = { component: 'web', resource: SERVICES, live: { metadata: { namespace: 'shop', name: 'old' } } };
  const scene = { stack, left: [old], withPods: new Map([['other', [pod('other-1')]]]), now: NOW };
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
  const planned = planStack({ stack, components, left: [], withPods: new Map(), now: NOW });
  expect(planned.inventory.map((each) => each.component)).toEqual(['db']);
  expect(planned.apply.map((each) => each.component)).toEqual(['db']);
  expect(planned.deadlineAt).toBe(Date.parse(at(600)));
});

describe('a component that waits, whose workload somebody has deleted', () => {
  const db = component('db');
  const web = component('web', { dependsOn: ['db'] });
  const before = [entry('db'), entry('web', 'old')];
  const plannedWith = (over: Partial<Observation>, webThere = observed(web, 'none')) => {
    const stack = stackOf([db, web], { inventory: before });
    const components = [observed(db, { available: 1 }), webThere];
    return planStack({ stack, components, left: [], withPods: new Map(), now: NOW, ...over });
  };
  const ending = (workload = 'Deployment web') => new Map([['web', [{ ...pod('web-1'), workload }]]]);

  it('stays in the inventory, with what it depends on, until its pods have ended', () => {
    const { inventory, statuses } = plannedWith({ withPods: ending() });
    expect(statuses[1]?.state).toBe('Waiting');
    expect(inventory).toEqual([entry('db'), entry('web', 'db', 'old')]);
    const deleted = plan([...inventory], { withPods: ending(), left: [left('db')] });
    expect(deleted).toMatchObject({ remove: [], inventory: ['db', 'web'] });
    expect(plannedWith({}).inventory).toEqual([entry('db')]);
  });

  it('stays for the pods of the workload that it had under another name', () => {
    const { workload } = web;
    const renamed = observed({ ...web, workload: { ...workload, name: 'new' } }, { available: 1 });
    const { inventory } = plannedWith({ withPods: ending() }, renamed);
    expect(inventory[1]?.objects.map(({ name }) => name)).toEqual(['new', 'web']);
  });

  it('does not stay for an object that another owner has made under its name since', () => {
    const theirs = observed(web, 'none');
    const objects = theirs.objects.map((each) => ({ ...each, live: { metadata: { name: 'web' } } }));
    const { inventory } = plannedWith({ withPods: ending() }, { ...theirs, objects });
    expect(inventory).toEqual([entry('db')]);
  });
});

describe('a component without objects', () => {
  const external = (name: string, ...dependsOn: string[]) => component(name, { mode: 'External', dependsOn });
  /** The inventory of what is ready, each with what it depends on. */
  const entriesOf = (components: readonly ObservedComponent[], over: Partial<Observation> = {}) => {
    const stack = stackOf(
      components.map(({ spec }) => spec),
      { inventory: over.stack?.status?.inventory ?? [] },
    );
    return planStack({ left: [], withPods: new Map(), now: NOW, ...over, components, stack }).inventory;
  };
  const namesOf = (entries: readonly InventoryEntry[]) =>
    entries.map(({ component: name, dependsOn }) => [name, ...dependsOn].join(' '));
  const ready = (spec: ComponentSpec) => observed(spec, { available: 2 });
  const web = component('web', { dependsOn: ['mid'] });

  it.each<[string, ComponentSpec[], string]>([
    ['one', [external('mid', 'db')], 'web db'],
    ['two in a row', [external('far', 'db'), external('mid', 'far')], 'web db'],
    ['two next to each other', [external('far', 'db'), external('mid', 'far', 'db')], 'web db'],
    ['one that depends on nothing', [external('mid')], 'web'],
  ])('hands on what it depends on: %s', (_, between, expected) => {
    const entries = entriesOf([component('db'), ...between, web].map(ready));
    expect(namesOf(entries)).toEqual(['db', expected]);
  });

  it('hands it on also to one that depended on it before', () => {
    const inventory = [entry('db'), entry('web', 'mid')];
    const mid = ready(external('mid', 'db'));
    const waits = observed(component('web'), { available: 1 });
    const entries = entriesOf([ready(component('db')), mid, waits], { stack: stackOf([], { inventory }) });
    expect(namesOf(entries)).toEqual(['db', 'web db']);
  });

  it('keeps its own place while something of it is there that this process may not read', () => {
    const weight = { kind: 'TrafficWeight', namespace: '', name: 'mid' };
    const unread = [{ component: 'mid', dependsOn: ['db'], objects: [weight] }];
    const entries = entriesOf([component('db'), external('mid', 'db'), web].map(ready), { unread });
    expect(namesOf(entries)).toEqual(['db', 'web mid', 'mid db']);
  });

  it('loses no order, wherever it is', () => {
    const specs = fc
      .array(fc.record({ before: fc.array(fc.nat(6), { maxLength: 3 }), isExternal: fc.boolean() }), { maxLength: 7 })
      .map((all) =>
        all.map(({ before, isExternal }, n) => {
          const dependsOn = [...new Set(before.filter((other) => other < n).map((other) => `c${other}`))];
          return isExternal ? external(`c${n}`, ...dependsOn) : component(`c${n}`, { dependsOn });
        }),
      );
    fc.assert(
      fc.property(specs, (all) => {
        const needs = (name: string): string[] => {
          const { dependsOn = [] } = all.find((each) => each.name === name) ?? {};
          return dependsOn.flatMap((other) => [other, ...needs(other)]);
        };
        let inventory = entriesOf(all.map(ready));
        while (inventory.length > 0) {
          const there = inventory.map((each) => each.component);
          const { remove } = planStack({
            ...{ stack: stackOf([], { inventory: [...inventory] }), components: [], withPods: new Map(), now: NOW },
            left: there.map((name) => left(name)),
          });
          const removed = remove.map((each) => each.component);
          const free = there.filter((name) => !there.some((other) => needs(other).includes(name)));
          expect(removed).toEqual(free);
          inventory = inventory.filter((each) => !removed.includes(each.component));
        }
      }),
    );
  });
});

describe('what this process may not read', () => {
  const weight = { kind: 'TrafficWeight', namespace: '', name: 'dns' };
  const unread = (component: string): InventoryEntry[] => [{ component, dependsOn: [], objects: [weight] }];
  const objectsOf = (inventory: InventoryEntry[], over: Partial<Observation>) =>
    planStack({
      ...{ stack: stackOf([], { inventory }), components: [], left: [], withPods: new Map(), now: NOW },
      ...over,
    }).inventory.map(({ component: name, objects }) => [name, ...objects.map((each) => `${each.kind} ${each.name}`)]);

  it('stays in the inventory, also if its component is no longer in the spec', () => {
    expect(objectsOf(unread('dns'), { unread: unread('dns') })).toEqual([['dns', 'TrafficWeight dns']]);
  });

  it('stays together with the objects of its component, once', () => {
    const entries = [{ ...entry('dns'), objects: [...entry('dns').objects, weight] }];
    const both = ['dns', 'Deployment dns', 'TrafficWeight dns'];
    expect(objectsOf(entries, { unread: unread('dns'), left: [left('dns')] })).toEqual([both]);
    const dns = observed(component('dns'), 'none');
    expect(objectsOf(entries, { unread: unread('dns'), components: [dns] })).toEqual([both]);
  });
});
