import type { V1NodeSelectorRequirement, V1NodeSelectorTerm } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { trimNode } from './cachedNode.ts';
import { createPlacementMatcher, type Placement } from './nodeAffinity.ts';
import { realNodes } from './virtualNodes.ts';

const labels = { pool: 'web', cores: '8', 'kubernetes.io/hostname': 'host1', 'web.traffic.example.com/unfit': 'true' };
const NODE = trimNode('mine')({ metadata: { name: 'n1', labels } });

const affinity = (...nodeSelectorTerms: V1NodeSelectorTerm[]): Placement => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const needs = (key: string, operator: string, ...values: string[]): V1NodeSelectorRequirement => ({
  key,
  operator,
  ...(values.length > 0 && { values }),
});
const label = (...of: Parameters<typeof needs>): Placement => affinity({ matchExpressions: [needs(...of)] });

it.each<[Placement, boolean]>([
  [{}, true],
  [{ nodeSelector: { pool: 'web' } }, true],
  [{ nodeSelector: { pool: 'web', zone: 'a' } }, false],
  [{ nodeSelector: { 'kubernetes.io/hostname': 'host1' } }, true],
  [{ nodeSelector: { 'web.traffic.example.com/unfit': 'true' } }, true],
  [{ ...label('pool', 'In', 'web'), nodeSelector: { pool: 'db' } }, false],
  [label('pool', 'In', 'db', 'web'), true],
  [label('pool', 'In', 'db'), false],
  [label('zone', 'In', 'a'), false],
  [label('pool', 'NotIn', 'web'), false],
  [label('pool', 'NotIn', 'db'), true],
  [label('zone', 'NotIn', 'a'), true],
  [label('pool', 'Exists'), true],
  [label('zone', 'Exists'), false],
  [label('pool', 'DoesNotExist'), false],
  [label('zone', 'DoesNotExist'), true],
  [label('cores', 'Gt', '7'), true],
  [label('cores', 'Gt', '8'), false],
  [label('cores', 'Lt', '9'), true],
  [label('cores', 'Lt', '8'), false],
  [label('pool', 'Gt', '1'), false],
  [label('zone', 'Lt', '1'), false],
  [label('pool', 'Like', 'web'), false],
  [affinity({ matchExpressions: [needs('pool', 'In', 'web'), needs('zone', 'Exists')] }), false],
  [affinity({ matchExpressions: [needs('zone', 'Exists')] }, { matchExpressions: [needs('pool', 'Exists')] }), true],
  [affinity({ matchFields: [needs('metadata.name', 'In', 'n1')] }), true],
  [affinity({ matchFields: [needs('metadata.name', 'NotIn', 'n1')] }), false],
  [affinity({}), false],
  [affinity({}, { matchExpressions: [needs('pool', 'Exists')] }), true],
])('pods with %j run on the node: %s, also with what DaemonSets require besides', (placement, runs) => {
  expect(createPlacementMatcher(placement)(NODE)).toBe(runs);
  const both = { ...placement, affinity: realNodes(placement.affinity) };
  expect(createPlacementMatcher(both)(NODE)).toBe(runs);
  const virtual = trimNode('mine')({ metadata: { name: 'n1', labels: { ...labels, type: 'kwok' } } });
  expect(createPlacementMatcher(both)(virtual)).toBe(false);
});
