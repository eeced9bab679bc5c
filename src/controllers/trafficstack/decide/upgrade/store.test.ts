import { expect, it } from 'vitest';
import type { ComponentState } from '../../../../api/trafficstack/terms.ts';
import { controllerRevisionOf, storedIn } from '../../render/storedRevision.ts';
import { component, observed, stackOf } from '../../testing/stacks.ts';
import { planStore } from './rollback.ts';

const STACK = stackOf([]);
const WITHOUT = observed(component('web'), { available: 2 });
const WEB = { ...WITHOUT, revisionsIn: 'shop' };
const SOURCE = { name: 'web', namespace: 'shop', objects: WEB.objects, revision: WEB.revision };
const stored = (revision: string, number: number) =>
  storedIn({
    ...controllerRevisionOf(STACK, { ...SOURCE, revision }, number),
    metadata: { ...controllerRevisionOf(STACK, { ...SOURCE, revision }, number).metadata, uid: 'u' },
  });
const READY = { state: 'Ready' as const };

it('stores what a component is ready with, once, and counts on', () => {
  const first = planStore(STACK, WEB, READY).store;
  expect(first).toMatchObject({
    ...{ live: undefined, resource: { plural: 'controllerrevisions' } },
    object: {
      kind: 'ControllerRevision',
      revision: 1,
      metadata: { namespace: 'shop' },
      data: { revision: WEB.revision },
    },
  });
  const again = planStore(STACK, { ...WEB, stored: stored(WEB.revision, 4)! }, READY).store;
  expect(again).toMatchObject({ object: { revision: 4 }, live: { metadata: { uid: 'u' } } });
  const next = planStore(STACK, { ...WEB, stored: stored('r0', 4)! }, READY).store;
  expect(next).toMatchObject({ object: { revision: 5 }, live: undefined });
  expect(next?.object.metadata?.name).not.toBe(stored('r0', 4)?.live.metadata?.name);
  // The operator of a built-in component may have moved to another namespace.
  const moved = planStore(STACK, { ...WEB, revisionsIn: 'op2', stored: stored(WEB.revision, 4)! }, READY).store;
  expect(moved).toMatchObject({ object: { revision: 5, metadata: { namespace: 'op2' } }, live: undefined });
});

it.each<ComponentState>(['Progressing', 'Degraded', 'Failed', 'Waiting', 'Unknown'])(
  'keeps the last one of one that is %s',
  (state) => {
    expect(planStore(STACK, { ...WEB, stored: stored('r0', 1)! }, { state })).toEqual({});
  },
);

it('stores nothing without rollback', () => {
  expect(planStore(STACK, WITHOUT, READY)).toEqual({});
});

it('says that a revision is too large, and drops the one before, which is no longer the last ready one', () => {
  const [large] = observed(component('web'), { available: 2 }).objects;
  const objects = [{ ...large!, object: { ...large!.object, data: { file: 'ü'.repeat(500_000) } } }];
  const { store, drop, note } = planStore(STACK, { ...WEB, objects, stored: stored('r0', 1)! }, READY);
  expect([store, drop?.map(({ live }) => live.metadata?.uid)]).toEqual([undefined, ['u']]);
  expect(note).toMatch(/^this revision cannot be restored: it has 100\d{4} bytes, and at most 1000000 are stored$/);
});

it('does not count what is not what its name says', () => {
  const made = controllerRevisionOf(STACK, SOURCE, 1);
  const objects = [{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'evil', namespace: 'kube-system' } }];
  expect(storedIn(made)?.objects).toEqual(WEB.objects.map(({ resource, object }) => ({ resource, object })));
  expect(storedIn({ ...made, data: { revision: WEB.revision, objects } } as object)).toBeUndefined();
  expect(storedIn({ metadata: { name: 'web' } })).toBeUndefined();
});

it('does not count one that has a kind which this version does not know', () => {
  const objects = [{ ...WEB.objects[0]!, object: { kind: 'Gateway' } }];
  expect(storedIn(controllerRevisionOf(STACK, { ...SOURCE, objects }, 1))).toBeUndefined();
});
