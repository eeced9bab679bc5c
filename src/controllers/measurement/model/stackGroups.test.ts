import { describe, expect, it } from 'vitest';
import type { ComponentSpec, InventoryObject, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { stackOwnershipOf, ownedByStacks } from '../../contract/stackOwnership.ts';
import { allComponents } from '../components/components.ts';
import { defaultMeasurementOptions } from '../options.ts';
import { deployedByFlags, STACK_TYPES, untouchedGroups, switchedOff } from './stackGroups.ts';

const OPTIONS = defaultMeasurementOptions('op');
const NOTHING_ON = {
  ...OPTIONS,
  exporter: { ...OPTIONS.exporter, enabled: false },
  prometheus: { ...OPTIONS.prometheus, enabled: false },
};
const BY_FLAGS = deployedByFlags(OPTIONS);
const DAEMON_SET = { kind: 'DaemonSet', namespace: 'op-node-exporter', name: 'node-exporter' };
const EXPORTER = ['exporter', 'exporterNamespace'];
const PROMETHEUS = ['prometheus', 'claim'];

function stack(components: readonly ComponentSpec[], objects: readonly InventoryObject[] = [], isLeaving = false) {
  const metadata = { name: 'main', ...(isLeaving && { deletionTimestamp: new Date(0) }) };
  const status = { inventory: [{ component: 'x', dependsOn: [], objects: [...objects] }] };
  return { metadata, spec: { components: [...components] }, status };
}
const exporter = (over: Partial<ComponentSpec> = {}): ComponentSpec => ({ name: 'x', type: 'NodeExporter', ...over });
const prometheus: ComponentSpec = { name: 'p', type: 'Prometheus' };
const off = exporter({ mode: 'Disabled' });

interface Row {
  readonly why: string;
  readonly stacks: readonly TrafficStack[];
  readonly kept?: readonly string[];
  /** With the flags that deploy both. */
  readonly off?: readonly string[];
  /** With flags that deploy neither. */
  readonly offWithout?: readonly string[];
}

const BOTH = [...EXPORTER, ...PROMETHEUS];
const rows: Row[] = [
  { why: 'no stack: the flags decide', stacks: [] },
  { why: 'a stack with other components: the flags decide', stacks: [stack([{ name: 'x', type: 'Workload' }])] },
  {
    why: 'a stack names it: it is left to the stack, and its namespace is kept',
    stacks: [stack([exporter()])],
    kept: ['exporter'],
    offWithout: PROMETHEUS,
  },
  { why: 'without the own Prometheus, no stack has it', stacks: [stack([prometheus])], kept: ['prometheus'] },
  { why: 'a stack disables it: it is removed, whatever the flags say', stacks: [stack([off])], off: EXPORTER },
  {
    why: 'another owner makes it: it is removed, so that its port is free, whatever the flags say',
    stacks: [stack([exporter({ mode: 'External' })])],
    off: EXPORTER,
  },
  {
    why: 'another owner may make it: it is left to the stack',
    stacks: [stack([exporter({ mode: 'Auto' })])],
    kept: ['exporter'],
    offWithout: PROMETHEUS,
  },
  {
    why: 'a stack disables it and has not removed all: the stack goes on',
    stacks: [stack([off], [DAEMON_SET])],
    kept: ['exporter'],
    off: EXPORTER,
  },
  {
    why: 'it is no longer in the spec, and the stack has not removed all',
    stacks: [stack([], [DAEMON_SET])],
    kept: ['exporter'],
  },
  {
    why: 'its stack is being deleted, and has not removed all',
    stacks: [stack([exporter()], [DAEMON_SET], true)],
    kept: ['exporter'],
  },
  { why: 'its stack is being deleted, and has nothing of it', stacks: [stack([exporter()], [], true)] },
  {
    why: 'objects of others with its name in another namespace',
    stacks: [stack([], [{ ...DAEMON_SET, namespace: 'shop' }])],
  },
  {
    why: 'one stack disables it, and another stack has it',
    stacks: [stack([off]), stack([exporter()])],
    kept: ['exporter'],
    offWithout: PROMETHEUS,
  },
  { why: 'an older CRD accepted a stack without a spec', stacks: [{ metadata: { name: 'main' } } as TrafficStack] },
];

describe('who keeps what is measured with', () => {
  it.each(rows)('$why', ({ stacks, kept = [], off: isOff = [], offWithout = BOTH }) => {
    const ownership = stackOwnershipOf(STACK_TYPES, stacks, allComponents(OPTIONS), new Set());
    expect([...ownedByStacks(STACK_TYPES, ownership)]).toEqual(kept);
    expect([...switchedOff(OPTIONS, ownership)]).toEqual(isOff);
    expect([...switchedOff(NOTHING_ON, ownership)]).toEqual(offWithout);
  });
});

describe('what the flags deploy and no stack names', () => {
  const kept = (stacks: TrafficStack[], options = OPTIONS): string[] => [
    ...ownedByStacks(
      STACK_TYPES,
      stackOwnershipOf(STACK_TYPES, stacks, allComponents(options), deployedByFlags(options)),
    ),
  ];
  it.each<[string, TrafficStack[], string[]]>([
    ['before the stack default exists', [], ['exporter', 'prometheus']],
    ['while that has other components', [stack([])], ['exporter', 'prometheus']],
    ['not what another stack disables', [stack([exporter({ mode: 'External' })])], ['prometheus']],
  ])('is left to the stack default: %s', (_, stacks, groups) => {
    expect(kept(stacks)).toEqual(groups);
  });

  it('is nothing with flags that deploy nothing: what an older version has made is removed', () => {
    expect(kept([], NOTHING_ON)).toEqual([]);
  });
});

describe('the objects that replace an exporter', () => {
  const workload = { kind: 'DaemonSet', namespace: 'monitoring', name: 'node-exporter' };
  const using = (over: Partial<ComponentSpec> = {}, isLeaving = false, uses = true): TrafficStack => {
    const found = stack([exporter({ mode: 'External', ...over })], [], isLeaving);
    const status = { name: 'x', type: 'NodeExporter', state: 'Ready', reason: '', message: '', since: '' } as const;
    return { ...found, status: { ...found.status, components: [{ ...status, ...(uses && { uses: workload }) }] } };
  };
  it.each<[string, TrafficStack[], unknown]>([
    ['is as the status says', [stack([]), using()], { component: exporter({ mode: 'External' }), workload }],
    ['is none that is not seen', [stack([exporter({ mode: 'External' })])], undefined],
    ['is none while there is none', [using({}, false, false)], undefined],
    ['is none of a component that has another name now', [using({ name: 'y' })], undefined],
    ['is none of a stack that goes', [using({}, true)], undefined],
    ['is none if another stack has its own', [using(), stack([exporter()])], undefined],
    [
      'is none until its own is gone',
      [
        {
          ...using(),
          status: { ...using().status, inventory: [{ component: 'x', dependsOn: [], objects: [DAEMON_SET] }] },
        },
      ],
      undefined,
    ],
  ])('%s', (_, stacks, used) => {
    expect(stackOwnershipOf(STACK_TYPES, stacks, allComponents(OPTIONS), BY_FLAGS).exporter.used).toEqual(used);
  });
});

describe('the claim of Prometheus', () => {
  const uses = { kind: 'Service', namespace: 'monitoring', name: 'prometheus', url: 'http://p' };
  const auto: ComponentSpec = { ...prometheus, mode: 'Auto' };
  const withStatus = (over: NonNullable<TrafficStack['status']>): TrafficStack => ({ ...stack([auto]), status: over });
  const component = { name: 'p', state: 'Ready', reason: 'Answering', message: '', since: '' } as const;
  const own = { kind: 'Deployment', namespace: 'op', name: 'prometheus' };
  it.each<[string, TrafficStack[], boolean]>([
    ['no stack names it yet', [stack([])], true],
    ['a stack makes its own', [stack([prometheus])], false],
    ['a stack asks for one of another owner', [stack([{ ...prometheus, mode: 'External' }])], true],
    ['a stack disables it', [stack([{ ...prometheus, mode: 'Disabled' }])], true],
    ['a stack has not looked yet, or waits', [stack([auto])], true],
    ['it uses one of another owner', [withStatus({ components: [{ ...component, type: 'Prometheus', uses }] })], true],
    [
      'it has begun to make its own',
      [withStatus({ inventory: [{ component: 'p', dependsOn: [], objects: [own] }] })],
      false,
    ],
    ['it is being deleted, and is made again', [stack([auto], [], true)], true],
  ])('is neither made nor deleted without an own Prometheus: %s', (_, stacks, isLeft) => {
    const ownership = stackOwnershipOf(STACK_TYPES, stacks, allComponents(OPTIONS), BY_FLAGS);
    expect([...untouchedGroups(ownership)]).toEqual(isLeft ? ['claim'] : []);
    expect(switchedOff(OPTIONS, ownership)).not.toContain('claim');
    expect(switchedOff(NOTHING_ON, ownership)).toContain('claim');
  });

  it('is unchanged while stacks are not known', () => {
    expect([...untouchedGroups(undefined)]).toEqual(['claim']);
  });
});

it.each<[string, Partial<ComponentSpec>, boolean]>([
  ['named, as a found one is', { mode: 'External', external: { kind: 'Node' } }, true],
  ['searched', { mode: 'External' }, false],
])('the namespace of node-exporter is neither made nor deleted while one of another owner is %s', (_, over, isLeft) => {
  const ownership = stackOwnershipOf(STACK_TYPES, [stack([exporter(over)])], allComponents(OPTIONS), BY_FLAGS);
  expect(untouchedGroups(ownership).has('exporterNamespace')).toBe(isLeft);
});
