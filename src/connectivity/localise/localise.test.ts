import { describe, expect, it } from 'vitest';
import { localise } from './localise.ts';
import { seeded } from './testing/random.ts';
import { clusterOf, type SimCluster, type SimFault } from './testing/simCluster.ts';
import { simulate } from './testing/simulate.ts';

function found(cluster: SimCluster, ...faults: SimFault[]): string[] {
  return localise(simulate(cluster, faults, seeded(7))).findings.map(
    ({ class: findingClass, subjects, severity }) => `${findingClass} ${subjects.join()} ${severity}`,
  );
}

const THREE = clusterOf(3);
const TWENTY = clusterOf(20, 3);

/** Each row: why, the cluster, the faults, the findings. */
const ROWS: readonly (readonly [string, SimCluster, readonly SimFault[], readonly string[]])[] = [
  ['a healthy cluster has no finding', TWENTY, [], []],
  [
    'one plane of one node is cut',
    THREE,
    [{ at: 'node', node: 'node2', planes: ['Pod'], does: 'cut' }],
    ['PodNetwork node2 Failed'],
  ],
  [
    'the other plane is cut',
    THREE,
    [{ at: 'node', node: 'node2', planes: ['Host'], does: 'cut' }],
    ['HostNetwork node2 Failed'],
  ],
  ['both planes are cut', THREE, [{ at: 'node', node: 'node2', does: 'cut' }], ['Node node2 Failed']],
  [
    "the server's node is cut: all others are silent",
    THREE,
    [{ at: 'node', node: 'node1', planes: ['Pod'], does: 'cut' }],
    ['PodNetwork node1 Failed'],
  ],
  [
    "the server's node is cut, in a larger cluster",
    TWENTY,
    [{ at: 'node', node: 'node1', does: 'cut' }],
    ['Node node1 Failed'],
  ],
  [
    'one direction of one link is cut',
    THREE,
    [{ at: 'link', from: 'node2', to: 'node3', oneWay: true, does: 'cut' }],
    ['Link node2 -> node3 Failed'],
  ],
  [
    'the other direction',
    THREE,
    [{ at: 'link', from: 'node3', to: 'node2', oneWay: true, does: 'cut' }],
    ['Link node3 -> node2 Failed'],
  ],
  [
    'both directions of a link are cut',
    THREE,
    [{ at: 'link', from: 'node2', to: 'node3', does: 'cut' }],
    ['Link node2 <-> node3 Failed'],
  ],
  [
    'large packets vanish',
    THREE,
    [{ at: 'node', node: 'node3', planes: ['Pod'], does: { above: 1400 } }],
    ['MTU node3 Degraded'],
  ],
  [
    'large packets vanish, and reports with them',
    { ...THREE, largeReports: true },
    [{ at: 'node', node: 'node3', does: { above: 1400 } }],
    ['MTU node3 Degraded'],
  ],
  [
    'large packets vanish everywhere',
    TWENTY,
    [{ at: 'cluster', planes: ['Pod'], does: { above: 1400 } }],
    ['MTU cluster Degraded'],
  ],
  [
    'large packets vanish on a link',
    TWENTY,
    [{ at: 'link', from: 'node2', to: 'node3', does: { above: 1400 } }],
    ['MTU node2 <-> node3 Degraded'],
  ],
  ...[clusterOf(3), clusterOf(6), TWENTY, clusterOf(60, 3)].flatMap((cluster) =>
    [1280, 1400, 9000].map(
      (mtu) =>
        [
          `the interface of one of ${cluster.nodes.length} nodes has an MTU of ${mtu} bytes`,
          cluster,
          [{ at: 'interface', node: 'node2', mtu }],
          ['MTU node2 Degraded'],
        ] as const,
    ),
  ),
  [
    'the interfaces of some nodes have another MTU: their number does not hide it',
    clusterOf(11),
    [
      { at: 'interface', node: 'node2', mtu: 1400 },
      { at: 'interface', node: 'node3', mtu: 1400 },
      { at: 'interface', node: 'node4', mtu: 1400 },
      { at: 'interface', node: 'node5', mtu: 9000 },
      { at: 'interface', node: 'node6', mtu: 9000 },
    ],
    ['node2', 'node3', 'node4', 'node5', 'node6'].map((node) => `MTU ${node} Degraded`),
  ],
  [
    'the same on one network, where one of the other two nodes is cut: the other network of the node shows it',
    THREE,
    [
      { at: 'interface', node: 'node3', mtu: 1400 },
      { at: 'node', node: 'node2', planes: ['Host'], does: 'cut' },
    ],
    ['HostNetwork node2 Failed', 'MTU node3 Degraded'],
  ],
  [
    'the interface of a node has another MTU, which one pair shows: all agents report their MTU',
    clusterOf(4, 1, { serverNode: 'node2' }),
    [
      { at: 'interface', node: 'node1', mtu: 1400 },
      { at: 'link', from: 'node1', to: 'node3', does: 'cut' },
      { at: 'link', from: 'node1', to: 'node4', does: 'cut' },
    ],
    ['Link node1 <-> node3 Failed', 'Link node1 <-> node4 Failed', 'MTU node1 Degraded'],
  ],
  [
    'the interfaces of all nodes of a zone have another MTU',
    clusterOf(9, 3),
    ['node2', 'node5', 'node8'].map((node): SimFault => ({ at: 'interface', node, mtu: 1400 })),
    ['MTU zone2 Degraded'],
  ],
  [
    'the same, larger',
    clusterOf(9, 3),
    ['node2', 'node5', 'node8'].map((node): SimFault => ({ at: 'interface', node, mtu: 9000 })),
    ['MTU zone2 Degraded'],
  ],
  [
    'the interfaces of two nodes differ, and nothing says which is wrong',
    clusterOf(2),
    [{ at: 'interface', node: 'node2', mtu: 1400 }],
    ['MTU node1 -> node2 Degraded'],
  ],
  [
    'large packets vanish at a node, and another node does not send any: its interface has a smaller MTU',
    clusterOf(5),
    [
      { at: 'node', node: 'node2', does: { above: 1400 } },
      { at: 'interface', node: 'node4', mtu: 1400 },
    ],
    ['MTU node2 Degraded', 'MTU node4 Degraded'],
  ],
  [
    'large packets vanish on most links of a node, but pass on another link',
    clusterOf(4),
    [
      { at: 'link', from: 'node2', to: 'node3', does: { above: 1400 } },
      { at: 'link', from: 'node2', to: 'node4', does: { above: 1400 } },
    ],
    ['MTU node2 <-> node3 Degraded', 'MTU node2 <-> node4 Degraded'],
  ],
  ...(['In', 'Out'] as const).flatMap((way) =>
    (
      [
        [{ above: 1400 }, ['MTU node2 Degraded']],
        [{ loss: 0.3 }, ['PodNetwork node2 Degraded']],
        ['cut', ['PodNetwork node2 Failed']],
        [{ delayMs: 50 }, []],
        [{ delayMs: 1_000 }, ['Latency node2 Degraded']],
      ] as const
    ).map(([does, findings]) => {
      const fault = { at: 'node', node: 'node2', planes: ['Pod'], way, does } as const;
      return [`${JSON.stringify(does)} of a node, ${way} only`, TWENTY, [fault], findings] as const;
    }),
  ),
  [
    '30 % loss',
    THREE,
    [{ at: 'node', node: 'node2', planes: ['Pod'], does: { loss: 0.3 } }],
    ['PodNetwork node2 Degraded'],
  ],
  [
    '30 % loss that datagrams cross once',
    THREE,
    [{ at: 'node', node: 'node2', planes: ['Pod'], does: { loss: 0.16 } }],
    ['PodNetwork node2 Degraded'],
  ],
  [
    'a lossy link',
    TWENTY,
    [{ at: 'link', from: 'node2', to: 'node3', planes: ['Host'], does: { loss: 0.3 } }],
    ['Link node2 <-> node3 Degraded'],
  ],
  ['a zone is cut', clusterOf(9, 3), [{ at: 'zone', zone: 'zone2', does: 'cut' }], ['Zone zone2 Failed']],
  ["the server's zone is cut", clusterOf(9, 3), [{ at: 'zone', zone: 'zone1', does: 'cut' }], ['Zone zone1 Failed']],
  [
    'two zones cannot reach each other',
    clusterOf(9, 3),
    [{ at: 'zones', zones: ['zone1', 'zone2'], does: 'cut' }],
    ['Zone zone1 <-> zone2 Failed'],
  ],
  [
    'with two zones, both are at fault',
    clusterOf(8, 2),
    [{ at: 'zone', zone: 'zone2', does: 'cut' }],
    ['Zone zone1 <-> zone2 Failed'],
  ],
  ['DNS is silent', THREE, [{ at: 'dns' }], ['DNS cluster Failed']],
  ['DNS is silent for one node', THREE, [{ at: 'dns', node: 'node2' }], ['DNS node2 Failed']],
  ['the API server is silent for one node', TWENTY, [{ at: 'apiServer', node: 'node2' }], ['APIServer node2 Failed']],
  ['an agent is killed', THREE, [{ at: 'agent', node: 'node2', plane: 'Host' }], ['Agent host-node2 Failed']],
  ['a kubelet is stopped', THREE, [{ at: 'kubelet', node: 'node2' }], ['Node node2 Failed']],
  [
    'all pairs of a plane fail',
    TWENTY,
    [{ at: 'cluster', planes: ['Host'], does: 'cut' }],
    ['HostNetwork cluster Failed'],
  ],
  [
    'large packets vanish, and the MTU of an agent that does not listen is not known',
    clusterOf(6),
    [
      { at: 'node', node: 'node5', planes: ['Host'], does: { above: 1363 } },
      { at: 'agent', node: 'node4', plane: 'Host' },
    ],
    ['Agent host-node4 Failed', 'MTU node5 Degraded'],
  ],
  [
    'most peers of a node fail, but another peer reaches it: it is the links',
    clusterOf(4),
    [
      { at: 'link', from: 'node2', to: 'node3', planes: ['Pod'], does: 'cut' },
      { at: 'link', from: 'node2', to: 'node4', planes: ['Pod'], does: 'cut' },
    ],
    ['Link node2 <-> node3 Failed', 'Link node2 <-> node4 Failed'],
  ],
  [
    'DNS is silent for the nodes that a zone fault leaves, and works for one of them',
    clusterOf(9, 3),
    [
      { at: 'zone', zone: 'zone2', does: 'cut' },
      { at: 'dns', node: 'node1' },
    ],
    ['Zone zone2 Failed', 'DNS node1 Failed'],
  ],
  [
    'DNS is silent for a node that is cut from it: the network explains it',
    clusterOf(5),
    [
      { at: 'node', node: 'node2', planes: ['Host'], does: 'cut' },
      { at: 'dns', node: 'node2' },
    ],
    ['HostNetwork node2 Failed'],
  ],
];

describe('localise', () => {
  it.each(ROWS)('%s', (_, cluster, faults, findings) => {
    expect(found(cluster, ...faults)).toEqual(findings);
  });
});
