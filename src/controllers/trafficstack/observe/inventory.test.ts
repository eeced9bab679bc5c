import { expect, it } from 'vitest';
import { BodyBudget } from '../../../runtime/cache/bodyBudget.ts';
import type { KubeObject } from '../../../runtime/client/resource.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import { idOf } from '../../../runtime/objectSet/objectSet.ts';
import { STACK_LABEL } from '../names.ts';
import { metadataOf } from '../render/objects.ts';
import { stackOf } from '../testing/stacks.ts';
import { identityInStack, type Caches, existingIn } from './caches.ts';

const REF = { namespace: 'other', name: 'web' };
const STACK = stackOf([], {
  inventory: [{ component: 'web', dependsOn: [], objects: [{ kind: 'Deployment', ...REF }] }],
});
const [OWN] = metadataOf(STACK, 'web', REF).ownerReferences ?? [];
const owned = (over: object): KubeObject['metadata'] => ({ ownerReferences: [{ ...OWN!, ...over }] });

/** The ids that count as existing, with the body of the object in the cache and without it. */
function found(metadata: KubeObject['metadata']): string[][] {
  const object: KubeObject = {
    kind: 'Deployment',
    metadata: { ...REF, labels: { [STACK_LABEL]: 'main' }, ...metadata },
  };
  return [Infinity, 0].map((bytes) => {
    const cached = new BodyBudget(bytes).keep(object, identityInStack);
    const overlay = { get: () => cached };
    const caches = { kinds: [{ resource: DEPLOYMENTS, overlay }] } as unknown as Caches;
    return existingIn(STACK, caches).map(idOf);
  });
}

it.each<[string, KubeObject['metadata'], string[]]>([
  ['the stack controls it', owned({}), ['Deployment other/web']],
  ['another stack controls it', owned({ uid: 'other' }), []],
  ['another owner controls it', owned({ kind: 'Service', uid: 'other' }), []],
  ['no owner controls it, and it has only the labels', {}, []],
])('an object of the inventory counts with and without its body in the cache: %s', (_why, metadata, expected) => {
  expect(found(metadata)).toEqual([expected, expected]);
});

it('no owner reference makes a dropped object large', () => {
  const name = 'x'.repeat(1_000);
  const object: KubeObject = { kind: 'Deployment', metadata: { ...REF, ...owned({ name }) } };
  expect(identityInStack(object).metadata).not.toHaveProperty('ownerReferences');
});
