import { describe, expect, it } from 'vitest';
import type { BuiltInType } from '../../../api/trafficstack/terms.ts';
import type { ComponentSpec, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { component, stackOf } from '../testing/stacks.ts';
import { isOfOperator, planDefaultStack } from './defaultStack.ts';

const builtIn = (type: BuiltInType, over: Partial<BuiltIn> = {}): BuiltIn => {
  return { type, fieldManager: 'x', isDeployed: true, render: () => [], ...over };
};
const EXPORTER = builtIn('NodeExporter');
const PROMETHEUS = builtIn('Prometheus');
const named = (type: BuiltInType, mode: 'Managed' | 'Disabled' = 'Managed') => stackOf([{ name: 'x', type, mode }]);

const planOf = (builtIns: readonly BuiltIn[], stacks: Parameters<typeof planDefaultStack>[1]) => {
  const plan = planDefaultStack(builtIns, stacks);
  const names =
    plan?.do !== 'create' && plan?.do !== 'change' ? [] : plan.stack.spec.components.map(({ name }) => name);
  return [plan?.do ?? 'nothing', ...names];
};
/** The stack as the operator has written it for these types. */
function written(builtIns: readonly BuiltIn[], over: Partial<ComponentSpec> = {}): TrafficStack {
  const plan = planDefaultStack(builtIns, []);
  if (plan?.do !== 'create') throw new Error('it is not created');
  const components = plan.stack.spec.components.map((each) => ({ ...each, ...over }));
  return { ...plan.stack, spec: { components }, status: {} };
}
const leaving = (stack: TrafficStack): TrafficStack => {
  return { ...stack, metadata: { ...stack.metadata, deletionTimestamp: new Date(0) } };
};
const BOTH = [EXPORTER, PROMETHEUS];
const OFF = builtIn('Prometheus', { isDeployed: false });

describe('the stack default', () => {
  it('has a component of each type that is deployed, without settings, and is marked', () => {
    expect(planDefaultStack(BOTH, [])).toMatchObject({
      do: 'create',
      stack: {
        metadata: { name: 'default', labels: { 'app.kubernetes.io/managed-by': 'traffic-operator' } },
        spec: {
          components: [
            { name: 'node-exporter', type: 'NodeExporter' },
            { name: 'prometheus', type: 'Prometheus' },
          ],
        },
      },
    });
  });

  it('does not deploy a second time what another owner may have made', () => {
    const externalProvider = (): never => {
      throw new Error('it is not looked for yet');
    };
    expect(planDefaultStack([builtIn('Prometheus', { externalProvider })], [])).toMatchObject({
      stack: { spec: { components: [{ name: 'prometheus', type: 'Prometheus', mode: 'Auto' }] } },
    });
  });

  it.each<[string, readonly BuiltIn[], readonly TrafficStack[], string[]]>([
    ['without what the flags do not deploy', [EXPORTER, OFF], [], ['create', 'node-exporter']],
    [
      'without what no stack may have',
      [EXPORTER, builtIn('Prometheus', { problem: 'x' })],
      [],
      ['create', 'node-exporter'],
    ],
    [
      'without what another names',
      BOTH,
      [stackOf([component('web')]), named('Prometheus')],
      ['create', 'node-exporter'],
    ],
    ['without what another switches off', BOTH, [named('NodeExporter', 'Disabled')], ['create', 'prometheus']],
    ['with what another has that goes', [PROMETHEUS], [leaving(named('Prometheus'))], ['create', 'prometheus']],
    ['not without a component', [OFF], [], ['nothing']],
    ['not changed as it is', BOTH, [written(BOTH)], ['nothing']],
    ['changed as the flags', [EXPORTER, OFF], [written(BOTH)], ['change', 'node-exporter']],
    ['changed for one more', BOTH, [written([EXPORTER])], ['change', 'node-exporter', 'prometheus']],
    ['not changed for what another names', BOTH, [written(BOTH), named('Prometheus')], ['nothing']],
    ['deleted if the flags deploy nothing', [OFF], [written(BOTH)], ['delete']],
    ['left as people changed it', [EXPORTER, OFF], [written(BOTH, { deadline: '1m' })], ['leave']],
    ['left as people made it', BOTH, [{ ...named('Prometheus'), metadata: { name: 'default' } }], ['leave']],
    ['left while it goes', [EXPORTER, OFF], [leaving(written(BOTH))], ['nothing']],
  ])('is made %s', (_, builtIns, stacks, wanted) => {
    expect(planOf(builtIns, stacks)).toEqual(wanted);
  });
});

describe('the settings in the stack default', () => {
  const kept = (retention: string): BuiltIn => builtIn('Prometheus', { settings: { prometheus: { retention } } });
  const prometheusIn = (plan: ReturnType<typeof planDefaultStack>) =>
    plan?.do === 'create' || plan?.do === 'change'
      ? plan.stack.spec.components.find(({ type }) => type === 'Prometheus')?.prometheus
      : plan?.do;

  it.each<[string, readonly TrafficStack[], BuiltIn, unknown]>([
    ['come from the flags when it is created', [], kept('15d'), { retention: '15d' }],
    [
      'follow the flags while nobody has changed it',
      [written([EXPORTER, kept('15d')])],
      kept('30d'),
      { retention: '30d' },
    ],
    ['come to one that an earlier version has made', [written(BOTH)], kept('15d'), { retention: '15d' }],
    ['are not written again', [written([EXPORTER, kept('15d')])], kept('15d'), undefined],
    ['stay when people have changed it', [written([EXPORTER, kept('15d')], { deadline: '1m' })], kept('30d'), 'leave'],
  ])('%s', (_, stacks, prometheus, wanted) => {
    expect(prometheusIn(planDefaultStack([EXPORTER, prometheus], stacks))).toEqual(wanted);
  });
});

describe('an external object that the spec of the stack default names', () => {
  const searched = (retention: string): BuiltIn =>
    builtIn('Prometheus', {
      settings: { prometheus: { retention } },
      externalProvider: () => expect.fail('it is not searched here'),
    });
  const external = { kind: 'Service', namespace: 'monitoring', name: 'prom' } as const;
  const named = written([searched('15d')], { mode: 'External', external });

  it('is not a change of a user: nothing is written', () => {
    expect(planDefaultStack([searched('15d')], [named])).toBeUndefined();
  });

  it('is kept when the flags change other settings, also the next time', () => {
    const plan = planDefaultStack([searched('30d')], [named]);
    const wanted = [
      { name: 'prometheus', type: 'Prometheus', mode: 'External', external, prometheus: { retention: '30d' } },
    ];
    expect(plan).toMatchObject({ do: 'change', stack: { spec: { components: wanted } } });
    const { stack } = plan as Extract<typeof plan, { do: 'change' }>;
    expect(planDefaultStack([searched('30d')], [{ ...stack, status: {} }])).toBeUndefined();
  });

  it('does not hide a change of a user', () => {
    const changed = written([searched('15d')], { mode: 'External', external, deadline: '1m' });
    expect(planDefaultStack([searched('30d')], [changed])).toMatchObject({ do: 'leave' });
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
  [
    'with a TrafficWeight',
    'default',
    { 'app.kubernetes.io/managed-by': 'traffic-operator' },
    [{ name: 'dns', type: 'Weights' }],
    false,
  ],
  ['of another owner', 'default', {}, [{ name: 'x', type: 'Prometheus' }], false],
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
