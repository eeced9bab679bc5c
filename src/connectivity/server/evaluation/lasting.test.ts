import { expect, it } from 'vitest';
import { localise } from '../../localise/localise.ts';
import { seeded } from '../../localise/testing/random.ts';
import { clusterOf, simulate, type SimFault } from '../../localise/testing/simulate.ts';
import type { ClusterView } from '../../localise/view.ts';
import { lastingFindings } from './lasting.ts';

const CLUSTER = clusterOf(5);

function viewOf(fault: SimFault | undefined, lossPercent: number, changes: Partial<ClusterView> = {}): ClusterView {
  const view = simulate(CLUSTER, fault === undefined ? [] : [fault], seeded(7));
  return { ...view, thresholds: { lossPercent }, ...changes };
}

const names = (findings: ReturnType<typeof lastingFindings>) =>
  findings?.map(({ class: one, subjects }) => `${one} ${subjects.join()}`);
const lossOf = (loss: number): SimFault => ({ at: 'node', node: 'node3', planes: ['Pod'], does: { loss } });

it('is the same as the findings, and costs no second localisation, while nothing is lost', () => {
  expect(lastingFindings(viewOf(undefined, 10))).toBeUndefined();
});

it('has loss from half of the threshold on', () => {
  // 15 % in each direction are 28 % of the echoes.
  const view = viewOf(lossOf(0.15), 40);
  expect(localise(view).findings).toEqual([]);
  expect(names(lastingFindings(view))).toEqual(['PodNetwork node3']);
});

it('has no loss below half of the threshold', () => {
  expect(lastingFindings(viewOf(lossOf(0.15), 80)) ?? []).toEqual([]);
});

it.each([
  ['Unreachable', ['Node node3']],
  ['NotReady', []],
  ['Cordoned', []],
] as const)('of a node that is cut off and left out as %s: %j', (excluded, expected) => {
  const cut: SimFault = { at: 'node', node: 'node3', does: 'cut' };
  const nodes = CLUSTER.nodes.map((node) => (node.name === 'node3' ? { ...node, excluded } : node));
  const view = viewOf(cut, 10, { nodes });
  expect(localise(view).findings).toEqual([]);
  expect(names(lastingFindings(view)) ?? []).toEqual(expected);
});
