import type { V1Pod } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import type { NodeAddresses } from '../../../nodes/nodeAddress.ts';
import { mergeTargets, targetsOfNodes, targetsOfPods } from './discovery.ts';

const pod = (nodeName: string, hostIP: string | undefined, ready = true, over: V1Pod['metadata'] = {}): V1Pod => ({
  metadata: over,
  spec: { nodeName, containers: [] },
  status: {
    ...(hostIP !== undefined && { hostIP }),
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  },
});
const ending = { deletionTimestamp: new Date(0) };

it.each<[string, V1Pod[], string[]]>([
  [
    'one for each node, by the address of the node',
    [pod('b', '10.0.0.2'), pod('a', '10.0.0.1')],
    ['a 10.0.0.1:9100', 'b 10.0.0.2:9100'],
  ],
  ['IPv6 in brackets', [pod('a', 'fd00::1')], ['a [fd00::1]:9100']],
  ['one that is not ready is one, so that it is seen to be down', [pod('a', '10.0.0.1', false)], ['a 10.0.0.1:9100']],
  ['a ready one before one that is not', [pod('a', '10.0.0.1', false), pod('a', '10.0.0.9')], ['a 10.0.0.9:9100']],
  [
    'one that stays before one that goes',
    [pod('a', '10.0.0.1', true, ending), pod('a', '10.0.0.9', false)],
    ['a 10.0.0.9:9100'],
  ],
  ['none without an address or a node', [pod('a', undefined), pod('', '10.0.0.1')], []],
])('the targets of pods: %s', (_, pods, wanted) => {
  expect(targetsOfPods(pods, 9100).map(({ node, address }) => `${node} ${address}`)).toEqual(wanted);
});

it('the targets of nodes: all that can be measured and have an IP address', () => {
  const nodes: NodeAddresses[] = [
    { name: 'b', addresses: ['b', 'b.example.com', 'fd00::2'] },
    { name: 'a', addresses: ['a', '10.0.0.1', '198.51.100.1'] },
    { name: 'c', addresses: ['c'] },
    { name: 'w', addresses: ['10.0.0.9'], neverMeasured: { reason: 'NotMeasurable', message: '' } },
  ];
  expect(targetsOfNodes(nodes, 9100)).toEqual([
    { node: 'a', address: '10.0.0.1:9100' },
    { node: 'b', address: '[fd00::2]:9100' },
  ]);
});

it('a node has one target, and all are sorted', () => {
  const used = [{ node: 'b', address: 'used' }];
  const own = [
    { node: 'a', address: 'own' },
    { node: 'b', address: 'own' },
    { node: 'c', address: 'own' },
  ];
  expect(mergeTargets(used, own).map(({ node, address }) => `${node} ${address}`)).toEqual([
    'a own',
    'b used',
    'c own',
  ]);
});
