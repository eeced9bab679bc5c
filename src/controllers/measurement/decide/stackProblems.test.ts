import { expect, it } from 'vitest';
import type { ComponentStatus, TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { stackProblems } from '../model/stackGroups.ts';

const status = (over: Partial<ComponentStatus>): ComponentStatus => ({
  ...{
    name: 'node-exporter',
    type: 'NodeExporter',
    state: 'Failed',
    reason: 'ForeignObject',
    message: 'why',
    since: '',
  },
  ...over,
});
const stack = (...components: ComponentStatus[]): TrafficStack => ({
  ...{ metadata: { name: 'default' }, spec: { components: [] }, status: { components } },
});

it.each<[string, Partial<ComponentStatus>, string[]]>([
  ['one that has failed', {}, ['ForeignObject']],
  ['one whose objects cannot be written', { state: 'Progressing', reason: 'WriteFailed' }, ['WriteFailed']],
  ['not one that starts', { state: 'Progressing', reason: 'PodsNotAvailable' }, []],
  ['not one of another type', { type: 'Workload' }, []],
])('names what no node is measured without: %s', (_, over, reasons) => {
  expect(stackProblems([stack(status(over))]).map(({ reason }) => reason)).toEqual(reasons);
});

it('names stack and component, with the message of the component', () => {
  expect(stackProblems([stack(status({}))])).toEqual([
    {
      ...{ reason: 'ForeignObject', object: 'TrafficStack default' },
      message: 'component node-exporter of TrafficStack default: why',
    },
  ]);
});
