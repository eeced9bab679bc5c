import { expect, it } from 'vitest';
import type { ComponentSpec } from '../../../api/trafficstack/trafficStack.ts';
import type { BuiltIn } from '../../contract/builtIn.ts';
import { stackOf } from '../testing/stacks.ts';
import { typesOfFlags, ignoredFlags } from './defaultStack.ts';

const prometheus = (isDeployed = true): BuiltIn => ({
  ...{ type: 'Prometheus', isDeployed, render: () => [] },
  settings: { prometheus: { retention: '30d', storage: { size: '10Gi' }, resources: { limits: { memory: '1Gi' } } } },
});
const exporter: BuiltIn = {
  ...{ type: 'NodeExporter', isDeployed: true, render: () => [], settings: { nodeExporter: { port: 9100 } } },
};
const RULES: BuiltIn = { type: 'Rules', isDeployed: false, render: () => [] };
const NODE_EXPORTER: ComponentSpec = { name: 'e', type: 'NodeExporter' };
const withPrometheus = (over: Partial<ComponentSpec> = {}): ComponentSpec[] => [
  NODE_EXPORTER,
  { name: 'p', type: 'Prometheus', ...over },
];
const OFF = prometheus(false);

it.each<[string, readonly BuiltIn[], readonly ComponentSpec[], string[]]>([
  ['settings that it does not have', [exporter, prometheus()], withPrometheus(), []],
  [
    'settings that are the same',
    [exporter, prometheus()],
    withPrometheus({ deadline: '1m', prometheus: { retention: '30d', nodeSelector: { pool: 'infra' } } }),
    [],
  ],
  [
    'settings that are others',
    [exporter, prometheus()],
    withPrometheus({ prometheus: { retention: '15d', storage: {}, resources: { limits: { memory: '1Gi' } } } }),
    ['prometheus.retention is "15d", not "30d"', 'prometheus.storage is {}, not {"size":"10Gi"}'],
  ],
  ['not what it lacks: the flags deploy that', [exporter, prometheus()], [NODE_EXPORTER], []],
  ['what is Disabled', [exporter, prometheus()], withPrometheus({ mode: 'Disabled' }), ['Prometheus is Disabled']],
  ['what it has besides', [exporter, OFF, RULES], withPrometheus(), ['Prometheus is a component']],
  ['not what is Disabled besides', [exporter, OFF], withPrometheus({ mode: 'Disabled' }), []],
  ['not what the flags never deploy', [exporter, RULES], [NODE_EXPORTER, { name: 'r', type: 'Rules' }], []],
])('names %s', (_, builtIns, components, texts) => {
  const live = { ...stackOf(components), metadata: { name: 'default' } };
  expect(ignoredFlags(builtIns, typesOfFlags(builtIns, [live], live), live)).toEqual(texts);
});

it('does not name what another stack has', () => {
  const live = { ...stackOf([NODE_EXPORTER]), metadata: { name: 'default' } };
  const other = stackOf([{ name: 'p', type: 'Prometheus' }]);
  const builtIns = [exporter, prometheus()];
  expect(ignoredFlags(builtIns, typesOfFlags(builtIns, [live, other], live), live)).toEqual([]);
});
