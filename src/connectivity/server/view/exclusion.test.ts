import { expect, it } from 'vitest';
import { toClusterNode } from './clusterNode.ts';
import { shownExclusion } from './exclusion.ts';

it.each([
  ['True', undefined],
  ['False', 'NotReady'],
  // The kubelet is silent: that may be the fault of the network, so that a finding of the node stays.
  ['Unknown', 'Unreachable'],
  [undefined, 'NotReady'],
])('a node whose condition Ready is %s is left out as %s', (status, exclusion) => {
  const conditions = status === undefined ? [] : [{ type: 'Ready', status }];
  expect(shownExclusion(toClusterNode({ metadata: { name: 'n1' }, status: { conditions } }))).toBe(exclusion);
});
