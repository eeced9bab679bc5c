import type { V1NodeSelectorTerm } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { trimNode } from '../../../nodes/cachedNode.ts';
import { createPlacementMatcher } from '../../../nodes/nodeAffinity.ts';
import { defaultMeasurementOptions, type ExporterOptions } from '../options.ts';
import { deployedPlacement } from './exporter.ts';

const DEFAULTS = defaultMeasurementOptions('op');

/** Whether the deployed node-exporter runs on a node with these labels. */
function runsOn(labels: Record<string, string>, change: Partial<ExporterOptions> = {}): boolean | undefined {
  const options = { ...DEFAULTS, exporter: { ...DEFAULTS.exporter, ...change } };
  const placement = deployedPlacement(({ object }) => object, options);
  const node = trimNode('mine')({ metadata: { name: 'n1', labels } });
  return placement && createPlacementMatcher(placement)(node);
}

const affinity = (...nodeSelectorTerms: V1NodeSelectorTerm[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const notEdge = { matchExpressions: [{ key: 'edge', operator: 'DoesNotExist' }] };
const zoneA = { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] };

it.each<[why: string, labels: Record<string, string>, Partial<ExporterOptions>, runs: boolean]>([
  ['by default', { 'kubernetes.io/os': 'linux' }, {}, true],
  ['a node does not say which system it runs', {}, {}, true],
  ['a node is virtual', { type: 'kwok' }, {}, false],
  ['a node has the label of the selector', { pool: 'web' }, { nodeSelector: { pool: 'web' } }, true],
  ['a node lacks it', { pool: 'db' }, { nodeSelector: { pool: 'web' } }, false],
  ['the affinity leaves a node out', { edge: '' }, affinity(notEdge), false],
  ['another term of the affinity takes it', { edge: '', zone: 'a' }, affinity(notEdge, zoneA), true],
  ['the affinity takes a virtual node', { zone: 'a', type: 'kwok' }, affinity(notEdge, zoneA), false],
])('node-exporter runs there if %s, %j %j: %s', (_why, labels, change, runs) => {
  expect(runsOn(labels, change)).toBe(runs);
});

it('is not known before the DaemonSet is read', () => {
  expect(deployedPlacement(() => undefined, DEFAULTS)).toBeUndefined();
});
