import { expect, it } from 'vitest';
import type { ComponentSpec } from '../../api/trafficstack/trafficStack.ts';
import { TRAFFIC_WEIGHTS } from '../../api/trafficweight/trafficWeight.ts';
import { builtInsOf } from './module.ts';

const WEIGHTS = { clusterName: 'cluster-a', backend: { static: { weight: 75 } } };
const COMPONENT: ComponentSpec = { name: 'dns', type: 'Weights', weights: WEIGHTS };
const rendered = (over: Partial<ComponentSpec> = {}) =>
  builtInsOf(true).map((each) => each.render({ ...COMPONENT, ...over }));
const HEAD = { apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficWeight', metadata: { name: 'dns' } };

it('a TrafficWeight has the name of its component, and the spec of the stack', () => {
  expect(rendered()).toEqual([[{ resource: TRAFFIC_WEIGHTS, object: { ...HEAD, spec: WEIGHTS } }]]);
});

it('of one that another owner has made, only the name is known', () => {
  expect(rendered({ mode: 'External' })).toEqual([[{ resource: TRAFFIC_WEIGHTS, object: HEAD }]]);
});

it.each([
  [true, undefined],
  [false, 'DNS weights are switched off; set weights.enabled=true in the chart (flag --weights)'],
])('is in no stack of its own; with --weights=%s, the problem is %s', (isEnabled, problem) => {
  // Without a field manager: what exists is not adopted.
  expect(builtInsOf(isEnabled)).toEqual([
    { type: 'Weights', isDeployed: false, problem, render: expect.any(Function) as unknown },
  ]);
});
