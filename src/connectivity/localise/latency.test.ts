import { expect, it } from 'vitest';
import { localise } from './localise.ts';
import { FAMILIES } from './pairs/quality.ts';
import { seeded } from './testing/random.ts';
import { clusterOf, type SimCluster, type SimFault } from './testing/simCluster.ts';
import { simulate } from './testing/simulate.ts';
import type { ClusterView } from './view.ts';

const SLOW: SimFault = { at: 'node', node: 'node2', does: { delayMs: 1_000 } };

function view(size: number, faults: readonly SimFault[], changes: Partial<SimCluster> = {}): ClusterView {
  return simulate(clusterOf(size, 1, changes), faults, seeded(1));
}

/** Only node1 reports. */
function ofOneNode(all: ClusterView): ClusterView {
  const nothing = { state: 'Silent', peers: [], targets: [], heard: [] } as const;
  return { ...all, agents: all.agents.map((agent) => (agent.node === 'node1' ? agent : { ...agent, ...nothing })) };
}

it.each<[string, ClusterView, string]>([
  [
    'although a peer refuses probes, which says nothing about speed',
    view(5, [SLOW, { at: 'agent', node: 'node1', plane: 'Host' }]),
    'node2',
  ],
  [
    'although a peer loses packets: those that arrive are late',
    view(3, [SLOW, { at: 'node', node: 'node3', does: { loss: 0.4 } }]),
    'node2',
  ],
  [
    'although a peer has lost an address family: over the other, packets are late',
    view(3, [SLOW, { at: 'node', node: 'node3', does: 'cut', families: ['IPv6'] }], { families: FAMILIES }),
    'node2',
  ],
  [
    'over one family, although some peers have lost this family: the other is not slow',
    view(
      10,
      [
        { ...SLOW, families: ['IPv6'] },
        ...['node3', 'node4'].map((node): SimFault => ({ at: 'node', node, does: 'cut', families: ['IPv6'] })),
      ],
      { families: FAMILIES },
    ),
    'node2',
  ],
  ['by one pair whose other end also has a pair that is not slow', ofOneNode(view(4, [SLOW])), 'node2'],
  ['with its peer, by one pair that is the only one', view(2, [SLOW]), 'node1 <-> node2'],
])('a slow node is named %s', (_, all, subject) => {
  const found = localise(all).findings.filter(({ class: one }) => one === 'Latency');
  expect(found.map(({ subjects }) => subjects)).toEqual([[subject]]);
});

it('a node that loses packets, which are also late, has no second finding', () => {
  const both = view(6, [SLOW, { at: 'node', node: 'node2', does: { loss: 0.4 } }]);
  expect(localise(both).findings.map(({ class: one, subjects }) => `${one} ${subjects.join()}`)).toEqual([
    'Node node2',
  ]);
});
