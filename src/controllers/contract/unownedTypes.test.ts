import { expect, it } from 'vitest';
import type { BuiltInType } from '../../api/trafficstack/terms.ts';
import type { TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import { DEPLOYMENTS } from '../../runtime/client/resources.ts';
import type { Member } from '../../runtime/objectSet/objectSet.ts';
import { stackOwnershipOf, unownedProblems } from './stackOwnership.ts';

const TYPES = { exporter: 'NodeExporter', prometheus: 'Prometheus' } as const;
type Group = keyof typeof TYPES;
const member = (group: Group): Member => ({ group, resource: DEPLOYMENTS, object: { metadata: { name: group } } });
const MEMBERS = [member('exporter'), member('prometheus')];
const stack = (type: BuiltInType): TrafficStack => ({
  metadata: { name: 'main' },
  spec: { components: [{ name: 'x', type }] },
});
const BOTH = new Set<Group>(['exporter', 'prometheus']);

interface Case {
  readonly stacks?: readonly TrafficStack[];
  readonly byFlags?: ReadonlySet<Group>;
  readonly existing?: readonly Group[];
  readonly hasDefaultStack?: boolean;
  readonly isKnown?: boolean;
}

it.each<[string, Case, string[]]>([
  ['no stack has them', {}, ['the type NodeExporter', 'the type Prometheus']],
  ['a stack has one of them', { stacks: [stack('NodeExporter')] }, ['the type Prometheus']],
  ['a stack has each', { stacks: [stack('NodeExporter'), stack('Prometheus')] }, []],
  ['one of them exists', { existing: ['exporter'] }, ['the type NodeExporter']],
  ['the flags deploy one of them', { byFlags: new Set(['prometheus']) }, ['the type Prometheus']],
  ['the stack default will have them', { hasDefaultStack: true }, []],
  ['it is not known what stacks have', { isKnown: false }, []],
])('objects that nobody keeps are a problem: %s', (_why, given, objects) => {
  const { stacks = [], byFlags = BOTH, existing = [...BOTH], hasDefaultStack = false, isKnown = true } = given;
  const ownership = isKnown ? stackOwnershipOf(TYPES, stacks, MEMBERS, byFlags) : undefined;
  const problems = unownedProblems(ownership, {
    ...{ types: TYPES, byFlags, hasDefaultStack, members: MEMBERS },
    live: ({ group, object }) => (existing.some((each) => each === group) ? object : undefined),
  });
  expect(problems.map(({ object }) => object)).toEqual(objects);
});
