import { describe, expect, it } from 'vitest';
import type { BuiltInType } from '../../../api/trafficstack/terms.ts';
import type { ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { component, stackOf } from '../testing/stacks.ts';
import { defaultStackOf, isOfOperator } from './defaultStack.ts';

const builtIn = (type: BuiltInType, over: Partial<BuiltIn> = {}): BuiltIn => {
  return { type, fieldManager: 'x', isDeployed: true, render: () => [], ...over };
};
const EXPORTER = builtIn('NodeExporter');
const PROMETHEUS = builtIn('Prometheus');
const named = (type: BuiltInType, mode: 'Managed' | 'Disabled' = 'Managed') => stackOf([{ name: 'x', type, mode }]);

describe('the stack default', () => {
  it('has a component of each type that is deployed, without settings, and is marked', () => {
    expect(defaultStackOf([EXPORTER, PROMETHEUS], [])).toEqual({
      metadata: { name: 'default', labels: { 'app.kubernetes.io/managed-by': 'traffic-operator' } },
      spec: {
        components: [
          { name: 'node-exporter', type: 'NodeExporter' },
          { name: 'prometheus', type: 'Prometheus' },
        ],
      },
    });
  });

  it.each<[string, readonly BuiltIn[], Parameters<typeof defaultStackOf>[1], readonly string[]]>([
    ['the flags do not deploy', [EXPORTER, builtIn('Prometheus', { isDeployed: false })], [], ['node-exporter']],
    ['no stack may have', [EXPORTER, builtIn('Prometheus', { problem: 'none' })], [], ['node-exporter']],
    [
      'another stack names',
      [EXPORTER, PROMETHEUS],
      [stackOf([component('web')]), named('Prometheus')],
      ['node-exporter'],
    ],
    ['another stack switches off', [EXPORTER, PROMETHEUS], [named('NodeExporter', 'Disabled')], ['prometheus']],
  ])('has none of a type that %s', (_, builtIns, others, names) => {
    expect(defaultStackOf(builtIns, others)?.spec.components.map(({ name }) => name)).toEqual(names);
  });

  it('has what a stack names that is being deleted', () => {
    const { metadata, ...leaving } = named('Prometheus');
    const other = { ...leaving, metadata: { ...metadata, deletionTimestamp: new Date(0) } };
    expect(defaultStackOf([PROMETHEUS], [other])?.spec.components).toHaveLength(1);
  });

  it('is none without a component', () => {
    expect(defaultStackOf([builtIn('Prometheus', { isDeployed: false })], [])).toBeUndefined();
  });
});

it.each<[string, string, object, readonly ComponentSpec[], boolean]>([
  [
    'as it was made',
    'default',
    { 'app.kubernetes.io/managed-by': 'traffic-operator' },
    [{ name: 'x', type: 'Prometheus' }],
    true,
  ],
  ['with a workload', 'default', { 'app.kubernetes.io/managed-by': 'traffic-operator' }, [component('web')], false],
  ['of somebody else', 'default', {}, [{ name: 'x', type: 'Prometheus' }], false],
  [
    'another',
    'main',
    { 'app.kubernetes.io/managed-by': 'traffic-operator' },
    [{ name: 'x', type: 'Prometheus' }],
    false,
  ],
])('a stack %s is the operator’s: %s', (_, name, labels, components, is) => {
  expect(isOfOperator({ ...stackOf(components), metadata: { name, labels: { ...labels } } })).toBe(is);
});
