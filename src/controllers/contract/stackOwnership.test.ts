import { expect, it } from 'vitest';
import type { ComponentSpec, TrafficStack } from '../../api/trafficstack/trafficStack.ts';
import type { Member } from '../../runtime/objectSet/objectSet.ts';
import { SERVICES } from '../../runtime/client/resources.ts';
import { identityOfStack, stackOwnershipOf } from './stackOwnership.ts';

const LARGE = 'x'.repeat(100_000);
const SERVICE = { kind: 'Service', namespace: 'op', name: 'prometheus' };
const USED = { kind: 'Service', namespace: 'mon', name: 'prometheus', url: 'http://prometheus.mon:9090' };
const MEMBERS: Member[] = [
  {
    group: 'prometheus',
    resource: SERVICES,
    dependsOn: [],
    object: { metadata: { namespace: 'op', name: 'prometheus' } },
  },
];

/** A stack with a Prometheus, and with everything large that a user can make large. */
function largeStack(prometheus: Partial<ComponentSpec>, status: object = {}): TrafficStack {
  const many = Array.from({ length: 200 }, (_, n) => ({
    name: `web-${n}`,
    type: 'Workload',
    workload: { text: LARGE },
  }));
  return {
    apiVersion: 'v1',
    kind: 'TrafficStack',
    metadata: { name: 'main', generation: 3, labels: { a: LARGE }, annotations: { a: LARGE } },
    spec: { components: [...many, { name: 'prom', type: 'Prometheus', ...prometheus }] },
    status: {
      conditions: [{ type: 'Ready', status: 'True', reason: 'AllReady', message: '', lastTransitionTime: '' }],
      inventory: [
        { component: 'web-0', dependsOn: [], objects: Array.from({ length: 900 }, () => SERVICE) },
        { component: 'prom', dependsOn: ['web-0'], objects: Array.from({ length: 900 }, () => SERVICE) },
      ],
      ...status,
    },
  } as unknown as TrafficStack;
}

const ownership = (stack: TrafficStack) =>
  stackOwnershipOf({ prometheus: 'Prometheus' }, [identityOfStack(stack)], MEMBERS, new Set()).prometheus;

it('has a bounded size', () => {
  const component = {
    name: 'prom',
    type: 'Prometheus',
    state: 'Ready',
    reason: 'Answering',
    message: LARGE,
    since: '',
  };
  const large = largeStack({ prometheus: { image: LARGE } }, { components: [component], summary: LARGE });
  expect(JSON.stringify(identityOfStack(large)).length).toBeLessThan(2_000);
  expect(identityOfStack({ metadata: { name: 'old' } } as TrafficStack).spec.components).toEqual([]);
});

it('keeps its objects of a built-in type from being removed, and from being deployed again', () => {
  expect(ownership(largeStack({}))).toMatchObject({ isOn: true, isOwned: true, isUndecided: false });
  expect(ownership(largeStack({ mode: 'Disabled' }))).toMatchObject({ isOn: false, isOwned: true });
});

it('keeps what it uses, and its settings', () => {
  const component = {
    name: 'prom',
    type: 'Prometheus',
    state: 'Ready',
    reason: 'Answering',
    message: '',
    since: '',
    uses: USED,
  };
  const stack = largeStack(
    { mode: 'Auto', prometheus: { retention: '2h' } },
    { components: [component], inventory: [] },
  );
  expect(ownership(stack)).toMatchObject({
    used: { workload: USED, component: { mode: 'Auto', prometheus: { retention: '2h' } } },
  });
});
