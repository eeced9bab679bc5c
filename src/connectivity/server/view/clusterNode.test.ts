import type { V1Node } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { exclusionOf, hasAgents, shownExclusion, toClusterNode, type ClusterNode } from './clusterNode.ts';

const NOW = Date.UTC(2026, 0, 2);
const INTERVAL_MS = 15_000;
const SETTLING_MS = 2 * INTERVAL_MS;
const ago = (seconds: number): Date => new Date(NOW - seconds * 1_000);
const ready = (seconds: number) => [{ type: 'Ready', status: 'True', lastTransitionTime: ago(seconds) }];

/** A node that was created and Ready a day ago, with a change. */
function node({ metadata, spec, status }: V1Node): V1Node {
  return {
    metadata: { name: 'n1', creationTimestamp: ago(86_400), ...metadata },
    ...(spec && { spec }),
    status: { conditions: ready(86_400), ...status },
  };
}

/** @param endedSeconds since a cause of an exclusion ended */
function exclusion(of: V1Node, endedSeconds?: number): string | undefined {
  const endedMs = (): number | undefined => (endedSeconds === undefined ? undefined : endedSeconds * 1_000);
  const joinedMs = ({ createdAt, readySince = 0 }: ClusterNode): number => NOW - Math.max(createdAt, readySince);
  return exclusionOf(toClusterNode(node(of)), { joinedMs, settlingMs: SETTLING_MS, endedMs });
}

it.each([
  ['True', undefined],
  ['False', 'NotReady'],
  // The kubelet is silent: that may be the fault of the network, so that a finding of the node stays.
  ['Unknown', 'Unreachable'],
  [undefined, 'NotReady'],
])('a node whose condition Ready is %s is left out as %s', (status, wanted) => {
  const conditions = status === undefined ? [] : [{ type: 'Ready', status }];
  expect(shownExclusion(toClusterNode({ metadata: { name: 'n1' }, status: { conditions } }))).toBe(wanted);
});

describe('a node', () => {
  it.each<[why: string, V1Node, wanted: string | undefined]>([
    ['that is in use is not left out', {}, undefined],
    ['that is cordoned is left out', { spec: { unschedulable: true } }, 'Cordoned'],
    ['that is being deleted is Leaving', { metadata: { deletionTimestamp: ago(1) } }, 'Leaving'],
    ...['ToBeDeletedByClusterAutoscaler', 'node.kubernetes.io/out-of-service'].map((key): [string, V1Node, string] => [
      `with the taint ${key} is Leaving`,
      { spec: { taints: [{ key, effect: 'NoSchedule' }] } },
      'Leaving',
    ]),
    ['with a taint of a user is not left out', { spec: { taints: [{ key: 'a', effect: 'NoExecute' }] } }, undefined],
    [
      'that is cordoned, not Ready and being deleted is Leaving',
      { metadata: { deletionTimestamp: ago(1) }, spec: { unschedulable: true }, status: { conditions: [] } },
      'Leaving',
    ],
    ['that was created 89 s ago is Joining', { metadata: { creationTimestamp: ago(89) } }, 'Joining'],
    ['that was created 90 s ago is not left out', { metadata: { creationTimestamp: ago(90) } }, undefined],
    ['that is Ready for 89 s is Joining', { status: { conditions: ready(89) } }, 'Joining'],
    ['that is Ready for 90 s is not left out', { status: { conditions: ready(90) } }, undefined],
  ])('%s', (_why, change, wanted) => expect(exclusion(change)).toBe(wanted));

  it.each([
    [29, 'Joining'],
    [30, undefined],
  ])('whose exclusion ended %i s ago is left out as %s: two intervals', (seconds, wanted) => {
    expect(exclusion({}, seconds)).toBe(wanted);
  });
});

it.each<[Partial<V1Node>, boolean]>([
  [{ metadata: { labels: { 'kubernetes.io/os': 'linux' } } }, true],
  [{ metadata: {} }, true],
  [{ metadata: { labels: { 'kubernetes.io/os': 'windows' } } }, false],
  [{ metadata: { labels: { 'eks.amazonaws.com/compute-type': 'fargate' } } }, false],
  [{ metadata: { annotations: { 'kwok.x-k8s.io/node': 'fake' } } }, false],
  [{ spec: { taints: [{ key: 'virtual-kubelet.io/provider', effect: 'NoSchedule' }] } }, false],
])('a node with %j has agents: %s', (change, has) => {
  expect(hasAgents(toClusterNode(node(change)))).toBe(has);
});
