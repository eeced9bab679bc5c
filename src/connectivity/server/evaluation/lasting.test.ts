import { expect, it } from 'vitest';
import { finished } from '../../localise/steps.ts';
import { localise } from '../../localise/localise.ts';
import { seeded } from '../../localise/testing/random.ts';
import { clusterOf } from '../../localise/testing/simCluster.ts';
import { simulate } from '../../localise/testing/simulate.ts';
import type { ClusterView, NodeView } from '../../localise/view.ts';
import { lastingFindings } from './lasting.ts';

const CLUSTER = clusterOf(5);

/** node3 is cut off, and left out. */
function viewWith(excluded: NodeView['excluded']): ClusterView {
  const nodes = CLUSTER.nodes.map((node) =>
    node.name === 'node3' && excluded !== undefined ? { ...node, excluded } : node,
  );
  return { ...simulate(CLUSTER, [{ at: 'node', node: 'node3', does: 'cut' }], seeded(7)), nodes };
}

it('has the finding of a node that is cut off, after its kubelet became silent by that', () => {
  const view = viewWith('Unreachable');
  expect(localise(view).findings).toEqual([]);
  const findings = finished(lastingFindings(view))?.map(({ class: one, subjects }) => `${one} ${subjects.join()}`);
  expect(findings).toEqual(['Node node3']);
});

it.each(['NotReady', 'Cordoned', 'Joining', 'Leaving', undefined] as const)(
  'is the same as the findings with a node that is left out as %s',
  (excluded) => {
    expect(finished(lastingFindings(viewWith(excluded)))).toBeUndefined();
  },
);

it('leaves out nodes for another reason also if another node has a silent kubelet', () => {
  const view = viewWith('NotReady');
  const nodes = view.nodes.map((node) =>
    node.name === 'node5' ? { ...node, excluded: 'Unreachable' as const } : node,
  );
  expect(finished(lastingFindings({ ...view, nodes }))).toEqual([]);
});
