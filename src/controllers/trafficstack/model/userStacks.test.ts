import { expect, it } from 'vitest';
import type { ComponentType } from '../../../api/trafficstack/terms.ts';
import type { ComponentSpec, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { userStackProblem } from './allowed.ts';

const OWN: ReadonlySet<ComponentType> = new Set(['NodeExporter', 'Prometheus']);
const stack = (name: string, ...components: ComponentSpec[]): TrafficStack => ({
  ...{ metadata: { name }, spec: { components } },
});
const exporter: ComponentSpec = { name: 'exporter', type: 'NodeExporter' };
const web: ComponentSpec = { name: 'web', type: 'Workload' };

it.each<[string, TrafficStack, RegExp | undefined]>([
  ['the stack default with what the operator deploys', stack('default', exporter), undefined],
  [
    'the same with a component of a user',
    stack('default', exporter, web),
    /these components need them: web \(Workload\)\. Remove them, or set stacks\.enabled/,
  ],
  ['the same, which is Disabled', stack('default', exporter, { ...web, mode: 'Disabled' }), undefined],
  [
    'the stack default with a type that the operator has no rights for by name',
    stack('default', { name: 'dash', type: 'Dashboards' }),
    /dash \(Dashboards\)/,
  ],
  [
    'a stack of a user, also with what the operator deploys',
    stack('main', exporter),
    /^Stacks of users are off: set stacks\.enabled of the chart \(--stacks\)$/,
  ],
  ['a stack without a spec', { metadata: { name: 'main' } } as TrafficStack, /^Stacks of users are off/],
])('while the stacks of users are off: %s', (_, found, message) => {
  const problem = userStackProblem(found, OWN);
  if (message === undefined) expect(problem).toBeUndefined();
  else expect(problem).toMatchObject({ reason: 'StacksNotEnabled', message: expect.stringMatching(message) as string });
});
