import { expect, it } from 'vitest';
import type { TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { keepersOf } from '../../contract/keepers.ts';
import { allComponents } from '../components/components.ts';
import { defaultMeasurementOptions } from '../options.ts';
import { deployedByFlags, KEPT_TYPES } from './keepers.ts';
import { unkeptProblems } from './unkept.ts';

const OPTIONS = defaultMeasurementOptions('op');
const BY_FLAGS = deployedByFlags(OPTIONS);
const stack = (type: 'NodeExporter' | 'Prometheus'): TrafficStack => ({
  metadata: { name: 'main' },
  spec: { components: [{ name: 'x', type }] },
});

it.each<[string, TrafficStack[], boolean, string[]]>([
  ['no stack has them', [], true, ['the type NodeExporter', 'the type Prometheus']],
  ['a stack has one of them', [stack('NodeExporter')], true, ['the type Prometheus']],
  ['a stack has each', [stack('NodeExporter'), stack('Prometheus')], true, []],
  ['nothing exists', [], false, []],
])('objects that nobody keeps are a problem: %s', (_why, stacks, exists, objects) => {
  const keepers = keepersOf(KEPT_TYPES, stacks, allComponents(OPTIONS), BY_FLAGS);
  expect(unkeptProblems(keepers, BY_FLAGS, () => exists).map(({ object }) => object)).toEqual(objects);
});
