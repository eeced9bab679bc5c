import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idOf, type Member, createObjectSet, orderMembers, isOwnedBy } from './objectSet.ts';
import { planSet } from './plan.ts';
import { account, configMap, namespace, OWNER } from './testing/members.ts';
import type { KubeObject } from '../client/resource.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

/** Members of which each depends on some of those before it, and a Namespace that some are in, in any order. */
const members: fc.Arbitrary<Member[]> = fc
  .array(fc.record({ isInside: fc.boolean(), before: fc.array(fc.nat(NAMES.length - 1)) }), {
    minLength: NAMES.length,
    maxLength: NAMES.length,
  })
  .chain((drawn) => {
    const key = (index: number): string => `${drawn[index]!.isInside ? 'inside' : 'outside'}/${NAMES[index]}`;
    const declared = drawn.map(({ before }, index) => {
      const dependsOn = before.filter((other) => other < index).map((other) => `ConfigMap ${key(other)}`);
      return configMap(key(index), { dependsOn });
    });
    const all = [namespace('inside'), ...declared];
    return fc.shuffledSubarray(all, { minLength: all.length });
  });

function ids(list: readonly Member[]): string[] {
  return list.map(idOf);
}

describe('orderMembers, of any members', () => {
  it('puts every dependency before what depends on it, and loses none', () => {
    fc.assert(
      fc.property(members, (declared) => {
        const ordered = orderMembers(declared);
        const position = new Map(ids(ordered).map((id, index) => [id, index]));
        const late = ordered.flatMap((member) =>
          member.dependsOn.filter((id) => position.get(id)! >= position.get(idOf(member))!),
        );
        expect(late).toEqual([]);
        expect(ids(ordered).toSorted()).toEqual(ids(declared).toSorted());
      }),
    );
  });

  it('puts a Namespace before what is in it', () => {
    fc.assert(
      fc.property(members, (declared) => {
        const ordered = ids(orderMembers(declared));
        const inside = ordered.findIndex((id) => id.startsWith('ConfigMap inside/'));
        expect(inside === -1 || ordered.indexOf('Namespace inside') < inside).toBe(true);
      }),
    );
  });

  it('keeps an order that is right already', () => {
    fc.assert(
      fc.property(members, (declared) => {
        const ordered = orderMembers(declared);
        expect(ids(orderMembers(ordered))).toEqual(ids(ordered));
      }),
    );
  });

  it('is the reverse of the order in which they are removed', () => {
    fc.assert(
      fc.property(members, (declared) => {
        const set = createObjectSet(OWNER, declared);
        const observed = set.members.map((member) => ({ member, live: member.object }));
        const on = { owner: OWNER, observed, off: new Set<never>(), unknown: new Set<undefined>(), strangers: [] };
        const made = planSet(on).apply.map(({ member }) => idOf(member));
        const removed = planSet({ ...on, off: 'all' }).remove.map(({ member }) => idOf(member));
        expect(removed).toEqual(made.toReversed());
        expect(made).toHaveLength(declared.length);
      }),
    );
  });
});

describe('orderMembers', () => {
  it('moves what comes too late, and nothing else', () => {
    const late = account('x/late');
    const user = configMap('x/user', { dependsOn: [idOf(late)] });
    expect(ids(orderMembers([configMap('x/a'), user, configMap('x/b'), late, configMap('x/c')]))).toEqual([
      'ConfigMap x/a',
      'ServiceAccount x/late',
      'ConfigMap x/user',
      'ConfigMap x/b',
      'ConfigMap x/c',
    ]);
  });

  it.each([
    {
      why: 'a cycle, with its ids in order',
      declared: [
        configMap('x/a', { dependsOn: ['ConfigMap x/b'] }),
        configMap('x/b', { dependsOn: ['ConfigMap x/c'] }),
        configMap('x/c', { dependsOn: ['ConfigMap x/b'] }),
      ],
      message: 'objects depend on one another: ConfigMap x/b -> ConfigMap x/c -> ConfigMap x/b',
    },
    {
      why: 'a member that depends on itself',
      declared: [configMap('x/a', { dependsOn: ['ConfigMap x/a'] })],
      message: 'objects depend on one another: ConfigMap x/a -> ConfigMap x/a',
    },
    {
      why: 'a Namespace that depends on what is in it',
      declared: [namespace('x', { dependsOn: ['ConfigMap x/a'] }), configMap('x/a')],
      message: 'objects depend on one another: Namespace x -> ConfigMap x/a -> Namespace x',
    },
    {
      why: 'an id that is not in the set',
      declared: [configMap('x/a', { dependsOn: ['ConfigMap x/gone'] })],
      message: 'ConfigMap x/a depends on ConfigMap x/gone, which is not in the set',
    },
    {
      why: 'an id that two members have',
      declared: [configMap('x/a'), configMap('x/a')],
      message: 'ConfigMap x/a is in the set twice',
    },
  ])('names $why', ({ declared, message }) => {
    expect(() => orderMembers(declared)).toThrow(new Error(message));
  });
});

describe('createObjectSet', () => {
  it('names members that lack a label of the owner: these could not be told from foreign ones', () => {
    const unmarked: Member = { ...configMap('x/b'), object: { metadata: { namespace: 'x', name: 'b' } } };
    expect(() => createObjectSet(OWNER, [configMap('x/a'), unmarked])).toThrow(
      new Error('lacks a label of its owner: ConfigMap x/b'),
    );
  });
});

const STACK_A = { labels: { program: 'ours', stack: 'a' }, distinguishing: ['stack'] };
const APPLIED = { 'traffic.example.com/applied-hash': 'x' };

function controlledBy(uid: string): object {
  return { ownerReferences: [{ apiVersion: 'v1', kind: 'Stack', name: uid, uid, controller: true }] };
}

interface Row {
  readonly why: string;
  readonly metadata: object;
  readonly desired?: KubeObject;
  readonly ours: boolean;
}

const rows: readonly Row[] = [
  { why: 'all labels of the owner', metadata: { labels: STACK_A.labels }, ours: true },
  { why: 'some of them', metadata: { labels: { program: 'ours' } }, ours: false },
  { why: 'none', metadata: {}, ours: false },
  { why: 'the mark of our apply, its labels taken off', metadata: { annotations: APPLIED }, ours: true },
  {
    why: 'the mark of our apply, and a label that somebody changed',
    metadata: { annotations: APPLIED, labels: { ...STACK_A.labels, program: 'other' } },
    ours: true,
  },
  {
    why: 'the mark of our apply, and the label of another set',
    metadata: { annotations: APPLIED, labels: { ...STACK_A.labels, stack: 'b' } },
    ours: false,
  },
  { why: 'a controller of its own', metadata: { labels: STACK_A.labels, ...controlledBy('other') }, ours: false },
  {
    why: 'the controller that we gave it',
    metadata: { labels: STACK_A.labels, ...controlledBy('stack') },
    desired: { metadata: controlledBy('stack') },
    ours: true,
  },
  {
    why: 'another controller than we gave it',
    metadata: { labels: STACK_A.labels, ...controlledBy('other') },
    desired: { metadata: controlledBy('stack') },
    ours: false,
  },
];

describe('isOwnedBy', () => {
  it.each(rows)('an object with $why: $ours', ({ metadata, desired, ours }) => {
    expect(isOwnedBy(STACK_A, { metadata }, desired)).toBe(ours);
  });
});
