import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../client/resource.ts';
import { idOf, type Member, createObjectSet } from './objectSet.ts';
import { planSet, type Observation, type Observed } from './plan.ts';
import { account, configMap, namespace, OWNER, type Group } from './testing/members.ts';

/** Red has a Namespace of its own; a blue object depends on a red one; what has no group is used by nobody. */
const NAMESPACE = 'Namespace red';
const ACCOUNT = 'ServiceAccount red/account';
const RED = 'ConfigMap red/red';
const BLUE = 'ConfigMap elsewhere/blue';
const ALONE = 'ConfigMap elsewhere/alone';
const SET = createObjectSet<Group>(OWNER, [
  namespace('red', { group: 'red' }),
  account('red/account', { group: 'red' }),
  configMap('red/red', { group: 'red', dependsOn: [ACCOUNT] }),
  configMap('elsewhere/blue', { group: 'blue', dependsOn: [ACCOUNT] }),
  configMap('elsewhere/alone'),
]);
const ALL = [NAMESPACE, ACCOUNT, RED, BLUE, ALONE];

type Live = (member: Member) => KubeObject | undefined;
const ours: Live = ({ object }) => object;
const foreign: Live = ({ object }) => ({ metadata: { name: object.metadata?.name } });
const leaving: Live = ({ object }) => ({
  metadata: Object.assign({}, object.metadata, { deletionTimestamp: new Date(0) }),
});
const foreignLeaving: Live = (member) => ({
  metadata: { ...foreign(member)?.metadata, deletionTimestamp: new Date(0) },
});
const nothing: Live = () => undefined;

interface Row {
  readonly why: string;
  /** The objects in the cluster that differ from `usual`, by id. */
  readonly but?: Record<string, Live>;
  readonly usual?: Live;
  readonly off?: readonly Group[] | 'all';
  readonly unknown?: readonly (Group | undefined)[];
  readonly strangers?: readonly string[];
  readonly apply?: readonly string[];
  readonly remove?: readonly string[];
  readonly problems?: readonly string[];
  readonly waiting?: boolean;
}

const rows: readonly Row[] = [
  { why: 'nothing is there: everything is made', usual: nothing, apply: ALL },
  { why: 'what is ours is compared again', apply: ALL },
  {
    why: 'a foreign object is not touched, but named; objects that depend on it are applied',
    but: { [ACCOUNT]: foreign },
    apply: [NAMESPACE, RED, BLUE, ALONE],
    problems: [`ForeignObject ${ACCOUNT}`],
  },
  {
    why: 'a foreign object that is being deleted is foreign all the same',
    but: { [ALONE]: foreignLeaving },
    apply: [NAMESPACE, ACCOUNT, RED, BLUE],
    problems: [`ForeignObject ${ALONE}`],
  },
  {
    why: 'what depends on an object that is being deleted waits with it, in whatever group',
    but: { [ACCOUNT]: leaving },
    apply: [NAMESPACE, ALONE],
    waiting: true,
  },
  {
    why: 'so does what depends on it by way of others: all that is in a Namespace, and all that needs that',
    but: { [NAMESPACE]: leaving },
    apply: [ALONE],
    waiting: true,
  },
  {
    why: 'a group that is off goes, the rest stays',
    off: ['blue'],
    apply: [NAMESPACE, ACCOUNT, RED, ALONE],
    remove: [BLUE],
  },
  {
    why: 'what a group that is on depends on stays, though its own group is off',
    off: ['red'],
    apply: [NAMESPACE, ACCOUNT, BLUE, ALONE],
    remove: [RED],
  },
  { why: 'without the set everything goes, in the reverse order', off: 'all', remove: ALL.toReversed() },
  { why: 'nothing goes that is going already', off: 'all', usual: leaving },
  { why: 'nothing goes that is not there', off: 'all', usual: nothing },
  { why: 'nothing foreign goes', off: 'all', usual: foreign },
  {
    why: 'a Namespace with a stranger in it is kept and named',
    off: 'all',
    strangers: ['red/debug'],
    remove: [ALONE, BLUE, RED, ACCOUNT],
    problems: [`NamespaceKept ${NAMESPACE}`],
  },
  {
    why: 'a stranger in another namespace is no reason to keep it',
    off: 'all',
    strangers: ['red-and-blue/debug'],
    remove: ALL.toReversed(),
  },
  {
    why: 'a Namespace with a foreign object of one of our names is kept and named',
    off: 'all',
    but: { [RED]: foreign },
    remove: [ALONE, BLUE, ACCOUNT],
    problems: [`NamespaceKept ${NAMESPACE}`],
  },
  {
    why: 'unknown objects are unchanged, with their group and all that depends on it',
    unknown: ['red'],
    apply: [ALONE],
  },
  {
    why: 'what an unknown group depends on is not removed',
    off: 'all',
    unknown: ['blue'],
    remove: [ALONE, RED],
  },
  { why: 'what has no group can be unknown too', unknown: [undefined], apply: [NAMESPACE, ACCOUNT, RED, BLUE] },
];

describe('planSet', () => {
  it.each(rows)('$why', (row) => {
    const plan = planSet(observe(row));
    expect({
      apply: ids(plan.apply),
      remove: ids(plan.remove),
      problems: plan.problems.map(({ reason, object }) => `${reason} ${object}`),
      waiting: plan.waiting,
    }).toEqual({
      apply: row.apply ?? [],
      remove: row.remove ?? [],
      problems: row.problems ?? [],
      waiting: row.waiting ?? false,
    });
  });
});

function observe({ but = {}, usual = ours, off = [], unknown = [], strangers = [] }: Row): Observation<Group> {
  const observed = SET.members.map((member) => ({ member, live: (but[idOf(member)] ?? usual)(member) }));
  return {
    owner: OWNER,
    observed,
    off: off === 'all' ? off : new Set(off),
    unknown: new Set(unknown),
    strangers,
  };
}

function ids(list: readonly Observed[]): string[] {
  return list.map(({ member }) => idOf(member));
}
