import { expect, it } from 'vitest';
import type { ComponentSpec, ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { DEPLOYMENTS } from '../../../runtime/client/resources.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { renderStack, type RenderedComponent } from '../render/stack.ts';
import { controllerRevisionOf, storedIn } from '../render/storedRevision.ts';
import { at, component, rendered, stackOf } from '../testing/stacks.ts';
import { desiredComponentOf } from './desired.ts';

/** The namespace of the operator. */
const NAMESPACE = 'op';
const UPGRADE = { rollback: true };
const SERVER: BuiltIn = {
  ...{ type: 'Prometheus', fieldManager: 'measurement', isDeployed: true },
  render: ({ prometheus }) => [
    {
      resource: DEPLOYMENTS,
      object: {
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'elsewhere', name: 'prometheus' } },
        spec: { template: { spec: { containers: [{ name: 'p', image: prometheus?.image }] } } },
      } as object,
    },
  ],
};
const METRICS: ComponentSpec = { name: 'metrics', type: 'Prometheus' };

function builtIn(image: string, over: Partial<ComponentSpec> = {}): RenderedComponent {
  const spec = { ...METRICS, ...over, prometheus: { image } };
  const result = renderStack(stackOf([]), {}, [spec], {
    countNodes: () => 1,
    builtIns: [SERVER, { ...SERVER, type: 'Weights' }],
  });
  if ('problems' in result) throw new Error(result.problems.join());
  return result.components[0]!;
}
const target = (
  of: RenderedComponent,
  stack = stackOf([]),
  stored?: Parameters<typeof desiredComponentOf>[1]['stored'],
) => desiredComponentOf(of, { stack, upgrade: UPGRADE, stored, namespace: NAMESPACE });

const storedOf = (of: RenderedComponent) =>
  storedIn(controllerRevisionOf(stackOf([]), { name: 'metrics', namespace: NAMESPACE, ...of }, 1));
/** The status says that this revision has failed. */
function rolledBack({ revision }: RenderedComponent): TrafficStack {
  const status: ComponentStatus = {
    ...{ name: 'metrics', type: 'Prometheus', state: 'Failed', reason: 'RolledBack', message: '', since: at(0) },
    rolledBackFrom: { revision, message: 'not ready within 10m' },
  };
  return stackOf([], { components: [status] });
}

it('is stored in the namespace of its pods, or in the namespace of the operator', () => {
  expect(target(rendered(component('web'))).revisionsIn).toBe('shop');
  expect(target(builtIn('p:1')).revisionsIn).toBe(NAMESPACE);
  expect(target(builtIn('p:1', { mode: 'Auto' })).revisionsIn).toBe(NAMESPACE);
});

it.each<Partial<ComponentSpec>>([{ rollback: false }, { mode: 'External' }, { type: 'Weights' }])(
  'is not stored with %j',
  (over) => {
    expect(target(builtIn('p:1', over))).not.toHaveProperty('revisionsIn');
  },
);

it('is restored with the field manager of what is stored, also under another type', () => {
  const changed = rendered(component('metrics'));
  const stored = storedOf(builtIn('p:1'));
  const restored = target(changed, rolledBack(changed), stored);
  expect(restored.objects.map(({ fieldManager }) => fieldManager)).toEqual(['measurement']);
});

it('is restored as the controller applies it that deploys it without a stack', () => {
  const [old, changed] = [builtIn('p:1'), builtIn('p:2')];
  const restored = target(changed, rolledBack(changed), storedOf(old));
  expect(restored.objects).toEqual(old.objects);
  expect(restored.objects[0]).toMatchObject({ fieldManager: 'measurement' });
  expect(restored).toMatchObject({ revision: old.revision, rolledBackFrom: { revision: changed.revision } });
});
